"""Several processes over one database, and whatever can happen to them; and what must hold.

    python -m tests.crash.chaos FOLDER ROUNDS SEED

Messages and stops go to any of them at random. What was acknowledged is in the log once, and ends
once; after a receipt that says quiet nothing leaves of what it names; a log is written in order.
When something left, the kernel says: so no way out is overlooked that forgets to ask. With
*no-lease* no word heeds the lease, with *no-deadman* no process does.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

from lastword.core.entries import Began, Finished, Said
from lastword.stores.opening import open_store
from lastword.stores.postgres import PostgresStore
from tests.crash.judge import Judge, out_of_turn
from tests.database import Cluster, connect, empty, started

PROGRAM = Path(__file__).with_name("one_of_several.py")
SESSIONS = 4
PROCESSES = 3
LEASE = 1.5
Fault: TypeAlias = Callable[["Several"], Awaitable[None]]


class Cut:
    """A way to the database that can be cut: what is on it stays on it, and nobody is told."""

    def __init__(self, folder: Path, to: Path) -> None:
        self.folder = folder
        self._to = to / ".s.PGSQL.5432"
        self._open = asyncio.Event()
        self._open.set()
        self._tasks = set[asyncio.Task[None]]()

    async def listen(self) -> asyncio.Server:
        self.folder.mkdir()
        return await asyncio.start_unix_server(self._serve, self.folder / ".s.PGSQL.5432")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            there, back = await asyncio.open_unix_connection(self._to)
            await asyncio.gather(self._pass(reader, back), self._pass(there, writer))
        writer.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await reader.read(65536):
                await self._open.wait()
                writer.write(piece)
                await writer.drain()
        writer.close()

    async def for_a_while(self, seconds: float) -> None:
        self._open.clear()
        await asyncio.sleep(seconds)
        self._open.set()


class One:
    """One process, and its way to the database."""

    def __init__(self, name: str, folder: Path, database: str, to: Path, flags: list[str]) -> None:
        self.deeds = folder / name
        self.cut = Cut(folder / f"{name}.way", to)
        self._address = f"postgresql://lastword@/{database}?host={self.cut.folder}"
        self._flags = flags
        self.process: Process | None = None
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._number = 0
        self._reading: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(PROGRAM),
            self._address,
            str(self.deeds),
            str(LEASE),
            *self._flags,
            stdin=PIPE,
            stdout=PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        ready = self._answers[0] = asyncio.get_running_loop().create_future()
        self._reading = asyncio.create_task(self._read(self.process))
        await ready

    async def _read(self, process: Process) -> None:
        assert process.stdout
        while line := await process.stdout.readline():
            answer = json.loads(line)
            if waiting := self._answers.pop(answer["number"], None):
                waiting.set_result(answer)
        left, self._answers = self._answers, {}
        for waiting in left.values():
            waiting.set_result({"gone": True})

    async def ask(self, *words: str) -> dict[str, Any]:
        self._number += 1
        waiting: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[self._number] = waiting
        if self.process is None or self.process.returncode is not None or not self.process.stdin:
            return {"gone": True}
        with suppress(OSError):
            self.process.stdin.write(f"{self._number} {' '.join(words)}\n".encode())
        return await waiting

    def signal(self, number: signal.Signals) -> None:
        if self.process and self.process.returncode is None:
            self.process.send_signal(number)

    async def kill(self) -> None:
        assert self.process
        self.signal(signal.SIGKILL)
        await self.process.wait()
        if self._reading:
            await self._reading

    async def end(self) -> int:
        assert self.process
        assert self.process.stdin
        self.process.stdin.close()
        return await self.process.wait()


class Several:
    """All of them, what they were asked, and what they promised."""

    def __init__(
        self,
        database: str,
        folder: Path,
        to: Path,
        seed: object,
        flags: list[str],
        cluster: Cluster | None = None,
    ) -> None:
        self.cluster = cluster
        self.choose = random.Random(f"{seed}")
        self.judge = Judge()
        told = [f"{self.judge.port}", *flags]
        self.all = [One(f"n{n}", folder, database, to, told) for n in range(PROCESSES)]
        self.address = f"postgresql://lastword@/{database}?host={to}"
        self.accepted: dict[str, set[str]] = {}
        self.promised: list[tuple[int, str, list[str]]] = []
        self.counts = Counter[str]()
        self._turns = 0
        self._folder = folder
        self._written: dict[Path, int] = {}  # by processes, when a receipt said that they are gone

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        servers = [await one.cut.listen() for one in self.all]
        self.judge.begin()
        try:
            await asyncio.gather(*(one.start() for one in self.all))
            yield
        finally:
            for one in self.all:
                one.signal(signal.SIGCONT)
                if one.process and one.process.returncode is None:
                    await one.kill()
            for server in servers:
                server.close()
            self.judge.end()

    async def talk(self, seconds: float) -> None:
        """Somebody says something somewhere, again and again."""
        until = time.monotonic() + seconds
        tasks = list[asyncio.Task[object]]()
        while time.monotonic() < until:
            session, one = f"s{self.choose.randrange(SESSIONS)}", self.choose.choice(self.all)
            what = self.stop if self.choose.random() < 0.4 else self.send
            tasks.append(asyncio.create_task(what(one, session)))
            await asyncio.sleep(self.choose.random() * 0.1)
        await asyncio.gather(*tasks)

    async def send(self, one: One, session: str) -> None:
        self._turns += 1
        answer = await one.ask("send", session, f"m-{self._turns}")
        self.counts["sent"] += 1
        if "accepted" in answer:
            self.counts["accepted"] += 1
            self.accepted.setdefault(session, set()).add(answer["accepted"])

    async def stop(self, one: One, session: str) -> bool:
        """Whether something was stopped, and all of it is quiet."""
        answer = await one.ask("stop", session)
        given = time.clock_gettime_ns(time.CLOCK_REALTIME)  # as the kernel stamps
        self.counts["stops"] += 1
        if answer.get("quiet"):
            self.counts["receipts"] += 1
            self.promised.append((given, session, answer["runs"]))
            self._written |= {file: file.stat().st_size for file in self._lines(answer["runs"])}
        return bool(answer.get("quiet") and answer["runs"])

    def _lines(self, runs: list[str]) -> list[Path]:
        """What processes of these runs write."""
        files = (self._folder / f"{one.deeds.name}.{run}.lines" for one in self.all for run in runs)
        return [file for file in files if file.exists()]

    async def at_rest(self) -> None:
        """Everybody is there again, and every message has come to an end."""
        for one in self.all:
            one.signal(signal.SIGCONT)
        db = await connect(self.address)
        left = "SELECT count(*) FROM lastword.messages WHERE outcome IS NULL"
        while await db.fetchval(left):
            await asyncio.sleep(0.1)
        await db.close()

    async def broken(self) -> list[str]:
        """What did not hold."""
        store = open_store(self.address)
        assert isinstance(store, PostgresStore)
        await store.open()
        found = await store.check()
        for session in await store.sessions():
            log = await store.entries(session)
            said = Counter(e.message.id for e in log if isinstance(e, Said))
            began = Counter(m for e in log if isinstance(e, Began) for m in e.messages)
            ends = Counter(m for e in log if isinstance(e, Finished) for m in e.messages)
            lost = self.accepted.get(session, set()) - said.keys()
            found += [f"{session}: lost {one}" for one in lost]
            found += [f"{session}: {one} was said {n} times" for one, n in said.items() if n > 1]
            found += [f"{session}: {one} began {n} times" for one, n in began.items() if n > 1]
            found += [f"{session}: {one} ended {ends[one]} times" for one in said if ends[one] != 1]
        await store.close()
        return [*found, *self._late()]

    def _late(self) -> list[str]:
        self.judge.hear()
        deeds = self.judge.deeds
        self.counts["effects"] = len(deeds)
        self.counts["processes"] = len(self._written)
        more = {file: file.stat().st_size - then for file, then in self._written.items()}
        return [
            *(f"{file.name}: {size} bytes after a receipt" for file, size in more.items() if size),
            *self._spoke(deeds),
            *out_of_turn(deeds),
        ]

    def _spoke(self, deeds: list[tuple[int, str, str]]) -> list[str]:
        return [
            f"{session}: {run} spoke {(at - given) / 1e6:.1f} ms after a receipt"
            for given, session, runs in self.promised
            for at, whose, run in deeds
            if whose == session and run in runs and at > given
        ]


async def kill(several: Several) -> None:
    one = several.choose.choice(several.all)
    await one.kill()
    await asyncio.sleep(several.choose.random())
    await one.start()


async def pause(several: Several) -> None:
    one = several.choose.choice(several.all)
    one.signal(signal.SIGSTOP)
    await asyncio.sleep(several.choose.random() * 3 * LEASE)
    one.signal(signal.SIGCONT)


async def pause_for_long(several: Several) -> None:
    """Longer than its lease lasts, so that others have what it had."""
    one = several.choose.choice(several.all)
    one.signal(signal.SIGSTOP)
    await asyncio.sleep(2.5 * LEASE)
    one.signal(signal.SIGCONT)


async def taken_while_paused(several: Several, rest: float = 0.2) -> None:
    """Its owner is paused while it speaks, somebody else stops it, and the owner is resumed."""
    owner, other = several.choose.sample(several.all, 2)
    name = f"taken-{len(several.promised)}"
    await several.send(owner, name)
    while not any(session == name for _, session, _ in several.judge.deeds):
        await asyncio.sleep(0.01)
    owner.signal(signal.SIGSTOP)
    while not await several.stop(other, name):
        await asyncio.sleep(0.1)
    await asyncio.sleep(rest)
    owner.signal(signal.SIGCONT)
    await several.stop(owner, "nobody's")  # it has come to itself


async def cut_off(several: Several) -> None:
    one = several.choose.choice(several.all)
    await one.cut.for_a_while(several.choose.random() * 3 * LEASE)


async def terminate(several: Several) -> None:
    db = await connect(several.address)
    for _ in range(5):
        await db.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'lastword' AND random() < 0.7"
        )
        await asyncio.sleep(several.choose.random() * 0.3)
    await db.close()


async def crash_of_the_database(several: Several) -> None:
    if several.cluster:
        await asyncio.to_thread(several.cluster.restart, "immediate")


async def nothing(several: Several) -> None:
    await asyncio.sleep(0.5)


async def one_round(several: Several, fault: Fault, seconds: float = 2.5) -> None:
    """Talk while something happens."""
    talking = asyncio.create_task(several.talk(seconds))
    await asyncio.sleep(several.choose.random() * 0.5)
    await fault(several)
    await talking


FAULTS: tuple[Fault, ...] = (
    kill,
    pause,
    pause_for_long,
    taken_while_paused,
    cut_off,
    terminate,
    crash_of_the_database,
    nothing,
)


async def by_hand(cluster: Cluster, folder: Path, rounds: int, seed: str, *flags: str) -> int:
    async with empty(cluster) as address:
        database = address.partition("?")[0].rpartition("/")[2]
        several = Several(database, folder, cluster.folder, seed, list(flags), cluster)
        return await _rounds(several, rounds)


async def _rounds(several: Several, rounds: int) -> int:
    async with several.running():
        for number in range(rounds):
            fault = several.choose.choice(FAULTS)
            await one_round(several, fault)
            print(number, fault.__name__, dict(several.counts), flush=True)  # noqa: T201
        await several.at_rest()
        broken = await several.broken()
    print(dict(several.counts), *broken[:20], sep="\n")  # noqa: T201
    return len(broken)


if __name__ == "__main__":
    where = Path(sys.argv[1])
    where.mkdir(exist_ok=True)
    os.chmod(where, 0o755)  # noqa: S103, PTH101
    with started() as own:
        if isinstance(own, str):
            sys.exit(own)
        sys.exit(min(asyncio.run(by_hand(own, where, int(sys.argv[2]), *sys.argv[3:])), 99))
