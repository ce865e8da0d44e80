"""A run that was stopped and does not end, and does whatever a test asks of it, in its own name."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from lastword import Run, Runtime, Session, Ticket
from lastword.testing.recorder import Recorder


@dataclass
class Stage:
    """Two sessions: one whose first run was taken over and lives on, one whose run is current."""

    runtime: Runtime
    heard: Recorder
    own: Session
    other: Session
    handles: dict[str, Run]  # of the zombie, and of the run that is current in the other session
    tickets: dict[str, Ticket]
    takeover: Ticket
    called: list[str] = field(default_factory=list[str])  # by whatever must not be

    _asked: asyncio.Queue[Callable[[], Awaitable[Any]] | None] = field(
        default_factory=asyncio.Queue[Callable[[], Awaitable[Any]] | None]
    )
    _answers: asyncio.Queue[asyncio.Task[Any]] = field(
        default_factory=asyncio.Queue[asyncio.Task[Any]]
    )

    async def as_zombie(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """Have it done by the run that has lost its session; what comes of it."""
        self._asked.put_nowait(work)
        return await (await self._answers.get())

    async def live(self, run: Run) -> None:
        """What the zombie does: it is deaf, and starts tasks that nobody cancels."""
        self.handles["own"] = run
        while True:
            with suppress(asyncio.CancelledError):
                if (work := await self._asked.get()) is None:
                    return
                self._answers.put_nowait(asyncio.create_task(_done(work)))

    def end(self) -> None:
        """Let it go."""
        self._asked.put_nowait(None)

    async def state(self) -> list[object]:
        """All that an act could have changed."""
        found: list[object] = [tuple(event[:7]) for event in self.heard]
        for session in (self.own, self.other):
            found += [session.id, session.generation, session.active, session.over]
            found += [[message.text for message in session.queue], session.waiting.hushed]
            found += [session.last_event, [one.pid for one in session.processes if one.alive]]
            found += await session.log()
        return [*found, sorted(one.id for one in self.runtime.at_hand), *self.called]

    def tool(self, *_: object, **__: object) -> None:
        """What must not be called."""
        self.called.append("tool")

    async def work(self) -> None:
        """What must not be started."""
        self.called.append("work")


async def _done(work: Callable[[], Awaitable[Any]]) -> Any:
    return await work()


@asynccontextmanager
async def staged(**settings: Any) -> AsyncGenerator[Stage]:
    """The two sessions, a message waiting in each."""
    heard, stage = Recorder(), list[Stage]()

    async def engine(run: Run) -> None:
        while not stage:
            await asyncio.sleep(0)
        if run.message.text == "zombie":
            await stage[0].live(run)
        else:
            stage[0].handles[run.session] = run
            await asyncio.Event().wait()

    quick: dict[str, Any] = {"grace": 0.1, "deadline": 0.3}
    runtime = Runtime(engine, sink=heard, on_message="queue", **(quick | settings))
    async with runtime:
        own, other = runtime.session("own"), runtime.session("other")
        first = await own.send("zombie", id="first")
        stage.append(Stage(runtime, heard, own, other, {}, {}, first))
        await other.send("go", id="first")
        while set(stage[0].handles) != {"own", "other"}:
            await asyncio.sleep(0)
        mine = stage[0].handles["own"]
        stage[0].takeover = await own.send("new", id="new", on_message="takeover")
        receipt = await stage[0].takeover.receipt()
        assert receipt is not None
        assert not receipt.quiet
        while stage[0].handles["own"] is mine:
            await asyncio.sleep(0)
        stage[0].handles["own"] = mine
        for session in (own, other):
            stage[0].tickets[session.id] = await session.send("waits", id="waits")
        try:
            yield stage[0]
        finally:
            stage[0].end()
