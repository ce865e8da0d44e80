"""What an acknowledged message costs on disk, how soon a big file opens, how large a token is."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
import time
from collections import deque
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import TypeAlias

from bench.turns import heading, quantile, row
from lastword.core.entries import Began, Entry, Finished, Said, Text
from lastword.core.model import Generation, Message, MessageId, Outcome, RunId
from lastword.runtime.run import Engine, Run
from lastword.runtime.runtime import Runtime
from lastword.runtime.session import Session
from lastword.runtime.ticket import Ticket
from lastword.stores.codec import encode
from lastword.stores.sqlite import SqliteStore

HERE = Path(__file__).parent.parent  # on the disk that the repository is on
PAGE = 4096
RAW = "pwrite 4 KiB, fdatasync"
MEMORY = "the same, memory store"
SENDERS = (1, 16, 256)
TURNS, TURN = 4, 0.8  # so often so many seconds of sending, and half as many of syncing
SETTLING = 0.05  # seconds, for what comes behind the outcome of a run
SESSIONS_EACH = 8  # so that nobody sends to a session that still answers
SESSIONS, MESSAGES_EACH, PIECES = 10_000, 10, 7  # 100 entries a session: 1,000,000 in all
OPENS = 15
TOKENS, STREAMS = 200, (1, 32, 256)
PACES = (50, 200)  # tokens a second
TOKEN = "word"  # noqa: S105 - four characters, as many a real one has

Took: TypeAlias = list[float]


async def main() -> None:
    with tempfile.TemporaryDirectory(prefix="bench-", suffix=".db", dir=HERE) as name:
        directory = Path(name)
        for senders in SENDERS:
            await sending(directory, senders)
        await reopening(directory)
        await tokens(directory)


async def nothing(_: Run) -> None:
    return


# sending


async def sending(directory: Path, senders: int) -> None:
    """Send for a while, sync by hand for a while, send to memory for a while, and so on."""
    raw: Took = []
    store = SqliteStore(directory / f"senders-{senders}.db")
    async with (
        Runtime(nothing, store=store, on_message="queue") as runtime,
        Runtime(nothing, on_message="queue") as forgetful,
    ):
        kept = await Crowd.of(runtime, senders)
        memory = await Crowd.of(forgetful, senders)
        synced, written = -store.transactions, 0
        for _ in range(TURNS):
            before = read_and_written()
            await kept.send(TURN)
            written += read_and_written()[1] - before[1]
            raw += by_hand(directory / "by-hand", TURN / 2)
            await memory.send(TURN / 2)
        synced += store.transactions
    heading(f"acknowledged messages, concurrent senders: {senders} ({len(kept.took):,} of them)")
    by_hands = len(raw) / sum(raw)
    beside = ((RAW, by_hands), (MEMORY, memory.rate))
    number("session.send", kept.rate, "a second", *beside)
    number(MEMORY, memory.rate, "a second")
    number(f"{RAW}, one after the other", by_hands, "a second")
    number("messages for each sync of the store", len(kept.took) / synced, "")
    number("written to files for each message", written / len(kept.took) / 1024, "KiB")
    for part in (0.5, 0.99):
        p = f"p{part * 100:.0f}"
        raws, memories = quantile(raw, part), quantile(memory.took, part)
        row(f"{p} session.send", quantile(kept.took, part), (RAW, raws), (MEMORY, memories))
        row(f"{p} {MEMORY}", memories)
        row(f"{p} {RAW}", raws)


class Crowd:
    """So many senders, each with sessions of its own."""

    def __init__(self, own: list[list[Session]]) -> None:
        self.took: Took = []
        self._own = [cycle(sessions) for sessions in own]
        self._spent = 0.0

    @classmethod
    async def of(cls, runtime: Runtime, senders: int) -> Crowd:
        sessions = [runtime.session(f"s{n}") for n in range(senders * SESSIONS_EACH)]
        tickets = await asyncio.gather(*(session.send("hello") for session in sessions))
        await asyncio.gather(*(ticket.outcome() for ticket in tickets))
        return cls([sessions[n::senders] for n in range(senders)])

    @property
    def rate(self) -> float:
        return len(self.took) / self._spent

    async def send(self, spend: float) -> None:
        """For so many seconds; then wait until all of it has been answered."""
        began = time.perf_counter()
        until = began + spend
        last = await asyncio.gather(*(send(mine, until, self.took) for mine in self._own))
        self._spent += time.perf_counter() - began
        await asyncio.gather(*(ticket.outcome() for tickets in last for ticket in tickets))
        await asyncio.sleep(SETTLING)


async def send(sessions: Iterator[Session], until: float, took: Took) -> deque[Ticket]:
    """Send one after the other; the tickets of those that may not have been answered yet."""
    last: deque[Ticket] = deque(maxlen=SESSIONS_EACH)
    while (began := time.perf_counter()) < until:
        last.append(await next(sessions).send("hello"))
        took.append(time.perf_counter() - began)
    return last


def by_hand(path: Path, spend: float) -> Took:
    """What the disk can do: over a file that is there already, so that only data is synced."""
    took: Took = []
    content = os.urandom(PAGE)
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        os.posix_fallocate(file, 0, 1024 * PAGE)
        os.fsync(file)
        until = time.perf_counter() + spend
        while (began := time.perf_counter()) < until:
            os.pwrite(file, content, len(took) % 1024 * PAGE)
            os.fdatasync(file)
            took.append(time.perf_counter() - began)
    finally:
        os.close(file)
    return took


# reopening


async def reopening(directory: Path) -> None:
    """A file with everything in it beside one with nothing in it, in turns."""
    empty, full = directory / "empty.db", directory / "full.db"
    for path in (empty, full):
        async with opened(path):
            pass
    began = time.perf_counter()
    fill(full)
    size = size_of(full)
    entries = SESSIONS * MESSAGES_EACH * (3 + PIECES)
    heading(
        f"opening a file with {SESSIONS:,} sessions and {entries:,} entries "
        f"({size / 1e6:.0f} MB, filled in {time.perf_counter() - began:.0f} s; {OPENS} of each)"
    )
    for what, prepare in (("", kept), ("; not in memory", forgotten)):
        took: dict[Path, Took] = {empty: [], full: []}
        read: dict[Path, int] = {}
        for _ in range(OPENS):
            for path, times in took.items():
                prepare(path)
                before = read_and_written()
                began = time.perf_counter()
                async with Runtime(nothing, store=f"sqlite:{path}"):
                    times.append(time.perf_counter() - began)
                    read[path] = read_and_written()[0] - before[0]
        beside = ("an empty file", quantile(took[empty], 0.5))
        row(f"p50 runtime opened: an empty file{what}", quantile(took[empty], 0.5))
        row(f"p50 runtime opened: the full file{what}", quantile(took[full], 0.5), beside)
        row(f"worst runtime opened: the full file{what}", quantile(took[full], 1.0))
        for path, name in ((empty, "an empty file"), (full, "the full file")):
            number(f"read of {name}{what}", read[path] / 1024, "KiB")
    async with Runtime(nothing, store=f"sqlite:{full}") as runtime:
        began = time.perf_counter()
        await runtime.session(f"s{SESSIONS // 2}").send("hello")
        row("the first message to a session in it", time.perf_counter() - began)


@asynccontextmanager
async def opened(path: Path) -> AsyncGenerator[SqliteStore]:
    store = SqliteStore(path)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def fill(path: Path, sessions: int = SESSIONS) -> None:
    """As if so many sessions had each had some turns, all of them answered."""
    one = [encode(entry) for entry in log()]
    numbered = [(number, kind, body) for number, (kind, body) in enumerate(one, 1)]
    each = len(numbered) // MESSAGES_EACH
    with by_sqlite(path) as db:
        for key in range(1, sessions + 1):
            db.execute(
                "INSERT INTO sessions (key, id, generation, serial, length, owner)"
                " VALUES (?, ?, 0, ?, ?, 0)",
                (key, f"s{key}", MESSAGES_EACH, len(numbered)),
            )
            db.executemany(
                "INSERT INTO entries (session, number, generation, kind, body)"
                " VALUES (?, ?, 0, ?, ?)",
                [(key, *rest) for rest in numbered],
            )
            db.executemany(
                "INSERT INTO messages (session, id, said, outcome) VALUES (?, ?, ?, ?)",
                [(key, f"m{n + 1}", n * each + 1, Outcome.COMPLETED) for n in range(MESSAGES_EACH)],
            )


def log() -> Iterator[Entry]:
    for n in range(1, MESSAGES_EACH + 1):
        run, message = RunId(f"s#{n}"), Message(MessageId(f"m{n}"), "What is the time?")
        yield Said(message, run)
        yield Began(run, Generation(0), (message.id,))
        for _ in range(PIECES):
            yield Text(run, TOKEN * 12)
        yield Finished(run, Outcome.COMPLETED, (message.id,), started=True)


@contextmanager
def by_sqlite(path: Path) -> Generator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = OFF")
        db.execute("BEGIN")
        yield db
        db.execute("COMMIT")


def kept(_: Path) -> None:
    """What was read before is still in memory."""


def forgotten(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)


# tokens


async def tokens(directory: Path) -> None:
    """Streams at a model's pace, stored before they are shown, and as many that say nothing."""
    for streams in STREAMS:
        many = streams * TOKENS
        silent = await Stored.of(directory / f"silent-{streams}.db", nothing, streams)
        for pace in PACES:
            raw = by_hand(directory / "by-hand", TURN / 2)
            took: Took = []
            path = directory / f"{streams}-at-{pace}.db"
            spoken = await Stored.of(path, at_pace(pace, took), streams)
            text = ("their text", len(TOKEN))
            heading(f"{many:,} tokens of {len(TOKEN)} bytes, {streams} runs, {pace} a second each")
            for part in (0.5, 0.99):
                beside = (RAW, quantile(raw, part))
                row(
                    f"p{part * 100:.0f} run.emit, stored before shown", quantile(took, part), beside
                )
            number("tokens for each sync of the store", many / spoken.synced, "")
            core = (spoken.cpu - silent.cpu) / many * 1e6
            number("of a core, for each token", core, "µs")
            number(
                "the file grew, for each token", (spoken.size - silent.size) / many, "bytes", text
            )
            number("written to files, in all, for each token", spoken.written / many, "bytes", text)


