"""E31. An openai-agents agent: what it says and calls, and what goes wrong, in both formats."""

import base64
import json
import threading
from typing import Any

import pytest
from agents import Agent, ModelSettings, StopAtTools, ToolsToFinalOutputResult, function_tool
from pydantic import BaseModel

from lastword import Attachment, Call, FeedEvent, Outcome, Runtime, Status
from lastword.core.entries import Declined, LeftOut, Result, Used
from lastword.engines.openai_agents import Compaction, OpenAIAgents
from lastword.testing.provider import Answer, Failure, Provider, Request, Say, Think
from lastword.testing.provider import Call as Asks
from tests.engines.subject_agents import agents_model, openai_agents
from tests.engines.subjects import AGENTS_FORMATS
from tests.engines.test_refused import PNG
from tests.engines.told import Scripted
from tests.engines.wire import Raw, streamed
from tests.promise.stories import Latch, check_log

EACH = pytest.mark.parametrize("format", AGENTS_FORMATS)
pytestmark = pytest.mark.scenario("E31")
PICTURE = Attachment("image/png", base64.b64encode(PNG).decode(), name="cat.png")


def results(log: Any) -> list[Result]:
    return [entry for entry in log if isinstance(entry, Result)]


def last(one: Scripted) -> str:
    return json.dumps(one.provider.requests[-1].messages)


def said(heard: list[FeedEvent]) -> str:
    return "".join(event.text for event in heard if event.kind == "text")


async def test_reasoning_is_given_back_in_the_same_turn_and_in_the_next() -> None:
    async with openai_agents("responses") as one, Runtime(one.engine) as r:

        async def look(at: int) -> str:
            return f"a cat at {at}"

        one.tool(look)
        one.answer(Think("I ", "look."), Say("Wait. "), Asks("look", {"at": 3}))
        one.answer(Think("A cat."), Say("A cat."))
        one.answer(Say("Yes."))
        session = r.session("s")
        for text in ("look", "sure?"):
            ticket = await session.send(text)
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        await check_log(session)

    _, again, later = one.provider.requests
    for request, many in ((again, 1), (later, 2)):
        kinds = [item for item in request.messages if item.get("type") == "reasoning"]
        assert len(kinds) == many
        assert all(item["encrypted_content"] for item in kinds)


async def test_reasoning_that_cannot_be_given_back_takes_no_ids_with_it() -> None:
    async with Provider() as provider, agents_model(provider, "responses") as model:
        agent = Agent("tester", model=model, model_settings=ModelSettings(store=False))
        async with Runtime(OpenAIAgents(agent)) as r:
            provider.answer(Think("Hm."), Say("A cat."))
            provider.say("Yes.")
            for text in ("look", "sure?"):
                ticket = await r.session("s").send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert provider.refused == []
        assert "Hm." not in json.dumps(provider.requests[-1].messages)


@EACH
async def test_calls_of_one_answer_are_made_side_by_side_and_those_that_block_in_threads(
    format: str,
) -> None:
    both, threads = threading.Barrier(2), list[str]()

    def block(n: int) -> int:
        both.wait(60)  # nobody comes through alone
        threads.append(threading.current_thread().name)
        return n

    async with openai_agents(format) as one, Runtime(one.engine) as r:
        one.tool(block)
        one.answer(Asks("block", {"n": 1}), Asks("block", {"n": 2}))
        one.answer("Done.")
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert threads == ["lastword", "lastword"]


@EACH
@pytest.mark.parametrize(
    "asked",
    [Asks("look", {"at": "there"}), Asks("look", {}), Asks("look", raw='{"at')],
    ids=["wrong", "missing", "broken"],
)
@pytest.mark.parametrize("threaded", [False, True], ids=["async", "sync"])
async def test_a_call_that_cannot_be_made_is_not_started_and_the_model_is_told(
    format: str, asked: Asks, threaded: bool
) -> None:
    made: list[int] = []

    def look(at: int) -> str:
        made.append(at)
        return "seen"

    async def look_(at: int) -> str:
        return look(at)

    look_.__name__ = "look"
    async with openai_agents(format) as one, Runtime(one.engine) as r:
        one.tool(look if threaded else look_)
        one.answer(asked)
        one.answer("I see.")
        session = r.session("s")
        ticket = await session.send("look")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        [result] = results(await session.log())

    assert made == []
    assert (result.status, result.error) == (Status.NOT_STARTED, True)
    assert result.content == one.provider.requests[-1].results[0]


