"""Q. Requests to models: each is one span and one count, however it is asked, however it ends."""

from __future__ import annotations

import asyncio
import threading
from contextlib import AsyncExitStack

import pytest
from opentelemetry.trace import SpanKind, StatusCode
from pydantic_ai import Agent
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel

from lastword import Outcome, Run, Superseded
from lastword.core.entries import Used
from lastword.core.model import Generation, RunId, SessionId
from lastword.engines.pydantic_ai import PydanticAI
from lastword.runtime.counters import MOST_NAMES, Counters
from lastword.runtime.trace import RunTrace
from lastword.runtime.tracing import RequestEnded, TracedRun, Tracing
from lastword.testing.provider import Call, Provider, Say
from tests.engines.wire import FORMATS, model
from tests.promise.workshop import until
from tests.telemetry.spans import Spans, key, links_of, parent_of, status_of, told_of

COST = ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens")
CANCELLED = "lastword.request.cancelled"
FIRST = "gen_ai.response.time_to_first_chunk"


@pytest.mark.scenario("Q6")
async def test_an_engine_of_a_team_s_own_says_what_it_asks_a_model() -> None:
    spans = Spans()

    async def engine(run: Run) -> None:
        with run.model_request("gpt-5", provider="openai") as request:
            with spans.own.start_as_current_span("POST"):
                request.first()
            request.used(120, 45, model="gpt-5-2025")

    async with spans.runtime(engine) as r:
        session = r.session("s")
        assert await (await session.send("go")).outcome() == Outcome.COMPLETED
        [used] = [entry for entry in await session.log() if isinstance(entry, Used)]
        of = r.counters.models["gpt-5"]

    assert spans.tree() == {"lastword.run": {"chat gpt-5": {"POST": {}}}}
    asked = spans.one("chat gpt-5")
    names = ("gen_ai.operation.name", "gen_ai.request.model", "gen_ai.response.model")
    assert told_of(asked, *names) == ["chat", "gpt-5", "gpt-5-2025"]
    names = ("gen_ai.provider.name", "gen_ai.conversation.id", *COST, CANCELLED)
    assert told_of(asked, *names) == ["openai", "s", 120, 45, False]
    assert (asked.kind, status_of(asked)) == (SpanKind.CLIENT, (StatusCode.UNSET, None))
    assert told_of(asked, FIRST)[0] >= 0
    assert (used.model, used.input_tokens, used.output_tokens) == ("gpt-5-2025", 120, 45)
    assert (of.input_tokens, of.output_tokens, of.requests) == (120, 45, {"completed": 1})
    assert (sum(of.took.counts), sum(of.first.counts)) == (1, 1)


@pytest.mark.scenario("Q6")
async def test_a_request_that_fails_says_by_what_kind_of_error() -> None:
    spans = Spans()

    class Limited(Exception):
        status_code = 429

    async def engine(run: Run) -> None:
        with pytest.raises(Limited), run.model_request("m"):
            raise Limited("a secret")
        with run.model_request("m") as request:
            request.failed("broke_off")
        with run.model_request("m"):
            raise ConnectionError("a secret")

    async with spans.runtime(engine) as r:
        assert await (await r.session("s").send("go")).outcome() == Outcome.FAILED
        of = r.counters.models["m"]

    kinds = [told_of(span, "error.type")[0] for span in spans.named("chat m")]
    assert kinds == ["429", "broke_off", "ConnectionError"]
    assert dict(of.errors) == dict.fromkeys(kinds, 1)
    assert of.requests == {"failed": 3}
    assert sum(of.took.counts) == 0
    assert "secret" not in "".join(span.to_json() for span in spans.ended)


@pytest.mark.scenario("Q6")
async def test_a_stop_ends_the_span_of_a_request_that_does_not_end_and_none_begins_after() -> None:
    spans, up, end = Spans(), threading.Event(), threading.Event()
    refused = list[BaseException]()

    async def engine(run: Run) -> None:
        def deaf() -> None:
            with run.model_request("m"):
                up.set()
                end.wait()
            try:
                with run.model_request("late"):
                    pass
            except Superseded as error:
                refused.append(error)

        await asyncio.to_thread(deaf)

    async with spans.runtime(engine) as r, AsyncExitStack() as ends:
        ends.callback(end.set)  # also if this fails: a thread cannot be ended
        session = r.session("s")
        await session.send("go")
        await asyncio.to_thread(up.wait)
        await session.stop()
        await spans.told()
        assert spans.open == []
        [asked] = spans.named("chat m")
        assert told_of(asked, CANCELLED) == [True]
        end.set()
        await until(lambda: refused)
        assert r.counters.models["m"].requests == {"cancelled": 1}
        assert "late" not in r.counters.models


@pytest.mark.scenario("Q6")
async def test_a_request_that_a_stop_from_a_thread_overtakes_is_over_at_once() -> None:
    spans, counters = Spans(), Counters()
    what = TracedRun(SessionId("s"), RunId("s#1"), Generation(1), None, "")
    span = Tracing(spans.tracer).begin(what, None)
    run = RunTrace(span, counters, asyncio.get_running_loop().time, what)
    run.over(Outcome.STOPPED, "")
    run.request("m", "", counters.used).end()
    await spans.told()

    assert spans.open == []
    assert counters.models["m"].requests == {"cancelled": 1}