def at_pace(pace: int, took: Took) -> Engine:
    async def stream(run: Run) -> None:
        for _ in range(TOKENS):
            began = time.perf_counter()
            await run.emit(TOKEN)
            took.append(time.perf_counter() - began)
            await asyncio.sleep(1 / pace)

    return stream


@dataclass(frozen=True, slots=True)
class Stored:
    """What so many runs left in a file, and what that cost."""

    size: int  # bytes of the file in the end
    written: int  # bytes that were written to it and beside it
    synced: int  # transactions
    cpu: float  # seconds, of all threads

    @classmethod
    async def of(cls, path: Path, engine: Engine, streams: int) -> Stored:
        before, spent = read_and_written(), time.process_time()
        store = SqliteStore(path)
        async with Runtime(engine, store=store) as runtime:
            sends = (runtime.session(f"s{n}").send("go") for n in range(streams))
            tickets = await asyncio.gather(*sends)
            await asyncio.gather(*(ticket.outcome() for ticket in tickets))
        written = read_and_written()[1] - before[1]
        return cls(size_of(path), written, store.transactions, time.process_time() - spent)


def size_of(path: Path) -> int:
    return path.stat().st_size


def number(name: str, value: float, unit: str, *beside: tuple[str, float]) -> None:
    """One line of something that is not a time."""
    ratios = "   ".join(f"x{value / other:<7.3g} {what}" for what, other in beside)
    said = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    print(f"  {name:<52}{said:>10} {unit:<10} {ratios}".rstrip())


def read_and_written() -> tuple[int, int]:
    """Bytes that this process asked the kernel for, and gave it, so far."""
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    counts = dict(line.split(": ") for line in lines)
    return int(counts["rchar"]), int(counts["wchar"])
