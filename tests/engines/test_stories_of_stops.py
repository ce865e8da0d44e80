"""The stories of stops, kept by every engine: what it, its tools and its provider still try."""

import asyncio
import threading

import pytest

from lastword import FeedEvent, Outcome, Runtime, Superseded
from lastword.core.entries import Text, Used
from lastword.testing.provider import Call
from tests.engines.stories import run_here, said
from tests.engines.subjects import TALKING
from tests.promise.stories import Latch, check_log, heard_by, mark_of
from tests.promise.workshop import until

pytestmark = pytest.mark.parametrize("kind", TALKING)


@pytest.mark.scenario("S2")
async def test_what_a_provider_sends_after_the_stop_is_nobody_s(kind: str) -> None:
    heard: list[FeedEvent] = []
    async with TALKING[kind]() as one:
        answer = one.answer("one ", *["more "] * 500, paced=True)
        async with Runtime(one.engine, sink=heard.append) as r:
            session = r.session("s")
            await session.send("talk")
            await answer.release()
            await until(lambda: said(heard) == "one ")
            receipt = await session.stop()
            await answer.release(500)
            one.answer("new")
            assert await (await session.send("again")).outcome() == Outcome.COMPLETED
            log = await session.log()
        assert receipt.quiet
        first = one.provider.requests[0]
        assert first.sent + first.sent_after_close == 501
    assert said(heard) == "one new"
    assert "".join(entry.text for entry in log if isinstance(entry, Text)) == "one new"
    assert len([entry for entry in log if isinstance(entry, Used)]) == 1


@pytest.mark.scenario("S3")
@pytest.mark.scenario("S12")
async def test_of_what_waits_before_a_sink_nothing_leaves_and_the_one_under_way_is_named(
    kind: str,
) -> None:
    heard: list[str] = []
    latch = Latch()

    async def sink(event: FeedEvent) -> None:
        heard.append(event.text)
        if len(heard) == 1:
            await latch.wait_stubbornly()

    async with TALKING[kind]() as one:
        one.answer("1 ", "2 ", "3 ", "4 ", "5 ")
        async with Runtime(one.engine, sink=sink, deadline=0.5, grace=0.1) as r:
            session = r.session("s")
            await session.send("talk")
            await latch.came.wait()
            receipt = await session.stop()
            assert not receipt.quiet
            assert [left.kind for left in receipt.unconfirmed] == ["delivery"]
            latch.open.set()
            await receipt.settled()
    assert heard == ["1 "]


@pytest.mark.scenario("S4")
async def test_what_waits_for_its_pace_is_not_said_on_waking(kind: str) -> None:
    heard: list[FeedEvent] = []
    async with TALKING[kind]() as one:
        answer = one.answer("one ", "two ", paced=True)
        async with Runtime(one.engine, sink=heard.append, pace=0.3) as r:
            session = r.session("s")
            watched = heard_by(session)
            await session.send("talk")
            await answer.release()
            await until(lambda: said(heard) == "one ")
            await answer.release()
            assert (await session.stop()).quiet
            answer.free()
            one.answer("new")
            assert await (await session.send("again")).outcome() == Outcome.COMPLETED
    assert said(heard) == said(watched) == "one new"


@pytest.mark.scenario("S5")
async def test_a_stop_while_a_client_waits_to_try_again_ends_the_trying(kind: str) -> None:
    heard: list[FeedEvent] = []
    async with TALKING[kind](retries=3) as one:
        one.provider.fail(429, "not so fast", retry_after=30)
        async with Runtime(one.engine, sink=heard.append) as r:
            session = r.session("s")
            await session.send("talk")
            await (await one.provider.asked()).finished.wait()
            receipt = await session.stop()
            assert receipt.quiet
            one.answer("new")
            assert await (await session.send("again")).outcome() == Outcome.COMPLETED
        [_, request] = one.provider.requests
        assert "again" in request.prompt
    assert said(heard) == "new"


