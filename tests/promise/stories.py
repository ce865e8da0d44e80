"""What the stories share: a runtime for virtual time, and the questions asked of every log."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from lastword import Engine, Receipt, Run, Runtime, Session
from lastword.core.entries import Called, Finished, Result, Said
from lastword.core.story import FeedEvent, Typing


def runtime(engine: Engine, **settings: Any) -> Runtime:
    """A runtime without the one thread that the seeded loop cannot choose for."""
    return Runtime(engine, stall_after=None, **settings)


async def a_while() -> None:
    """Long enough, in virtual time, for whatever is going to happen to have happened."""
    await asyncio.sleep(3600)


async def talk(run: Run) -> None:
    """An engine that never comes to an end by itself."""
    for number in range(10_000):
        await run.emit(f"{number} ")
        await asyncio.sleep(0.01)


async def answer(run: Run) -> None:
    """An engine that does what it is told, and ends."""
    await run.emit(f"re: {run.message.text}")


def heard_by(session: Session) -> list[FeedEvent]:
    """What a watcher sees, from the very beginning; filled while the loop turns."""
    seen: list[FeedEvent] = []

    async def watch() -> None:
        async for event in session.events(after=0):
            seen.append(event)  # noqa: PERF401 - one by one, for whoever looks meanwhile

    _keep(asyncio.create_task(watch()))
    return seen


_tasks: set[asyncio.Task[None]] = set()


def _keep(task: asyncio.Task[None]) -> None:
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


async def check_log(session: Session) -> None:
    """Clauses 6 and 8, asked of the log: one outcome a message, one result a call, one end."""
    assert not [broken for engine in WATCHED for broken in engine.broken]
    log = await session.log()
    said = {entry.message.id for entry in log if isinstance(entry, Said)}
    outcomes = Counter(m for e in log if isinstance(e, Finished) for m in e.messages)
    assert set(outcomes) <= said
    assert all(count == 1 for count in outcomes.values()), outcomes
    ends = Counter(entry.run for entry in log if isinstance(entry, Finished) and entry.started)
    assert all(count == 1 for count in ends.values()), ends
    called = {entry.call for entry in log if isinstance(entry, Called)}
    results = Counter(entry.call for entry in log if isinstance(entry, Result))
    ended = {entry.run for entry in log if isinstance(entry, Finished)}
    assert all(count == 1 for count in results.values()), results
    assert {e.call for e in log if isinstance(e, Called) and e.run in ended} <= set(results)
    assert set(results) <= called
    if not session.busy and not session.queue:
        assert set(outcomes) == said


class OneAtATime:
    """An engine that remembers if two runs of a session were ever active together.

    It does not assert by itself: an error in an engine is a failed run, not a failed test. Ask
    `check_log`, or `broken`.
    """

    def __init__(self, work: Callable[[Run], Any]) -> None:
        self.order: list[str] = []
        self.broken: list[str] = []
        self._work = work
        self._active: dict[str, Run] = {}
        WATCHED.add(self)

    async def __call__(self, run: Run) -> None:
        before = self._active.get(run.session)
        if before is not None and before.current:
            self.broken.append(f"{before} and {run} are both active")
        self._active[run.session] = run
        self.order.append(run.message.text)
        await self._work(run)


WATCHED: WeakSet[OneAtATime] = WeakSet()  # those of this story; asked by `check_log`


async def stop(session: Session, run: str | None = None, by: str | None = None) -> Receipt:
    """A stop that a task can make, at whatever moment the schedule chooses."""
    return await session.stop(run=run, by=by)


class Latch:
    """A door that a test opens; whoever came to it is counted."""

    def __init__(self) -> None:
        self.came = asyncio.Event()
        self.open = asyncio.Event()

    async def wait(self) -> None:
        self.came.set()
        await self.open.wait()

    async def wait_stubbornly(self) -> None:
        """The same, but deaf to cancellation."""
        self.came.set()
        while not self.open.is_set():
            with suppress(asyncio.CancelledError):
                await self.open.wait()


def mark_of(event: FeedEvent) -> bool | None:
    """Whether the typing mark is up, if this tells of it."""
    return event.fact.on if isinstance(event.fact, Typing) else None
