"""Q. Whatever the schedule, every span is in the trace of its own session's message, and ends."""

from __future__ import annotations

import asyncio

import pytest
from opentelemetry import trace

from lastword import Run, Session
from lastword.testing.seeded import explore
from tests.promise.stories import stop
from tests.telemetry.spans import Spans, told_of, trace_of

SESSIONS = ("one", "two", "three")


@pytest.mark.scenario("Q4")
def test_nothing_of_a_session_is_in_another_s_trace(schedules: int) -> None:
    async def story() -> None:
        spans = Spans()

        def in_a_thread(name: str) -> None:
            with spans.own.start_as_current_span("own") as own:
                own.set_attribute("gen_ai.conversation.id", name)

        async def beside(name: str) -> None:
            await asyncio.sleep(0.01)
            in_a_thread(name)

        async def engine(run: Run) -> None:
            if run.above is None:
                await run.child("look")
            name = run.sessions[0]
            for _ in range(2):
                with run.model_request("m"):
                    await asyncio.sleep(0.01)
                await asyncio.gather(run.call(in_a_thread, name), run.call(beside, name))

        async def talk(session: Session) -> None:
            for text in ("first", "second"):
                with spans.own.start_as_current_span("sends") as sends:
                    sends.set_attribute("gen_ai.conversation.id", session.id)
                    ticket = await session.send(text)
                    await asyncio.sleep(0.015)
            if session.id == "two":
                with spans.own.start_as_current_span("stops") as stops:
                    stops.set_attribute("gen_ai.conversation.id", session.id)
                    await stop(session)
            await ticket.outcome()
            assert trace.get_current_span() is trace.INVALID_SPAN

        async with spans.runtime(engine, stall_after=None) as r:
            await asyncio.gather(*(talk(r.session(name)) for name in SESSIONS))

        assert spans.open == []
        own = {
            trace_of(span): told_of(span, "gen_ai.conversation.id")[0]
            for span in spans.ended
            if span.name in {"sends", "stops"}
        }
        for span in spans.ended:
            [session] = told_of(span, "gen_ai.conversation.id")
            assert own[trace_of(span)] == str(session).partition("#")[0], span.name
        assert spans.named("own")

    explore(story, schedules)
