"""A run that makes shell calls one at a time, as its test says."""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Literal

from lastword import Run, Runtime, Session
from lastword.processes import Level


class Talk:
    """A run that does what it is told, call by call, until it is told to end."""

    def __init__(self) -> None:
        self.asked: asyncio.Queue[Callable[[Run], Awaitable[object]] | None] = asyncio.Queue()
        self.answers: asyncio.Queue[object] = asyncio.Queue()
        self.notes: list[str] = []
        self.runs: list[Run] = []

    async def engine(self, run: Run) -> None:
        self.runs.append(run)
        while work := await self.asked.get():
            try:
                self.answers.put_nowait(await work(run))
            except Exception as error:  # noqa: BLE001 - for whoever asked
                self.answers.put_nowait(error)

    async def does(self, work: Callable[[Run], Awaitable[object]]) -> str:
        self.asked.put_nowait(work)
        answer = await self.answers.get()
        if isinstance(answer, Exception):
            raise answer
        return str(answer)


@asynccontextmanager
async def talking(
    level: Level | Literal["auto"] = "tree", store: str = "memory:"
) -> AsyncGenerator[tuple[Talk, Session]]:
    talk = Talk()
    async with Runtime(talk.engine, level=level, grace=0.2, store=store) as runtime:
        session = runtime.session("s")
        await session.send("go")
        yield talk, session


def id_in(text: str) -> str:
    found = re.search(r"\[it goes on as (p[\d-]+)", text)
    assert found, text
    return found[1]


async def shown(session: Session) -> list[str]:
    return [item.text for item in await session.history() if item.role == "note"]
