"""A runtime that is the same whether its engine is here or in processes of its own."""

from __future__ import annotations

from typing import Any

from lastword import Call, Outcome, Runtime, Session
from lastword.runtime.active_run import run_here
from lastword.runtime.asks import Asks
from lastword.runtime.run import Run
from lastword.testing import Recorder
from tests.promise.stories import check_log

asked: list[Asks] = []  # where what a run asks is answered


async def before_tool(call: Call[Any]) -> None:
    here = run_here()
    if here is not None and isinstance(here.given, Run):
        asked[:] = [here.given.asks]
    if call.name == "forbidden":
        raise PermissionError("it is forbidden")


class Place:
    """A runtime in which every story has a session of its own."""

    def __init__(self, runtime: Runtime, heard: Recorder) -> None:
        self.runtime = runtime
        self.heard = heard

    def session(self, name: str) -> Session:
        return self.runtime.session(name)

    async def told(self, story: str, *, outcome: Outcome = Outcome.COMPLETED) -> Session:
        session = self.session(story)
        ticket = await session.send(story, by="Ann")
        assert await ticket.outcome() == outcome, ticket.error
        await check_log(session)
        return session

    def said(self, session: Session) -> str:
        mine = [one for one in self.heard if one.session == session.id]
        return "".join(one.text for one in mine if one.kind == "text")

    def kinds(self, session: Session) -> list[str]:
        return [one.kind for one in self.heard if one.session == session.id]

    async def log(self, session: Session, kind: type[Any]) -> list[Any]:
        return [entry for entry in await session.log() if isinstance(entry, kind)]
