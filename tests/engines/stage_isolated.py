"""A runtime whose runs have processes of their own, and tell by a service where they stand."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lastword import FeedEvent, Outcome, Run, Runtime, Session
from lastword.engines.isolated import Isolated
from lastword.runtime.call import Call
from tests.engines.contract import Place
from tests.promise.stories import check_log
from tests.promise.workshop import gone, until

ENGINE = "tests.engines.apart_scenarios:engine"


class Stage(Place):
    """A runtime, where its runs stand, and when they may go on."""

    def __init__(self) -> None:
        self.events: list[FeedEvent] = []
        self.reached: Counter[tuple[str, str]] = Counter()
        self.goes_on = asyncio.Event()
        self.slow: asyncio.Event | None = None  # what holds up the sink
        self.asked: asyncio.Event | None = None  # what holds up whoever is asked before a tool
        self.is_asked = asyncio.Event()

    def begin_anew(self) -> None:
        """Forget what was heard, and hold up nobody."""
        self.events.clear()
        self.reached.clear()
        self.goes_on.clear()
        self.slow = self.asked = None

    @property
    def heard(self) -> list[FeedEvent]:
        return self.events

    async def hear(self, event: FeedEvent) -> None:
        if self.slow and event.kind == "text":
            self.events.append(event)
            await self.slow.wait()
        else:
            self.events.append(event)

    async def before_tool(self, call: Call[Any]) -> None:
        if self.asked:
            self.is_asked.set()
            await self.asked.wait()

    async def is_reached(self, run: Run, where: str) -> None:
        self.reached[run.session, where] += 1

    async def waits(self, run: Run) -> None:
        await self.goes_on.wait()

    def stands(self, where: str) -> int:
        return sum(many for (_, at), many in self.reached.items() if at == where)

    async def begun(self, name: str, way: str, at: Path, where: str = "up") -> Session:
        """Send, and return when it stands there."""
        session = self.runtime.session(name)
        before = self.stands(where)
        await session.send(f"{way} {at}")
        await until(lambda: self.stands(where) > before)
        return session


@asynccontextmanager
async def staged() -> AsyncGenerator[Stage]:
    stage = Stage()
    services = {"reached": stage.is_reached, "goes_on": stage.waits}
    engine = Isolated(ENGINE, services=services)
    async with Runtime(
        engine, sink=stage.hear, before_tool=stage.before_tool, grace=0.3
    ) as stage.runtime:
        yield stage


async def quiet(session: Session) -> Any:
    receipt = await session.stop()
    assert receipt.quiet, receipt
    assert all(gone(process.pid) for process in receipt.processes if process.fate != "kept")
    await check_log(session)
    return receipt


async def another_answers(stage: Stage) -> None:
    """Whoever could still act had the time."""
    ticket = await stage.runtime.session("another").send("answers")
    assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
