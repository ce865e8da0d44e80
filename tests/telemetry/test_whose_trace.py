"""Q. A run is part of its own message's trace, and of no other."""

from __future__ import annotations

import asyncio

import pytest

from lastword import Generation, Message, Run
from lastword.core.entries import Said
from lastword.core.model import MessageId, RunId, SessionId
from lastword.core.queue import Standing
from lastword.stores.contract import Write
from lastword.stores.memory import MemoryStore
from tests.promise.workshop import until
from tests.telemetry.spans import Spans, key, links_of, parent_of, told_of, trace_of


async def nothing() -> None:
    pass


@pytest.mark.scenario("Q3")
async def test_a_run_that_waited_is_part_of_its_own_message_s_trace() -> None:
    spans, door, began = Spans(), asyncio.Event(), list[str]()

    async def engine(run: Run) -> None:
        began.append(run.message.text)
        await door.wait()

    async with spans.runtime(engine, on_message="queue") as r:
        session = r.session("s")
        for name in ("one", "two", "three"):
            with spans.own.start_as_current_span(name):
                await session.send(name)
        plain = await session.send("four")
        await until(lambda: began)
        door.set()
        await plain.outcome()

    runs = spans.named("lastword.run")
    parents = [parent_of(run) for run in runs]
    asked = [key(spans.one(name)) for name in ("one", "two", "three")]
    assert parents == [*asked, None], "nothing of the run before it"
    assert told_of(runs[0], "lastword.run.policy") == ["queue"]


@pytest.mark.scenario("Q3")
async def test_a_message_that_an_earlier_process_left_begins_a_trace_of_its_own() -> None:
    spans, store, ran = Spans(), MemoryStore(), asyncio.Event()
    left = Said(Message(MessageId("left"), "go"), RunId("s#1"))
    await store.commit(
        Write(
            session=SessionId("s"),
            generation=Generation(0),
            serial=1,
            entries=(left,),
            standing=Standing(order=(left.message.id,)),
        )
    )

    async def engine(run: Run) -> None:
        ran.set()

    with spans.own.start_as_current_span("start of the program"):
        async with spans.runtime(engine, store=store, on_restart="run"):
            await ran.wait()

    run = spans.one("lastword.run")
    assert parent_of(run) is None
    assert told_of(run, "lastword.run.policy") == [None]


@pytest.mark.scenario("Q3")
async def test_messages_that_one_run_answers_are_linked_to_it() -> None:
    spans, door, up = Spans(), asyncio.Event(), asyncio.Event()

    async def engine(run: Run) -> None:
        up.set()
        await door.wait()
        await run.steering()

    async with spans.runtime(engine) as r:
        session = r.session("s")
        with spans.own.start_as_current_span("one"):
            ticket = await session.send("one")
        await up.wait()
        with spans.own.start_as_current_span("two"):
            await session.send("two", on_message="steer")
        door.set()
        await ticket.outcome()

    run = spans.one("lastword.run")
    assert parent_of(run) == key(spans.one("one"))
    assert links_of(run) == [key(spans.one("two"))]


@pytest.mark.scenario("Q3")
async def test_a_call_that_is_made_where_another_trace_goes_on_stays_in_its_run() -> None:
    spans, lent = Spans(), asyncio.get_running_loop().create_future()

    async def engine(run: Run) -> None:
        lent.set_result(run)
        await asyncio.Event().wait()

    async with spans.runtime(engine) as r:
        await r.session("s").send("go")
        with spans.own.start_as_current_span("elsewhere"):
            await (await lent).call(nothing)

    run, tool = spans.one("lastword.run"), spans.one("execute_tool nothing")
    assert parent_of(tool) == key(run)
    assert trace_of(tool) != trace_of(spans.one("elsewhere"))
