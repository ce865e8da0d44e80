"""Q. A run's spans are a tree, each of them ends, and what a tool traces itself is below it."""

from __future__ import annotations

import asyncio
import threading
from contextlib import AsyncExitStack

import pytest
from opentelemetry.trace import StatusCode

from lastword import Outcome, Run, Runtime
from tests.telemetry.spans import (
    Spans,
    key,
    links_of,
    parent_of,
    status_of,
    told_of,
)

STATUS, OUTCOME = "lastword.tool.status", "lastword.run.outcome"


async def nothing() -> None:
    pass


async def rest() -> None:
    pass


async def wait(run: Run) -> None:
    await asyncio.Event().wait()


@pytest.mark.scenario("Q1")
async def test_tools_side_by_side_are_below_their_run_and_their_own_spans_below_them() -> None:
    spans, met = Spans(), asyncio.Event()

    async def first() -> None:
        with spans.own.start_as_current_span("waits"):
            await met.wait()

    def second() -> None:  # in a thread
        with spans.own.start_as_current_span("looks"):
            loop.call_soon_threadsafe(met.set)

    async def engine(run: Run) -> None:
        await asyncio.gather(run.call(first), run.call(second))
        with spans.own.start_as_current_span("plans"):
            await run.call(nothing)
        await run.call(rest)
        with spans.own.start_as_current_span("thinks"):
            pass

    loop = asyncio.get_running_loop()
    async with spans.runtime(engine) as r:
        assert await (await r.session("s").send("a secret")).outcome() == Outcome.COMPLETED

    assert spans.open == []
    assert spans.tree() == {
        "lastword.run": {
            "execute_tool first": {"waits": {}},
            "execute_tool rest": {},
            "execute_tool second": {"looks": {}},
            "plans": {"execute_tool nothing": {}},
            "thinks": {},
        }
    }
    run = spans.one("lastword.run")
    names = ("gen_ai.operation.name", "gen_ai.conversation.id", "lastword.run.id")
    assert told_of(run, *names) == ["invoke_agent", "s", "s#1"]
    names = ("lastword.generation", OUTCOME, "lastword.run.policy", "lastword.run.above")
    assert told_of(run, *names) == [1, "completed", "takeover", None]
    tool = spans.one("execute_tool first")
    names = ("gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.tool.call.id", STATUS)
    assert told_of(tool, *names) == ["execute_tool", "first", "s#1.1", "completed"]
    assert [event.name for event in tool.events] == ["lastword.tool.begun"]
    assert status_of(run) == status_of(tool) == (StatusCode.UNSET, None)
    assert "secret" not in "".join(span.to_json() for span in spans.ended)


@pytest.mark.scenario("Q1")
async def test_a_tool_that_raises_and_a_run_that_fails_say_what_kind_of_error_it_was() -> None:
    spans = Spans()

    async def breaks() -> None:
        raise KeyError("a secret")

    async def engine(run: Run) -> None:
        await run.call(breaks)

    async with spans.runtime(engine) as r:
        assert await (await r.session("s").send("go")).outcome() == Outcome.FAILED

    run, tool = spans.one("lastword.run"), spans.one("execute_tool breaks")
    assert told_of(tool, STATUS, "error.type") == ["completed", "KeyError"]
    assert told_of(run, OUTCOME, "error.type") == ["failed", "KeyError"]
    assert status_of(run) == status_of(tool) == (StatusCode.ERROR, None)
    assert "secret" not in "".join(span.to_json() for span in spans.ended)


@pytest.mark.scenario("Q1")
async def test_a_tool_that_nobody_allows_has_not_started() -> None:
    spans = Spans()

    def refuse(call: object) -> None:
        raise PermissionError(str(call))

    async def engine(run: Run) -> None:
        await run.call(nothing)

    async with spans.runtime(engine, before_tool=refuse) as r:
        await (await r.session("s").send("go")).outcome()

    tool = spans.one("execute_tool nothing")
    assert told_of(tool, STATUS, "error.type") == ["not started", None]
    assert tool.events == ()


