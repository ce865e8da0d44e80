"""A turn of an engine that is stopped, or taken over, at random; and what came of that.

A turn: text, four calls at once (two async, of which one starts a program that goes on, and two in
threads), one more, text. It is ended at a random step of the event loop after a random deed; then
the person says something else, and the strict provider judges the history. Every tool tells when
it began and ended, and so do the writes of a checkpointer, where there is one. No program may live
when a receipt is quiet, when it has settled, and when the runtime has closed; a turn that was over
by itself has no receipt, and its program dies while the next turn begins.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from lastword import FeedEvent, Outcome, Receipt, Runtime, Session, Status, Ticket
from lastword.core.entries import Called, Result
from lastword.testing.provider import Answer, Call, Request, Say
from lastword.testing.provider.bell import Bell
from tests.engines.stories import run_here
from tests.engines.told import Scripted
from tests.promise.stories import check_log
from tests.promise.workshop import gone

How = Literal["stop", "takeover"]
_WHOLE = 18  # deeds of a turn that nobody ends: what is heard, and where tools begin and end
_MOST_STEPS = 40
_ROUNDED = 0.001  # seconds between two clocks
_RETURNS = 0.004  # seconds in which a tool that has said that it ends does, on a busy machine
_PROGRAM = ("sh", "-c", "trap '' TERM; exec sleep 60")  # it has to be killed
_GRACE = 0.05  # seconds until it is
_HEARD = ("text", "thinking", "progress", "typing")


@dataclass
class World:
    """What was done, and when."""

    held: bool = True  # whether its engine has a way to start programs
    deeds: list[tuple[str, str, float]] = field(default_factory=list[tuple[str, str, float]])
    pids: list[int] = field(default_factory=list[int])
    heard: list[tuple[FeedEvent, float]] = field(default_factory=list[tuple[FeedEvent, float]])
    _bell: Bell = field(default_factory=Bell)
    _home: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def did(self, name: str, what: str) -> None:
        with self._lock:
            self.deeds.append((name, what, time.monotonic()))
        self._home.call_soon_threadsafe(self._bell.ring)

    def hear(self, event: FeedEvent) -> None:
        self.heard.append((event, time.monotonic()))
        self._bell.ring()

    async def until(self, many: int, over: asyncio.Future[Outcome]) -> None:
        """Return after so many deeds; or the turn is over, whatever it did."""
        over.add_done_callback(lambda _: self._bell.ring())
        await self._bell.until(lambda: len(self.deeds) + len(self.heard) >= many or over.done())

    async def fetch(self, n: int) -> str:
        """Fetch a page."""
        self.did(f"fetch{n}", "begin")
        await asyncio.sleep(0.002)
        self.did(f"fetch{n}", "end")
        return f"page {n}"

    def write(self, n: int) -> str:
        """Write a file, in a thread."""
        self.did(f"write{n}", "begin")
        time.sleep(0.002)
        self.did(f"write{n}", "end")
        return f"wrote {n}"

    async def build(self, n: int) -> str:
        """Start a program that goes on."""
        self.did(f"build{n}", "begin")
        await asyncio.sleep(0.001)
        self.did(f"build{n}", "start")
        if self.held:
            process = await run_here().spawn(*_PROGRAM)
        else:
            process = await asyncio.create_subprocess_exec(*_PROGRAM)
        self.pids.append(process.pid)
        self.did(f"build{n}", "started")
        self.did(f"build{n}", "end")
        return f"built {n}"

    def alive(self) -> list[int]:
        """The programs that are not gone."""
        return [pid for pid in self.pids if not gone(pid)]

    def tidy_up(self) -> None:
        """End those that nobody has ended."""
        for pid in self.alive():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def at(self, what: str) -> dict[str, float]:
        return {name: when for name, kind, when in self.deeds if kind == what}


def script(request: Request) -> Answer:
    """What the model answers."""
    text = json.dumps(request.body)
    if "something else" in text:
        return Answer(Say("ok then"))
    if "wrote 5" in text:
        return Answer(Say("all ", "done."))
    if "wrote 4" in text:
        return Answer(Say("more "), Call("write", {"n": 5}))
    calls = [("fetch", 1), ("write", 2), ("build", 3), ("write", 4)]
    return Answer(Say("I ", "will "), *(Call(name, {"n": n}) for name, n in calls))


@dataclass
class Trial:
    """What came of one; each list is to be empty, but for the doubts, which are counted."""

    effects: list[str] = field(default_factory=list[str])  # tools, programs: begun after the fence
    writes: list[str] = field(default_factory=list[str])  # of a checkpoint, begun after it
    words: list[str] = field(default_factory=list[str])  # heard after it
    silent: list[str] = field(default_factory=list[str])  # ended after a receipt without their name
    left: list[str] = field(default_factory=list[str])  # programs after a quiet or settled one
    invalid: list[str] = field(default_factory=list[str])  # what the provider said to the next
    lies: list[str] = field(default_factory=list[str])  # the log says what is not so, or nothing
    untold: list[str] = field(default_factory=list[str])  # the model is not told what the log says
    doubts: list[str] = field(default_factory=list[str])  # true, and less than could be known
    requests: int = 0  # to the model, of the run that was ended, after the fence
    calls: int = 0
    begun: int = 0  # tools
    took: float = 0.0  # seconds from the fence to the receipt
    cut: bool = False  # a call was not over

    @property
    def wrong(self) -> list[str]:
        kinds = ("effects", "writes", "words", "silent", "left", "invalid", "lies", "untold")
        return [f"{kind}: {one}" for kind in kinds for one in getattr(self, kind)]


async def tried(one: Scripted, how: How, chance: random.Random) -> Trial:
    """End a turn at random, and look."""
    world = World(one.held)
    for tool in (world.fetch, world.write, world.build):
        one.tool(tool)
    one.provider.always(script)
    async with Runtime(one.engine, sink=world.hear, grace=_GRACE) as runtime:
        session = runtime.session("s")
        first = await session.send("go")
        over = asyncio.ensure_future(first.outcome())
        await world.until(chance.randint(0, _WHOLE), over)
        for _ in range(chance.randint(0, _MOST_STEPS)):
            await asyncio.sleep(0)
        receipt, second, fenced, answered = await _end(session, how)
        left = world.alive() if receipt is not None and receipt.quiet else []
        if receipt is not None and (await receipt.settled()).quiet:
            left += world.alive()
        outcome = await second.outcome()
        ended = await over
        trial = await _judged(session, one, world, receipt, (fenced, answered))
        if outcome != Outcome.COMPLETED and not trial.invalid:
            trial.invalid.append(second.error)
        trial.words += _heard_late(world, first, fenced)
        trial.writes += _written_late(one, first, fenced)
        await check_log(session)
    if one.held or ended is not Outcome.COMPLETED:  # else nobody was to end it
        left += world.alive()
    trial.left += [f"program {pid} lives on" for pid in dict.fromkeys(left)]
    world.tidy_up()
    return trial


async def _end(session: Session, how: How) -> tuple[Receipt | None, Ticket, float, float]:
    if how == "stop":
        stopping = session.stop()
        fenced = time.monotonic()
        receipt = await stopping
        answered = time.monotonic()
        return receipt, await session.send("something else"), fenced, answered
    since = time.time() - time.monotonic()
    second = await session.send("something else")
    accepted = time.monotonic()
    receipt = await second.receipt()
    fenced = receipt.fenced_at - since + _ROUNDED if receipt else accepted
    return receipt, second, fenced, time.monotonic()


async def _judged(
    session: Session,
    one: Scripted,
    world: World,
    receipt: Receipt | None,
    moments: tuple[float, float],
) -> Trial:
    fenced, answered = moments
    named = " ".join(map(str, receipt.unconfirmed)) if receipt else ""
    begun, ended = world.at("begin"), world.at("end")
    trial = Trial(took=answered - fenced)
    trial.effects += [name for name, when in begun.items() if when > fenced]
    started = world.at("started")
    trial.effects += [
        f"program of {name}"
        for name, when in world.at("start").items()
        if when > fenced and name in started
    ]
    late = [name for name, when in ended.items() if when > answered]
    trial.silent += [name for name in late if name.rstrip("0123456789") not in named]
    trial.invalid += [str(request.refused) for request in one.provider.refused]
    first = [r for r in one.provider.requests if "something else" not in str(r.body)]
    trial.requests = sum(request.when > fenced for request in first)
    log = await session.log()
    results = {entry.call: entry for entry in log if isinstance(entry, Result)}
    calls = [entry for entry in log if isinstance(entry, Called)]
    trial.calls, trial.begun = len(calls), len(begun)
    for call in calls:
        name = f"{call.name}{json.loads(call.arguments)['n']}"
        trial.cut |= results[call.call].status is not Status.COMPLETED
        _compare(trial, name, results[call.call], begun, ended, fenced)
    logged = {f"{call.name}{json.loads(call.arguments)['n']}" for call in calls}
    trial.lies += [f"{name} ran and is not in the log" for name in begun.keys() - logged]
    trial.untold += _untold(one, results.values())
    return trial


def _compare(
    trial: Trial,
    name: str,
    result: Result,
    begun: dict[str, float],
    ended: dict[str, float],
    fenced: float,
) -> None:
    match result.status:
        case Status.NOT_STARTED if name in begun:
            trial.lies.append(f"{name} ran and is said not to have")
        case Status.COMPLETED if name not in ended or ended[name] > fenced:
            trial.lies.append(f"{name} is said to be completed")
        case Status.MAY_HAVE_EXECUTED if name not in begun:
            trial.doubts.append(f"{name} is doubted and never began")
        case Status.MAY_HAVE_EXECUTED if ended.get(name, fenced) < fenced - _RETURNS:
            trial.doubts.append(f"{name} is doubted and had ended")
        case _:
            pass


def _untold(one: Scripted, told: Collection[Result]) -> list[str]:
    """What the log says of a call and the last request does not."""
    shown = json.dumps(one.provider.requests[-1].messages)
    marks = [f"[{r.status}]" for r in told if r.status is not Status.COMPLETED]
    missing = [mark for mark in set(marks) if shown.count(mark) != marks.count(mark)]
    done = [r.content for r in told if r.status is Status.COMPLETED]
    return missing + [content for content in done if content not in shown]


def _written_late(one: Scripted, first: Ticket, fenced: float) -> list[str]:
    return [w.what for w in one.writes if w.run == first.run and w.begun > fenced]


def _heard_late(world: World, first: Ticket, fenced: float) -> list[str]:
    late = [event for event, when in world.heard if when > fenced and event.run == first.run]
    return [str(event) for event in late if event.kind in _HEARD]