@pytest.mark.scenario("Q7")
@pytest.mark.parametrize("format", FORMATS)
async def test_an_agent_s_requests_and_tools_are_below_its_run(format: str) -> None:
    spans = Spans()
    async with Provider() as provider, model(provider, format) as own:
        provider.answer(Call("look", {"where": "here"}), Call("peep", {}))
        provider.answer(Say("Do", "ne."))
        agent = Agent(own)

        @agent.tool_plain
        async def look(where: str) -> str:
            with spans.own.start_as_current_span("looks"):
                return where

        @agent.tool_plain
        def peep() -> str:
            with spans.own.start_as_current_span("peeps"):
                return "nothing"

        async with spans.runtime(PydanticAI(agent)) as r:
            session = r.session("s")
            assert await (await session.send("go")).outcome() == Outcome.COMPLETED
            used = [entry for entry in await session.log() if isinstance(entry, Used)]
            [(name, of)] = r.counters.models.items()

    assert spans.open == []
    assert spans.tree() == {
        "lastword.run": {
            f"chat {name}": {},
            "execute_tool look": {"looks": {}},
            "execute_tool peep": {"peeps": {}},
        }
    }
    asked = spans.named(f"chat {name}")
    assert [told_of(span, *COST) for span in asked] == [
        [one.input_tokens, one.output_tokens] for one in used
    ]
    assert all(told_of(span, FIRST)[0] > 0 for span in asked)
    provider_name = "anthropic" if format == "anthropic" else "openai"
    assert told_of(asked[0], "gen_ai.provider.name") == [provider_name]
    assert of.requests == {"completed": 2}
    assert of.output_tokens == sum(one.output_tokens for one in used)
    assert (sum(of.took.counts), sum(of.first.counts)) == (2, 2)


@pytest.mark.scenario("Q7")
@pytest.mark.parametrize("format", FORMATS)
async def test_a_stop_in_the_middle_of_an_answer_ends_its_span(format: str) -> None:
    spans = Spans()
    async with Provider() as provider, model(provider, format) as own:
        answer = provider.say("a", "b", "c", paced=True)
        async with spans.runtime(PydanticAI(Agent(own))) as r:
            session = r.session("s")
            await session.send("talk")
            await provider.asked()
            await answer.release()
            await session.stop()
            await spans.told()
            assert spans.open == []
            [of] = r.counters.models.values()
            assert of.requests == {"cancelled": 1}

    run, stop = spans.one("lastword.run"), spans.one("lastword.stop")
    [asked] = [span for span in spans.ended if span.name.startswith("chat ")]
    assert parent_of(asked) == key(run)
    assert links_of(stop) == [key(run)]
    assert told_of(asked, CANCELLED, "error.type") == [True, None]


@pytest.mark.scenario("Q7")
@pytest.mark.parametrize("format", FORMATS)
async def test_what_goes_wrong_with_a_provider_is_counted_by_kind(format: str) -> None:
    spans = Spans()
    async with Provider() as provider, model(provider, format) as own:
        provider.fail(401)
        provider.fail(429)
        provider.cut("half a")
        async with spans.runtime(PydanticAI(Agent(own))) as r:
            for _ in range(3):
                assert await (await r.session("s").send("go")).outcome() == Outcome.FAILED
            [of] = r.counters.models.values()

    assert of.errors.keys() >= {"401", "429"}
    assert (of.errors.total(), of.requests) == (3, {"failed": 3})
    assert spans.open == []


@pytest.mark.scenario("Q7")
async def test_a_model_around_a_model_is_one_request_and_what_falls_back_is_no_error() -> None:
    spans = Spans()
    async with Provider() as provider, model(provider, "chat") as own:
        provider.fail(500)
        provider.say("Done.")
        around = WrapperModel(FallbackModel(own, own))
        async with spans.runtime(PydanticAI(Agent(around))) as r:
            assert await (await r.session("s").send("go")).outcome() == Outcome.COMPLETED
            [of] = r.counters.models.values()

    assert of.requests == {"completed": 1}
    [asked] = [span for span in spans.ended if span.name.startswith("chat ")]
    assert parent_of(asked) == key(spans.one("lastword.run"))


@pytest.mark.scenario("Q7")
async def test_an_agent_that_a_tool_runs_is_below_that_tool() -> None:
    spans = Spans()
    async with Provider() as provider, model(provider, "chat") as own:
        provider.answer(Call("delegate", {}))
        provider.say("From below.")
        provider.say("Done.")
        agent = Agent(own)

        @agent.tool_plain
        def delegate() -> str:  # in a thread, with an event loop of its own
            return asyncio.run(look())

        async def look() -> str:
            async with model(provider, "chat") as there:
                return (await Agent(there).run("look")).output

        async with spans.runtime(PydanticAI(agent)) as r:
            assert await (await r.session("s").send("go")).outcome() == Outcome.COMPLETED
            assert r.counters.models["gpt-5"].requests == {"completed": 3}

    tool = spans.one("execute_tool delegate")
    parents = [parent_of(span) for span in spans.named("chat gpt-5")]
    assert parents.count(key(tool)) == 1
    assert parents.count(key(spans.one("lastword.run"))) == 2


@pytest.mark.scenario("Q8")
def test_however_many_models_and_errors_there_are_only_so_many_are_told_apart() -> None:
    counters = Counters()
    for number in range(3 * MOST_NAMES):
        counters.requested(f"model {number}", RequestEnded(error=f"error {number}"), 1.0)
        counters.requested("model 0", RequestEnded(error=f"error {number}"), 1.0)
    counters.used("", 1, 1)

    assert len(counters.models) == MOST_NAMES + 1
    assert len(counters.models["model 0"].errors) == MOST_NAMES + 1
    assert sum(of.requests.total() for of in counters.models.values()) == 6 * MOST_NAMES
