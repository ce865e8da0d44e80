"""The rest of `scripts/bench session`: idle sessions, large texts, much that was not finished."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench.store import MESSAGES_EACH, by_sqlite, fill, number, opened
from bench.turns import heading, row
from lastword.core.entries import Began, Said
from lastword.core.model import Attachment, Generation, Message, MessageId, RunId
from lastword.runtime.run import Run
from lastword.runtime.runtime import Runtime
from lastword.runtime.session import Session
from lastword.stores.codec import encode

IDLE, TOKENS = 200, 1_200
GOAL = 4_096  # bytes of an idle session
LARGE = 30_000_000  # characters
UNFINISHED = 10  # every so many sessions, one was left in the middle
PATIENCE = 120.0  # seconds


async def held(work: Callable[[], Awaitable[object]]) -> float:
    """The longest that the event loop did not turn, while this was done."""
    longest, doing = 0.0, True

    async def beat() -> None:
        nonlocal longest
        while doing:
            before = time.perf_counter()
            await asyncio.sleep(0)
            longest = max(longest, time.perf_counter() - before)

    beating = asyncio.create_task(beat())
    await asyncio.sleep(0)
    try:
        await work()
    finally:
        doing = False
        await beating
    return longest


# idle


async def talk(run: Run) -> None:
    for _ in range(TOKENS):
        await run.emit("word ")


async def idle(directory: Path) -> None:
    """Sessions that have each answered once, at length."""
    heading(f"memory of an idle session after an answer of {TOKENS:,} tokens ({IDLE} sessions)")
    store, rest = f"sqlite:{directory / 'idle.db'}", 2.0
    async with Runtime(talk, store=store, stall_after=None, rest=rest, deadline=1) as runtime:
        await used(runtime.session("first"))
        await gone(runtime)
        tracemalloc.start()
        try:
            before = traced()
            sessions = [runtime.session(f"s{n}") for n in range(IDLE)]
            for one in range(IDLE):
                await used(sessions[one])
            at_work = traced() - before
            await gone(runtime)
            had = traced() - before
            del sessions
            left = traced() - before
        finally:
            tracemalloc.stop()
    goal = ("the goal", GOAL)
    number("at work, or idle for less than `rest`", at_work / IDLE, "bytes", goal)
    number("let go, with a handle on it held", had / IDLE, "bytes", goal)
    number("let go", left / IDLE, "bytes", goal)


async def used(session: Session) -> None:
    await (await session.send("go")).outcome()


async def gone(runtime: Runtime) -> None:
    until = time.monotonic() + PATIENCE
    while runtime.at_hand and time.monotonic() < until:  # noqa: ASYNC110 - as anybody sees it
        await asyncio.sleep(0.1)
    await asyncio.sleep(1.5)  # the loop keeps timers that were cancelled until they would have rung


def traced() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


# large


async def large(directory: Path) -> None:
    """A huge result of a tool, and a message with as much: how long nobody else had a turn."""
    heading(f"the loop was held at most, by {LARGE / 1e6:.0f} million characters")
    rows = [{"number": n, "text": "some text here"} for n in range(LARGE // 40)]
    began = time.perf_counter()
    json.dumps(rows, ensure_ascii=False)
    whole = time.perf_counter() - began
    photo = Attachment("text/plain", data="word " * (LARGE // 5))

    async def find() -> object:
        return rows

    async def engine(run: Run) -> None:
        if run.message.text == "find":
            await run.call(find)

    store = f"sqlite:{directory / 'large.db'}"
    async with Runtime(engine, store=store, stall_after=None) as runtime:
        session = runtime.session("s")
        await used(session)

        async def ask(text: str, *attachments: Attachment) -> None:
            await (await session.send(text, attachments=attachments)).outcome()

        row("json.dumps of it", whole)
        row("a tool that gives it", await held(lambda: ask("find")), ("json.dumps", whole))
        row(
            "a message that brings it",
            await held(lambda: ask("take", photo)),
            ("json.dumps", whole),
        )


# reopening


async def reopening(directory: Path, sessions: int) -> None:
    """A process died with a tenth of its sessions in the middle of something."""
    full, empty = directory / "full.db", directory / "empty.db"
    for path in (full, empty):
        async with opened(path):
            pass
    fill(full, sessions)
    busy = leave_unfinished(full, sessions)
    entries = sessions * MESSAGES_EACH * 10
    heading(f"opening {sessions:,} sessions, {entries:,} entries, {busy:,} of them left unfinished")
    logging.disable(logging.WARNING)  # each of them is told
    took: dict[Path, float] = {}
    for path in (empty, full):
        began = time.perf_counter()
        async with Runtime(talk, store=f"sqlite:{path}", stall_after=None) as runtime:
            await (await runtime.session(f"s{sessions}").send("go")).started()
            took[path] = time.perf_counter() - began
            if path is full:
                row("the first message has begun: an empty file", took[empty])
                row("the first message has begun", took[full], ("an empty file", took[empty]))
                longest = await held(lambda: all_settled(runtime, sessions))
                row("all are settled", time.perf_counter() - began)
                row("the loop was held at most", longest)


def leave_unfinished(path: Path, sessions: int) -> int:
    """Some of them have a message that a run took up, and no more."""
    left = range(UNFINISHED, sessions + 1, UNFINISHED)
    said = MESSAGES_EACH * 10 + 1
    with by_sqlite(path) as db:
        for key in left:
            run, message = RunId(f"s{key}#99"), Message(MessageId("last"), "And now?")
            entries = (Said(message, run), Began(run, Generation(0), (message.id,)))
            for place, entry in enumerate(entries, said):
                db.execute(
                    "INSERT INTO entries (session, number, generation, kind, body)"
                    " VALUES (?, ?, 0, ?, ?)",
                    (key, place, *encode(entry)),
                )
            db.execute(
                "INSERT INTO messages (session, id, said, began) VALUES (?, 'last', ?, 1)",
                (key, said),
            )
            db.execute("UPDATE sessions SET length = length + 2 WHERE key = ?", (key,))
    return len(left)


async def all_settled(runtime: Runtime, sessions: int) -> None:
    last = runtime.session(f"s{sessions - sessions % UNFINISHED - UNFINISHED}")
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and not await settled(last):  # noqa: ASYNC110 - as anybody sees it
        await asyncio.sleep(0.05)


async def settled(session: Session) -> bool:
    found = await session.overview()
    return found is not None and found.generation > 0
