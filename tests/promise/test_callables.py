"""R12. A tool or a sink is what calling it gives."""

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lastword import Outcome, Run, Runtime
from lastword.testing.seeded import explore
from tests.promise.stories import a_while, runtime

Shape = Callable[[list[str]], Callable[..., Any]]


def _where() -> str:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return "thread"
    return "loop"


def _plain(ran: list[str]) -> Callable[[object], str]:
    def plain(_: object) -> str:
        ran.append(_where())
        return "done"

    return plain


def _coroutine(ran: list[str]) -> Callable[[object], Awaitable[str]]:
    async def coroutine(_: object) -> str:
        await asyncio.sleep(0)
        ran.append(_where())
        return "done"

    return coroutine


def _asyncified(ran: list[str]) -> Callable[..., Any]:
    plain = _plain(ran)

    @functools.wraps(plain)
    async def asyncified(thing: object) -> str:
        return await asyncio.to_thread(plain, thing)

    return asyncified


def _syncified(ran: list[str]) -> Callable[..., Any]:
    coroutine = _coroutine(ran)

    @functools.wraps(coroutine)
    def syncified(thing: object) -> str:
        result: list[str] = []

        async def main() -> None:
            result.append(await coroutine(thing))

        asyncio.run(main())
        ran[:] = ["thread" for _ in ran]  # in a loop of its own
        return result[0]

    return syncified


def _decorated(ran: list[str]) -> Callable[..., Any]:
    coroutine = _coroutine(ran)

    @functools.wraps(coroutine)
    def decorated(thing: object) -> Awaitable[str]:
        return coroutine(thing)

    return decorated


class _Object:
    def __init__(self, ran: list[str]) -> None:
        self.inner = _coroutine(ran)

    async def __call__(self, thing: object) -> str:
        return await self.inner(thing)

    async def method(self, thing: object) -> str:
        return await self.inner(thing)


class _WithAClass:
    def __init__(self, ran: list[str]) -> None:
        self.inner = _plain(ran)

    def __call__(self, thing: object) -> str:
        return self.inner(thing)


SHAPES: dict[str, tuple[Shape, str]] = {
    "plain": (_plain, "thread"),
    "coroutine": (_coroutine, "loop"),
    "asyncified": (_asyncified, "thread"),
    "syncified": (_syncified, "thread"),
    "decorated": (_decorated, "loop"),
    "object": (_Object, "loop"),
    "plain object": (_WithAClass, "thread"),
    "method": (lambda ran: _Object(ran).method, "loop"),
    "partial": (lambda ran: functools.partial(_coroutine(ran)), "loop"),
    "partial of an object": (lambda ran: functools.partial(_Object(ran)), "loop"),
    "partial of a partial": (
        lambda ran: functools.partial(functools.partial(_asyncified(ran))),
        "thread",
    ),
    "cached": (lambda ran: functools.lru_cache(_plain(ran)), "thread"),
}


@pytest.mark.scenario("R12")
@pytest.mark.parametrize("shape", SHAPES)
async def test_a_tool_or_a_sink_is_what_calling_it_gives(shape: str) -> None:
    make, where = SHAPES[shape]
    called, delivered, results = list[str](), list[str](), list[object]()

    async def engine(run: Run) -> None:
        results.append(await run.call(make(called), "x"))
        await run.emit("hello")

    async with Runtime(engine, sink=make(delivered)) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert results == ["done"]
    assert called == [where]
    assert delivered == [where]


@pytest.mark.scenario("R12")
def test_what_a_thread_gave_to_be_awaited_is_not_begun_after_a_stop(schedules: int) -> None:
    async def story() -> None:
        began: list[str] = []
        stopped: list[bool] = []

        async def inner() -> None:
            began.append("late" if stopped else "in time")

        def outer() -> Awaitable[None]:
            return inner()

        async def engine(run: Run) -> None:
            await run.call(outer)

        async with runtime(engine) as r:
            session = r.session("s")
            ticket = await session.send("go")
            await ticket.started()

            async def stopping() -> bool:
                answer = session.stop()
                stopped.append(True)
                return (await answer).quiet

            assert await asyncio.create_task(stopping())
            await a_while()

            assert began in ([], ["in time"])

    explore(story, schedules)
