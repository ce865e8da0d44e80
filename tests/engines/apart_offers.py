"""Engines that ask their program for what it offers, have others for their children, are made by
what has to be left again, and say more than can be said. A message names one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from lastword import Run, Superseded
from lastword.errors import LastwordError

Story = Callable[[Run], Awaitable[None]]


async def asks_for_a_service(run: Run) -> None:
    first = await run.request("lookup", "soap", {"shelf": 3})
    await run.emit(f"{first}")
    for name, *given in (("unlink", "/"), ("lookup", "x", None), ("gives_nonsense", "x")):
        try:
            await run.request(name, *given)
        except (ValueError, TypeError, KeyError) as error:
            await run.emit(f"\n{type(error).__name__}: {error}")


async def waits_for_a_service(run: Run) -> None:
    said = Path(run.message.text.split()[1])
    try:
        await run.emit("there")
        await run.request("for_ever", 1)
    finally:
        try:
            await run.request("lookup", "late")
        except Superseded:
            said.write_text("Superseded")  # noqa: ASYNC240 - how else is it to tell


async def waits_for_a_stubborn_one(run: Run) -> None:
    await run.request("stubborn")


async def below(run: Run) -> None:
    await run.emit(f"{run.message.text} below {run.above} for {run.top} in {os.getpid()}")


async def spins_below(run: Run) -> None:
    Path(run.message.text).write_text("x")  # noqa: ASYNC240 - how else is it to tell
    while True:
        pass


class Thing:
    """An engine that is no function."""

    async def __call__(self, run: Run) -> None:
        await run.emit(f"a thing for {run.message.text}")


thing = Thing()


async def has_children_of_other_engines(run: Run) -> None:
    for engine in (below, thing):
        await run.emit(f"{await (await run.child('Ann', engine=engine)).text()}\n")

    async def nobody(run: Run) -> None: ...

    try:
        await run.child("Ann", engine=nobody)
    except ValueError as error:
        await run.emit(f"{str(error).partition(':')[0]}")


async def has_a_child_that_spins(run: Run) -> None:
    child = await run.child(run.message.text.split()[1], engine=spins_below)
    await run.emit("there")
    await child.outcome()


async def says_too_much(run: Run) -> None:
    """And goes on: what was not said is not counted."""
    much = "x" * (17 << 20)

    async def tool(text: str) -> str:
        return text[:5]

    refused: list[str] = []
    try:
        await run.child(much)
    except (ValueError, LastwordError) as error:
        refused.append(type(error).__name__)
    try:
        run.asked("tool", much)
    except (ValueError, LastwordError) as error:
        refused.append(type(error).__name__)
    await run.emit(f"{refused} {await run.call(tool, 'small')} {await run.steering()}")


STORIES: dict[str, Story] = {
    story.__name__: story
    for story in (
        asks_for_a_service,
        waits_for_a_service,
        waits_for_a_stubborn_one,
        has_children_of_other_engines,
        has_a_child_that_spins,
        says_too_much,
    )
}


async def engine(run: Run) -> None:
    await STORIES[run.message.text.split()[0]](run)


@asynccontextmanager
async def entered() -> AsyncGenerator[Story]:
    """What it is had in tells, in a file, that it was entered and left, in one process and task."""
    told: list[str] = []
    here = os.getpid(), asyncio.current_task()

    async def made(run: Run) -> None:
        told.append(run.message.text)
        await run.emit("made")
        if "stays" in run.message.text:
            await asyncio.Event().wait()

    yield made
    same = here == (os.getpid(), asyncio.current_task())
    Path(told[0].split()[-1]).write_text(f"left {same}")  # noqa: ASYNC240 - how else is it to tell
    if "fails" in told[0]:
        raise OSError("not flushed")
