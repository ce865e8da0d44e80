"""An agent that a tool runs, as its team made it, ends with the run in which it runs."""

import asyncio
import threading

import pytest
from pydantic_ai import Agent

from lastword import Outcome, Runtime, Status
from lastword.core.entries import Called, Used
from lastword.engines.pydantic_ai import Fenced, PydanticAI
from lastword.errors import Superseded
from lastword.testing.provider import Answer, Call, Provider, Request
from tests.engines.wire import FORMATS, model
from tests.promise.stories import Latch
from tests.promise.workshop import until

pytestmark = pytest.mark.parametrize("format", FORMATS)


def answer(request: Request) -> Answer:
    """The outer model delegates once, the inner one writes and writes."""
    inner = "write" in str(request.body.get("tools"))
    if request.results and not inner:
        return Answer("Done.")
    return Answer(Call("write" if inner else "delegate", {}))


async def test_an_agent_in_a_thread_calls_no_tool_after_the_stop(format: str) -> None:
    written, first, on = list[str](), threading.Event(), threading.Event()
    ended = threading.Event()
    async with Provider() as provider, model(provider, format) as own:
        provider.always(answer)
        outer = Agent(own)

        @outer.tool_plain
        def delegate() -> str:
            try:
                return asyncio.run(work())
            finally:
                ended.set()

        async def work() -> str:
            async with model(provider, format) as there:  # a client is of one event loop
                inner = Agent(there)

                @inner.tool_plain
                async def write() -> str:
                    written.append("written")
                    first.set()
                    on.wait(20)
                    return "written"

                return (await inner.run("write")).output

        async with Runtime(PydanticAI(outer)) as r:
            session = r.session("s")
            await session.send("go")
            await until(first.is_set)
            asked = len(provider.requests)
            receipt = await session.stop()
            on.set()
            await until(ended.is_set)
            assert (await receipt.settled()).quiet
            assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]
        assert written == ["written"]
        assert len(provider.requests) == asked


async def test_what_an_agent_in_a_thread_is_told_after_the_stop_it_does_not_do(format: str) -> None:
    written, ended = list[str](), threading.Event()
    late = Answer(Call("write", {}), paced=True)
    async with Provider() as provider, model(provider, format) as own:
        outer = Agent(own)

        @outer.tool_plain
        def delegate() -> str:
            try:
                return asyncio.run(work())
            finally:
                ended.set()

        async def work() -> str:
            async with model(provider, format) as there:
                inner = Agent(there)

                @inner.tool_plain
                async def write() -> str:
                    written.append("written")
                    return "written"

                return (await inner.run("write")).output

        provider.answer(Call("delegate", {}))
        provider.always(lambda _: late)
        async with Runtime(PydanticAI(outer)) as r:
            session = r.session("s")
            await session.send("go")
            await provider.asked(2)
            receipt = await session.stop()
            late.free()
            await until(ended.is_set)
            assert (await receipt.settled()).quiet
        assert written == []
        assert len(provider.requests) == 2


@pytest.mark.parametrize("given", [False, True], ids=["as it is", "with Fenced()"])
async def test_an_agent_that_no_stop_cancels_is_refused_its_next_request(
    format: str, given: bool
) -> None:
    latch, left = Latch(), list[asyncio.Task[None]]()
    async with Provider() as provider, model(provider, format) as own:
        provider.always(answer)
        inner, outer = Agent(own, capabilities=[Fenced()] if given else None), Agent(own)
        inner.tool_plain(write)

        @outer.tool_plain
        async def delegate() -> str:
            async def go_on() -> None:
                await latch.wait()
                await inner.run("write")

            left.append(asyncio.create_task(go_on()))
            await asyncio.Event().wait()
            return "never"

        async with Runtime(PydanticAI(outer)) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            assert (await session.stop()).quiet
            latch.open.set()
            await asyncio.wait(left)
        assert isinstance(left[0].exception(), Superseded)
        assert len(provider.requests) == 1


@pytest.mark.parametrize("given", [False, True], ids=["as it is", "with Fenced()"])
async def test_an_agent_that_is_let_end_does_its_work_and_the_session_s_model_is_shown_one_call(
    format: str, given: bool
) -> None:
    asked: list[str] = []

    def once(request: Request) -> Answer:
        inner = "write" in str(request.body.get("tools"))
        asked.append("inner" if inner else "outer")
        if request.results or request.prompt == "bye":
            return Answer("Done.")
        return Answer(Call("write" if inner else "delegate", {}))

    async with Provider() as provider, model(provider, format) as own:
        provider.always(once)
        inner, outer = Agent(own, capabilities=[Fenced()] if given else None), Agent(own)
        inner.tool_plain(write)

        @outer.tool_plain
        async def delegate() -> str:
            return (await inner.run("write")).output

        async with Runtime(PydanticAI(outer)) as r:
            session = r.session("s")
            for text in ("go", "bye"):
                ticket = await session.send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            log = await session.log()
        assert asked == ["outer", "inner", "inner", "outer", "outer"]
        assert [entry.name for entry in log if isinstance(entry, Called)] == ["delegate"]
        assert len([entry for entry in log if isinstance(entry, Used)]) == len(asked)
        assert provider.refused == []


async def test_an_agent_outside_a_run_is_left_alone(format: str) -> None:
    async with Provider() as provider, model(provider, format) as own:
        provider.say("Hello.")
        PydanticAI(Agent(own))  # there is an engine, but nobody runs it here
        assert (await Agent(own).run("hello")).output == "Hello."


async def write() -> str:
    return "written"