@pytest.mark.scenario("S6")
async def test_a_typing_mark_comes_down_once_and_stays_down(kind: str) -> None:
    latch = Latch()

    async def look() -> str:
        async with run_here().typing(every=0.01):
            await latch.wait_stubbornly()
        return "seen"

    async with TALKING[kind]() as one, Runtime(one.engine, deadline=0.5, grace=0.1) as r:
        one.tool(look)
        one.answer(Call("look", {}))
        session = r.session("s")
        watched = heard_by(session)
        await session.send("go")
        await latch.came.wait()
        await until(lambda: sum(mark_of(event) is True for event in watched) > 2)
        receipt = await session.stop()
        fenced = len(watched)
        latch.open.set()
        await receipt.settled()
        marks = [mark for event in watched if (mark := mark_of(event)) is not None]
        assert True not in [mark_of(event) for event in watched[fenced:]]
        assert marks.count(False) == 1


@pytest.mark.scenario("S7")
@pytest.mark.scenario("S8")
@pytest.mark.parametrize("thread", [False, True])
async def test_what_a_tool_says_and_does_when_it_is_cut_off_is_refused(
    kind: str, thread: bool
) -> None:
    heard: list[FeedEvent] = []
    began, tried = threading.Event(), list[str]()
    go_on, over = threading.Event(), threading.Event()

    async def mail() -> None:
        tried.append("mailed")

    async def late() -> None:
        run = run_here()
        await run.emit("and one more thing")
        try:
            await run.call(mail)
        except Superseded:
            tried.append("refused")
        over.set()

    async def polite() -> str:
        began.set()
        try:
            await asyncio.sleep(3600)
        finally:
            await late()
        return "never"

    def wedged() -> str:
        began.set()
        go_on.wait(30)
        asyncio.run_coroutine_threadsafe(late(), loop).result(30)
        return "never"

    loop = asyncio.get_running_loop()
    tool = wedged if thread else polite
    async with TALKING[kind]() as one, Runtime(one.engine, sink=heard.append) as r:
        one.tool(tool)
        one.answer("I look. ", Call(tool.__name__, {}))
        session = r.session("s")
        await session.send("go")
        await until(began.is_set)
        receipt = await session.stop()
        go_on.set()
        await until(over.is_set)
        settled = await receipt.settled()
        assert settled.quiet
        assert tried == ["refused"]
        one.answer("fine")
        assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
        await check_log(session)
    assert said(heard) == "I look. fine"


@pytest.mark.scenario("E46")
async def test_a_thread_that_an_async_tool_waits_for_is_named_until_it_ends(kind: str) -> None:
    began, end = threading.Event(), threading.Event()

    def work() -> str:
        began.set()
        end.wait(30)
        return "too late"

    async def look() -> str:
        return await asyncio.to_thread(work)

    async with TALKING[kind]() as one, Runtime(one.engine, deadline=0.5, grace=0.1) as r:
        one.tool(look)
        one.answer(Call("look", {}))
        session = r.session("s")
        await session.send("go")
        await until(began.is_set)
        receipt = await session.stop()
        assert [left.kind for left in receipt.unconfirmed] == ["tool"]
        end.set()
        assert (await receipt.settled()).quiet


@pytest.mark.scenario("S16")
async def test_a_helper_of_a_stopped_run_says_nothing_more(kind: str) -> None:
    heard: list[FeedEvent] = []
    latch = Latch()

    async def name_it() -> None:
        await latch.wait_stubbornly()
        await run_here().emit("A title")

    async def look() -> str:
        await run_here().task(name_it())
        return "seen"

    async with TALKING[kind]() as one, Runtime(one.engine, sink=heard.append) as r:
        one.tool(look)
        one.answer(Call("look", {}))
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        stopping = session.stop()
        latch.open.set()
        await (await stopping).settled()
        one.answer("new")
        assert await (await session.send("again")).outcome() == Outcome.COMPLETED
    assert said(heard) == "new"