@pytest.mark.scenario("Q1")
async def test_a_call_that_is_carried_out_elsewhere_has_a_span_until_its_end_is_told() -> None:
    spans = Spans()

    async def engine(run: Run) -> None:
        first, second = (run.asked(name, "{}") for name in ("near", "far"))
        await first.begin()
        await second.begin()
        first.end("done")
        await spans.told()
        assert spans.open == ["lastword.run", "execute_tool far"]
        second.end(ConnectionError("a secret"))

    async with spans.runtime(engine) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    near, far = spans.one("execute_tool near"), spans.one("execute_tool far")
    assert told_of(near, STATUS, "error.type") == ["completed", None]
    assert told_of(far, STATUS, "error.type") == ["completed", "ConnectionError"]
    assert [event.name for event in near.events] == [event.name for event in far.events] != []


@pytest.mark.scenario("Q2")
async def test_a_thread_that_had_raised_when_the_stop_came_is_told_by_what() -> None:
    spans, stopped = Spans(), asyncio.Event()

    async def engine(run: Run) -> None:
        async def body() -> None:
            def breaks() -> None:
                with pytest.raises(OSError, match="full"), call.under_way():
                    raise OSError("full")

            thread = threading.Thread(target=breaks)
            thread.start()
            thread.join()  # on the loop, which hears of nothing
            session.stop()
            stopped.set()
            await asyncio.Event().wait()

        call = run.asked("breaks", "{}", body, late=True)
        await call()

    async with spans.runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await stopped.wait()

    tool = spans.one("execute_tool breaks")
    assert told_of(tool, STATUS, "error.type") == ["completed", "OSError"]


def double(number: int) -> int:
    return 2 * number


@pytest.mark.scenario("Q1")
async def test_a_tool_in_a_process_of_its_own_has_its_span_too() -> None:
    spans = Spans()

    async def engine(run: Run) -> None:
        await run.gate(double, isolated=True)(21)

    async with spans.runtime(engine) as r:
        assert await (await r.session("s").send("go")).outcome() == Outcome.COMPLETED

    assert spans.tree() == {"lastword.run": {"execute_tool double": {}}}
    tool = spans.one("execute_tool double")
    assert told_of(tool, STATUS, "lastword.tool.isolated") == ["completed", True]


@pytest.mark.scenario("Q1")
async def test_a_child_run_is_below_the_tool_that_started_it() -> None:
    spans = Spans()

    async def engine(run: Run) -> None:
        async def ask() -> str:
            return await (await run.child("look")).text()

        if run.above is None:
            await run.call(ask)

    async with spans.runtime(engine) as r:
        assert await (await r.session("s").send("go")).outcome() == Outcome.COMPLETED

    assert spans.tree() == {"lastword.run": {"execute_tool ask": {"lastword.run": {}}}}
    child = spans.named("lastword.run")[1]
    assert told_of(child, "gen_ai.conversation.id", "lastword.run.above") == ["s#1/1", "s"]


@pytest.mark.scenario("Q2")
async def test_a_stop_ends_every_span_and_has_one_with_what_the_receipt_says() -> None:
    spans, up, end = Spans(), threading.Event(), threading.Event()

    def deaf() -> None:
        with spans.own.start_as_current_span("looks"):
            up.set()
            end.wait()

    async def engine(run: Run) -> None:
        late = run.intend(nothing)
        await run.call(nothing)
        await run.call(deaf)
        await late()

    async with spans.runtime(engine, deadline=0.2, grace=0.1) as r, AsyncExitStack() as ends:
        ends.callback(end.set)  # also if this fails: a thread cannot be ended
        session = r.session("s")
        await session.send("go")
        await asyncio.to_thread(up.wait)
        with spans.own.start_as_current_span("request"):
            receipt = await session.stop()
        await spans.told()
        assert spans.open == ["looks"], "the thread itself is nobody's to end"
        end.set()
        await receipt.settled()

    assert spans.open == []
    run, stop, tool = (spans.one(n) for n in ("lastword.run", "lastword.stop", "execute_tool deaf"))
    assert told_of(run, OUTCOME) == ["stopped"]
    assert status_of(run) == (StatusCode.UNSET, None)
    assert told_of(tool, STATUS, "error.type") == ["may have executed", "may_have_executed"]
    assert status_of(tool) == (StatusCode.ERROR, "may have executed")
    statuses = [told_of(span, STATUS) for span in spans.named("execute_tool nothing")]
    assert statuses == [["completed"], ["not started"]]
    assert parent_of(stop) == key(spans.one("request"))
    assert links_of(stop) == [key(run)]
    calls = [f"lastword.stop.calls.{s}" for s in ("completed", "not_started", "may_have_executed")]
    assert told_of(stop, *calls) == [1, 1, 1]
    names = ("lastword.stop.reason", "lastword.stop.runs", "lastword.stop.quiet")
    assert told_of(stop, *names) == ["stopped", 1, False]
    assert status_of(stop) == (StatusCode.ERROR, "not quiet")
    assert stop.start_time
    assert stop.end_time
    assert run.end_time
    assert (stop.end_time - stop.start_time) / 1e9 >= receipt.took
    assert stop.start_time <= run.end_time <= stop.end_time


