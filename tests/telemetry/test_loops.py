"""Q. Requests of loops over providers' own clients: each is one span and one count."""

from __future__ import annotations

import pytest
from openai import AsyncOpenAI

from lastword import Outcome
from lastword.core.entries import Used
from lastword.engines.kit import Compaction
from lastword.engines.openai import OpenAI
from lastword.testing.provider import Answer, Call, Say
from tests.engines.subject_sdk import sdk_loop
from tests.engines.wire import FORMATS, Raw, streamed
from tests.telemetry.spans import Spans, key, parent_of, told_of

COST = ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens")
CANCELLED = "lastword.request.cancelled"
FIRST = "gen_ai.response.time_to_first_chunk"
EACH = pytest.mark.parametrize("format", FORMATS)
pytestmark = pytest.mark.scenario("Q7")


@EACH
async def test_a_loop_s_requests_and_tools_are_below_its_run(format: str) -> None:
    spans = Spans()

    async def look(where: str) -> str:
        with spans.own.start_as_current_span("looks"):
            return where

    async with sdk_loop(format) as one:
        one.tool(look)
        one.answer(Call("look", {"where": "here"}))
        one.answer(Say("Do", "ne."))
        async with spans.runtime(one.engine) as r:
            session = r.session("s")
            assert await (await session.send("go")).outcome() == Outcome.COMPLETED
            used = [entry for entry in await session.log() if isinstance(entry, Used)]
            [(name, of)] = r.counters.models.items()

    assert spans.open == []
    assert spans.tree() == {
        "lastword.run": {f"chat {name}": {}, "execute_tool look": {"looks": {}}}
    }
    asked = spans.named(f"chat {name}")
    assert [told_of(span, *COST) for span in asked] == [
        [one.input_tokens, one.output_tokens] for one in used
    ]
    assert all(told_of(span, FIRST)[0] > 0 for span in asked)
    provider_name = "anthropic" if format == "anthropic" else "openai"
    assert told_of(asked[0], "gen_ai.provider.name") == [provider_name]
    assert of.requests == {"completed": 2}
    assert of.output_tokens == sum(one.output_tokens for one in used) > 0
    assert (sum(of.took.counts), sum(of.first.counts)) == (2, 2)


@EACH
async def test_a_stop_in_the_middle_of_a_loop_s_answer_ends_its_span(format: str) -> None:
    spans = Spans()
    async with sdk_loop(format) as one:
        answer = one.answer("a", "b", "c", paced=True)
        async with spans.runtime(one.engine) as r:
            session = r.session("s")
            await session.send("talk")
            await one.provider.asked()
            await answer.release()
            await session.stop()
            await spans.told()
            assert spans.open == []
            [of] = r.counters.models.values()
            assert of.requests == {"cancelled": 1}

    [asked] = [span for span in spans.ended if span.name.startswith("chat ")]
    assert parent_of(asked) == key(spans.one("lastword.run"))
    assert told_of(asked, CANCELLED, "error.type") == [True, None]


@EACH
async def test_what_goes_wrong_with_a_loop_s_provider_is_counted_by_kind(format: str) -> None:
    spans = Spans()
    async with sdk_loop(format) as one:
        one.provider.fail(401)
        one.provider.fail(429)
        one.provider.cut("half a")
        async with spans.runtime(one.engine) as r:
            for _ in range(3):
                assert await (await r.session("s").send("go")).outcome() == Outcome.FAILED
            [of] = r.counters.models.values()

    assert of.errors.keys() >= {"401", "429"}
    assert (of.errors.total(), of.requests) == (3, {"failed": 3})
    assert spans.open == []


async def test_a_loop_s_answer_that_nobody_ends_broke_off() -> None:
    spans = Spans()
    async with Raw(streamed("chat", Answer("half a"), ended=False)) as server:
        client = AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0)
        async with client, spans.runtime(OpenAI(client, "gpt-5")) as r:
            assert await (await r.session("s").send("go")).outcome() == Outcome.FAILED
            [of] = r.counters.models.values()

    assert of.errors == {"broke_off": 1}
    assert told_of(spans.one("chat gpt-5"), "error.type") == ["broke_off"]


@EACH
async def test_a_summary_is_a_request_like_any_other(format: str) -> None:
    spans = Spans()
    async with sdk_loop(format, Compaction(window=200)) as one:
        one.provider.always(lambda _: "word " * 60)
        async with spans.runtime(one.engine) as r:
            session = r.session("s")
            for number in range(4):
                ticket = await session.send(f"question {number}")
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            used = [entry for entry in await session.log() if isinstance(entry, Used)]
            [of] = r.counters.models.values()

    assert of.requests == {"completed": len(one.provider.requests)}
    assert len(used) == len(one.provider.requests) > 4
    assert of.output_tokens == sum(entry.output_tokens for entry in used)
