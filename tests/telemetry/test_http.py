"""Q. What is asked over HTTP is part of the trace that the request names."""

from __future__ import annotations

import asyncio

import pytest

from lastword import Run
from tests.server.client import served, upto
from tests.telemetry.spans import Spans, key, links_of, parent_of, trace_of

TRACE, PARENT = 0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331


def traceparent(number: int = 0) -> str:
    return f"00-{TRACE + number:032x}-{PARENT + number:016x}-01"


async def wait(run: Run) -> None:
    await run.emit("up")
    await asyncio.Event().wait()


@pytest.mark.scenario("Q3")
async def test_a_run_and_a_stop_are_part_of_the_traces_of_their_requests() -> None:
    spans, path = Spans(), "/v1/sessions/s"
    async with spans.runtime(wait) as r, served(r) as client, client.events("s") as events:
        await client.post(f"{path}/messages", {"text": "go"}, traceparent=traceparent())
        await upto(events, "text")
        await client.post(f"{path}/stop", {}, traceparent=traceparent(1))

    run, stop = spans.one("lastword.run"), spans.one("lastword.stop")
    assert (trace_of(run), parent_of(run)) == (TRACE, PARENT)
    assert (trace_of(stop), parent_of(stop)) == (TRACE + 1, PARENT + 1)
    assert links_of(stop) == [key(run)]


@pytest.mark.scenario("Q3")
@pytest.mark.parametrize("told", ["", "nonsense", "00-0-0-00", f"00-{0:032x}-{0:016x}-01"])
async def test_a_header_that_means_nothing_is_as_if_there_were_none(told: str) -> None:
    spans = Spans()
    async with spans.runtime(wait) as r, served(r) as client, client.events("s") as events:
        sent = await client.post("/v1/sessions/s/messages", {"text": "go"}, traceparent=told)
        assert sent.status == 202
        await upto(events, "text")

    assert parent_of(spans.one("lastword.run")) is None


@pytest.mark.scenario("Q3")
async def test_who_serves_the_request_in_a_span_of_its_own_is_above_the_run() -> None:
    spans = Spans()
    async with spans.runtime(wait) as r:
        assert r.tracing
        serving = spans.own.start_as_current_span("POST /messages")
        with serving, r.tracing.arriving({"traceparent": traceparent()}):
            await r.session("s").send("go")

    assert parent_of(spans.one("lastword.run")) == key(spans.one("POST /messages"))