@pytest.mark.scenario("Q2")
async def test_a_stop_from_a_thread_is_part_of_what_that_thread_does() -> None:
    spans, up = Spans(), asyncio.Event()

    async def engine(run: Run) -> None:
        up.set()
        await asyncio.Event().wait()

    async with spans.runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await up.wait()

        def ask() -> None:
            with spans.own.start_as_current_span("signal"):
                session.stop_soon().result()

        await asyncio.to_thread(ask)

    stop = spans.one("lastword.stop")
    assert parent_of(stop) == key(spans.one("signal"))
    assert status_of(stop) == (StatusCode.UNSET, None)


@pytest.mark.scenario("Q2")
async def test_a_stop_that_another_step_carries_out_is_still_in_its_asker_s_trace() -> None:
    spans, up = Spans(), asyncio.Event()

    async def engine(run: Run) -> None:
        up.set()
        await asyncio.Event().wait()

    async with spans.runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await up.wait()
        with spans.own.start_as_current_span("signal"):
            asked = session.stop_soon()  # the loop is to do the rest of it
        with spans.own.start_as_current_span("new"):
            await session.send("again")  # and does it in this step, on its way
        await asyncio.wrap_future(asked)

    first = spans.named("lastword.stop")[0]
    assert parent_of(first) == key(spans.one("signal"))


@pytest.mark.scenario("Q2")
async def test_a_stop_of_nothing_has_no_span() -> None:
    spans = Spans()
    async with spans.runtime(wait) as r:
        assert not await r.session("s").stop()

    assert spans.begun == []


@pytest.mark.scenario("Q2")
async def test_a_takeover_is_a_stop_in_the_trace_of_the_message_that_took_over() -> None:
    spans, up = Spans(), asyncio.Event()

    async def engine(run: Run) -> None:
        if run.message.text == "old":
            up.set()
            await run.call(asyncio.Event().wait)

    async with spans.runtime(engine) as r:
        session = r.session("s")
        with spans.own.start_as_current_span("first"):
            await session.send("old")
        await up.wait()
        with spans.own.start_as_current_span("second"):
            ticket = await session.send("new")
        await ticket.receipt()
        assert await ticket.outcome() == Outcome.COMPLETED

    assert spans.open == []
    assert spans.tree() == {
        "first": {"lastword.run": {"execute_tool wait": {}}},
        "second": {"lastword.run": {}, "lastword.stop": {}},
    }
    old, new = spans.named("lastword.run")
    stop = spans.one("lastword.stop")
    assert [told_of(span, OUTCOME) for span in (old, new)] == [["superseded"], ["completed"]]
    assert links_of(stop) == [key(old)]
    assert told_of(stop, "lastword.stop.reason") == ["superseded"]


@pytest.mark.scenario("Q2")
async def test_closing_a_runtime_ends_every_span_before_it_returns() -> None:
    spans, up = Spans(), asyncio.Event()

    async def engine(run: Run) -> None:
        with run.model_request("m"):
            up.set()
            await asyncio.Event().wait()

    async with Runtime(engine, tracer=spans.tracer) as r:
        await r.session("s").send("go")
        await up.wait()

    assert spans.open == []
    assert told_of(spans.one("lastword.run"), OUTCOME) == ["shutdown"]
    assert told_of(spans.one("chat m"), "lastword.request.cancelled") == [True]
