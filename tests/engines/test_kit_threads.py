"""E26. What a run's code puts in a thread, without saying whose it is, is held to the run."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lastword import Outcome, Run, Runtime, Superseded
from lastword.engines.kit.calls import Calls
from lastword.engines.kit.threads import hold_threads
from tests.promise.stories import Latch
from tests.promise.workshop import until

Put = Callable[[Callable[[], Any]], Coroutine[Any, Any, Any]]


async def by_to_thread(function: Callable[[], Any]) -> Any:
    return await asyncio.to_thread(function)


async def by_the_loop(function: Callable[[], Any]) -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, function)


PUT = pytest.mark.parametrize("put", [by_to_thread, by_the_loop], ids=lambda put: put.__name__)


def name() -> str:
    return threading.current_thread().name


@pytest.mark.scenario("E26")
@PUT
async def test_a_thread_that_goes_on_is_named_and_then_confirmed(put: Put) -> None:
    entered, release = threading.Event(), threading.Event()

    def write() -> None:
        entered.set()
        release.wait(60)

    async def engine(run: Run) -> None:
        hold_threads()
        await put(write)

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await until(entered.is_set)
        receipt = await session.stop()
        assert [str(one) for one in receipt.unconfirmed] == ["tool write"]
        release.set()
        assert (await receipt.settled()).quiet


@pytest.mark.scenario("E26")
@PUT
async def test_no_thread_begins_after_the_stop(put: Put) -> None:
    latch, begun, refused = Latch(), list[str](), list[Superseded]()

    async def engine(run: Run) -> None:
        hold_threads()
        try:
            await latch.wait()
        finally:
            try:
                await put(lambda: begun.append("begun"))
            except Superseded as error:
                refused.append(error)

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        assert (await session.stop()).quiet

    assert begun == []
    assert len(refused) == 1


@pytest.mark.scenario("E26")
async def test_whoever_keeps_a_run_s_calls_holds_its_threads() -> None:
    names: list[str] = []

    async def engine(run: Run) -> None:
        Calls(run)
        names.append(await asyncio.to_thread(name))

    async with Runtime(engine) as r:
        assert await (await r.session("s").send("go")).outcome() == Outcome.COMPLETED
    assert names == ["lastword"]


@pytest.mark.scenario("E26")
@PUT
async def test_outside_of_runs_an_app_s_own_executor_is_asked_whenever_it_was_set(put: Put) -> None:
    inside: list[str] = []

    async def engine(run: Run) -> None:
        hold_threads()
        inside.append(await put(name))

    loop = asyncio.get_running_loop()
    async with Runtime(engine) as r:
        session = r.session("s")
        for whose in ("first", "second"):
            loop.set_default_executor(ThreadPoolExecutor(thread_name_prefix=whose))
            assert await (await session.send("go")).outcome() == Outcome.COMPLETED
            assert (await put(name)).startswith(whose)

    assert inside == ["lastword", "lastword"]


@pytest.mark.scenario("E26")
async def test_the_loop_s_own_lookups_are_no_act_of_the_run() -> None:
    latch, found = Latch(), list[object]()

    async def engine(run: Run) -> None:
        hold_threads()
        try:
            await latch.wait()
        finally:
            found.append(await asyncio.get_running_loop().getaddrinfo("127.0.0.1", 80))

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        receipt = await session.stop()

    assert receipt.quiet
    assert len(found) == 1


async def _a_run_and_something_beside_it() -> list[str]:
    names: list[str] = []

    async def engine(run: Run) -> None:
        hold_threads()
        names.append(await asyncio.to_thread(name))

    async with Runtime(engine) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    names.append(await asyncio.to_thread(name))
    return names


@pytest.mark.scenario("E26")
def test_with_the_loop_its_threads_are_gone() -> None:
    before = set(threading.enumerate())

    inside, outside = asyncio.run(_a_run_and_something_beside_it())

    assert inside == "lastword"
    assert outside.startswith("asyncio")
    assert not [one for one in set(threading.enumerate()) - before if one.name == outside]


@pytest.mark.scenario("E26")
def test_a_loop_that_does_not_say_what_it_has_is_held_too() -> None:
    uvloop = pytest.importorskip("uvloop", reason="uvloop is not installed here")

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        inside, outside = runner.run(_a_run_and_something_beside_it())

    assert inside == "lastword"
    assert outside != "lastword"