@EACH
async def test_a_tool_that_raises_and_one_that_is_not_allowed_are_told_to_the_model(
    format: str,
) -> None:
    def allow(call: Call[object]) -> None:
        if call.name == "forbidden":
            raise PermissionError("not here")

    async def broken() -> str:
        raise OSError("disk full")

    async def forbidden() -> str:
        return "never"

    async with openai_agents(format) as one, Runtime(one.engine, before_tool=allow) as r:
        one.tool(broken)
        one.tool(forbidden)
        one.answer(Asks("broken", {}), Asks("forbidden", {}))
        one.answer("I see.")
        session = r.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        log = results(await session.log())

    told = one.provider.requests[-1].results
    assert "An error occurred while running the tool" in told[0]  # as the framework has it
    assert "not allowed, and not made: not here" in told[1]
    assert {(one.status, one.error) for one in log} == {
        (Status.COMPLETED, True),
        (Status.NOT_STARTED, True),
    }


@EACH
async def test_what_it_cost_is_written_down_for_each_request(format: str) -> None:
    async with openai_agents(format) as one, Runtime(one.engine) as r:
        one.answer("Hello.")
        session = r.session("s")
        await (await session.send("hello")).outcome()
        [used] = [entry for entry in await session.log() if isinstance(entry, Used)]

    assert used.model == "gpt-5"
    assert used.input_tokens > 0
    assert used.output_tokens > 0


@EACH
@pytest.mark.parametrize(
    ("status", "why"), [(401, "refused the key"), (429, "too often"), (500, "in trouble itself")]
)
async def test_a_provider_s_error_is_one_line_and_the_session_goes_on(
    format: str, status: int, why: str
) -> None:
    async with openai_agents(format) as one, Runtime(one.engine) as r:
        one.provider.fail(status, "so\nit is")
        one.answer("Hello.")
        session = r.session("s")
        ticket = await session.send("hello")
        assert await ticket.outcome() == Outcome.FAILED
        again = await session.send("hello?")
        assert await again.outcome() == Outcome.COMPLETED, again.error

    assert why in ticket.error
    assert ticket.error.endswith(f"(HTTP {status}): so it is")
    assert "so it is" not in last(one)  # a later model is told of what kind it was


@EACH
@pytest.mark.parametrize("how", ["closed", "told"])
async def test_an_answer_that_breaks_off_is_said_to_and_what_was_said_is_kept(
    format: str, how: str
) -> None:
    heard: list[FeedEvent] = []
    async with openai_agents(format) as one, Runtime(one.engine, sink=heard.append) as r:
        if how == "closed":
            one.provider.cut("half of")
        else:
            one.provider.fail(500, "overloaded", after=["half of"])
        one.answer("Hello.")
        session = r.session("s")
        ticket = await session.send("hello")
        assert await ticket.outcome() == Outcome.FAILED
        again = await session.send("hello?")
        assert await again.outcome() == Outcome.COMPLETED, again.error

    assert ticket.error.startswith("the answer broke off")
    assert said(heard) == "half ofHello."
    assert "half of" in last(one)


@EACH
async def test_no_answer_at_all_is_said_to_be_that(format: str) -> None:
    async with openai_agents(format) as one, Runtime(one.engine) as r:
        one.provider.always(lambda _: Answer())
        nothing = await r.session("s").send("hello")
        assert await nothing.outcome() == Outcome.FAILED

    assert nothing.error == "the model answered nothing"


@pytest.mark.parametrize(
    "body", [b"", b"data: null\n\n", b"data: [1]\n\n", b"data: {not\n\n", b'data: {"a": 1}\n\n']
)
@EACH
async def test_what_is_no_answer_is_called_that(format: str, body: bytes) -> None:
    good = streamed(format, Answer("Hello."))
    async with (
        Raw(body, good) as server,
        agents_model(server, format) as model,
        Runtime(OpenAIAgents(Agent("tester", model=model))) as r,
    ):
        session = r.session("s")
        ticket = await session.send("hello")
        assert await ticket.outcome() == Outcome.FAILED
        again = await session.send("hello?")
        assert await again.outcome() == Outcome.COMPLETED, again.error

    assert "the provider sent something that is not an answer" in ticket.error


@EACH
async def test_a_file_that_was_refused_twice_is_shown_by_name_from_then_on(format: str) -> None:
    def no_pictures(request: Request) -> Failure | str:
        has = PICTURE.data in str(request.body)
        return Failure(400, "Could not process image") if has else "fine"

    async with openai_agents(format) as one, Runtime(one.engine) as r:
        one.provider.always(no_pictures)
        session = r.session("s")
        first = await session.send("look", attachments=[PICTURE])
        assert await first.outcome() == Outcome.FAILED
        assert "Could not process image" in first.error
        for text in ("and now?", "still there?"):
            ticket = await session.send(text)
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        log = await session.log()

    assert len(one.provider.requests) == 4  # refused, refused, taken with less, and at once
    assert "cat.png is not shown" in last(one)
    assert [entry.part for entry in log if isinstance(entry, LeftOut)] == ["attachments"]
    assert len([entry for entry in log if isinstance(entry, Declined)]) == 2


@EACH
async def test_an_error_of_the_team_s_own_sink_is_not_told_as_the_provider_s(format: str) -> None:
    def sink(_: FeedEvent) -> None:
        raise ValueError("the network is gone")

    async with openai_agents(format) as one, Runtime(one.engine, sink=sink) as r:
        one.answer("Hello.")
        ticket = await r.session("s").send("hello")
        assert await ticket.outcome() == Outcome.FAILED

    assert "the network is gone" in ticket.error
    assert "provider" not in ticket.error


@EACH
async def test_a_long_history_is_summed_up_by_the_agent_s_own_model(format: str) -> None:
    def answer(request: Request) -> str:
        return "They talked." if "Summarise this" in request.prompt else "word " * 60

    async with openai_agents(format, compaction=Compaction(window=200)) as one:
        one.provider.always(answer)
        async with Runtime(one.engine) as r:
            session = r.session("s")
            for number in range(4):
                ticket = await session.send(f"question {number}")
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert "[They talked.]" in last(one)
    assert "question 0" not in last(one)


class Weather(BaseModel):
    """What an agent is asked to answer with."""

    city: str
    rain: bool


@EACH
@pytest.mark.parametrize("behaviour", ["stop_on_first_tool", "named", "own"])
async def test_an_answer_that_a_tool_gave_is_said_and_one_that_the_model_said_is_said_once(
    format: str, behaviour: str
) -> None:
    @function_tool
    async def look() -> str:
        return "a cat"

    def own(_: Any, done: list[Any]) -> Any:
        return ToolsToFinalOutputResult(is_final_output=True, final_output=done[0].output)

    named = StopAtTools(stop_at_tool_names=["look"])
    behaves: Any = {"named": named, "own": own}.get(behaviour, behaviour)
    heard: list[FeedEvent] = []
    async with Provider() as provider, agents_model(provider, format) as model:
        quick = Agent("quick", model=model, tools=[look], tool_use_behavior=behaves)
        async with Runtime(OpenAIAgents(quick), sink=heard.append) as r:
            provider.answer(Say("I look."), Asks("look", {}))
            ticket = await r.session("s").send("look")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert said(heard) == "I look.\n\na cat"

        heard.clear()
        typed = Agent("typed", model=model, output_type=Weather)
        async with Runtime(OpenAIAgents(typed), sink=heard.append) as r:
            provider.say('{"city": "Oslo", "rain": true}')
            ticket = await r.session("s").send("weather?")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert said(heard) == '{"city": "Oslo", "rain": true}'
        assert provider.refused == []


@EACH
async def test_what_joins_a_run_stays_where_it_came_in_each_later_request(format: str) -> None:
    latch = Latch()

    async def look(n: int) -> str:
        if n == 1:
            await latch.wait()
        return f"seen {n}"

    async with openai_agents(format) as one, Runtime(one.engine) as r:
        one.tool(look)
        for answer in (Asks("look", {"n": 1}), Asks("look", {"n": 2}), Asks("look", {"n": 3})):
            one.answer(answer)
        one.answer("Done.")
        session = r.session("s")
        ticket = await session.send("look")
        await latch.came.wait()
        await session.send("to the left", on_message="steer")
        latch.open.set()
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        one.answer("Left.")
        await (await session.send("where?")).outcome()

    *_, second, third, fourth, later = one.provider.requests
    places = {at_of("to the left", request) for request in (second, third, fourth, later)}
    assert len(places) == 1
    assert None not in places


def at_of(text: str, request: Request) -> int | None:
    there = [at for at, one in enumerate(request.messages) if text in json.dumps(one)]
    return there[0] if len(there) == 1 else None
