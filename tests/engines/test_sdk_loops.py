"""E30. Loops over providers' own clients: tools, thinking, files and trouble, in every format."""

import base64
import json
import threading
from typing import Any

import pytest
from openai import AsyncOpenAI

from lastword import Attachment, Call, FeedEvent, Outcome, Run, Runtime, Status
from lastword.core.entries import Declined, LeftOut, Result, Used
from lastword.engines.kit import Compaction
from lastword.engines.openai import OpenAI
from lastword.testing.provider import Answer, Failure, Request, Say, Think
from lastword.testing.provider import Call as Asks
from tests.engines.subject_sdk import sdk_loop
from tests.engines.test_refused import PNG
from tests.engines.told import Scripted
from tests.engines.wire import FORMATS, Raw, streamed
from tests.promise.stories import check_log
from tests.promise.workshop import until

EACH = pytest.mark.parametrize("format", FORMATS)
pytestmark = pytest.mark.scenario("E30")
PICTURE = Attachment("image/png", base64.b64encode(PNG).decode(), name="cat.png")


def results(log: Any) -> list[Result]:
    return [entry for entry in log if isinstance(entry, Result)]


def last(one: Scripted) -> str:
    return json.dumps(one.provider.requests[-1].messages)


@EACH
async def test_thinking_is_given_back_in_the_same_turn_and_in_the_next(format: str) -> None:
    async with sdk_loop(format) as one, Runtime(one.engine) as r:

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
    for request in (again, later):
        shown = json.dumps(request.messages)
        assert "a cat at 3" in shown
        if format != "chat":  # which has no way to have it back
            assert ("signature" if format == "anthropic" else "encrypted_content") in shown
    assert one.provider.refused == []


@EACH
async def test_calls_of_one_answer_are_made_side_by_side_and_those_that_block_in_threads(
    format: str,
) -> None:
    both, threads = threading.Barrier(2), list[str]()

    def block(n: int) -> int:
        both.wait(60)  # nobody comes through alone
        threads.append(threading.current_thread().name)
        return n

    async with sdk_loop(format) as one, Runtime(one.engine) as r:
        one.tool(block)
        one.answer(Asks("block", {"n": 1}), Asks("block", {"n": 2}))
        one.answer("Done.")
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert threads == ["lastword", "lastword"]


@EACH
@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (Asks("nowhere", {}), "there is no tool nowhere; there are look"),
        (Asks("look", {"at": "there"}), "its arguments are wrong: at: Input should be a valid int"),
        (Asks("look", {}), "its arguments are wrong: at: Missing required argument"),
        (Asks("look", raw='{"at'), "its arguments are wrong: Invalid JSON"),
    ],
    ids=["unknown", "wrong", "missing", "broken"],
)
async def test_a_call_that_cannot_be_made_is_not_started_and_the_model_is_told_why(
    format: str, asked: Asks, why: str
) -> None:
    made: list[int] = []

    def look(at: int) -> str:
        made.append(at)
        return "seen"

    async with sdk_loop(format) as one, Runtime(one.engine) as r:
        one.tool(look)
        one.answer(asked)
        one.answer("I see.")
        session = r.session("s")
        ticket = await session.send("look")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        [result] = results(await session.log())

    assert made == []
    assert (result.status, result.error) == (Status.NOT_STARTED, True)
    assert why in result.content
    assert why in one.provider.requests[-1].results[0]


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

    async with sdk_loop(format) as one, Runtime(one.engine, before_tool=allow) as r:
        one.tool(broken)
        one.tool(forbidden)
        one.answer(Asks("broken", {}), Asks("forbidden", {}))
        one.answer("I see.")
        session = r.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        raised, refused = results(await session.log())

    told = " ".join(one.provider.requests[-1].results)
    assert "OSError: disk full" in told
    assert "not allowed, and not made: not here" in told
    assert {raised.status, refused.status} == {Status.COMPLETED, Status.NOT_STARTED}


@EACH
async def test_what_it_cost_is_written_down_for_each_request(format: str) -> None:
    async with sdk_loop(format) as one, Runtime(one.engine) as r:
        one.answer("Hello.")
        session = r.session("s")
        await (await session.send("hello")).outcome()
        [used] = [entry for entry in await session.log() if isinstance(entry, Used)]

    assert used.model in ("gpt-5", "claude-opus-4-8")
    assert used.input_tokens > 0
    assert used.output_tokens > 0


@EACH
@pytest.mark.parametrize(
    ("status", "why"), [(401, "refused the key"), (429, "too often"), (500, "in trouble itself")]
)
async def test_a_provider_s_error_is_one_line_and_the_session_goes_on(
    format: str, status: int, why: str
) -> None:
    async with sdk_loop(format) as one, Runtime(one.engine) as r:
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
    async with sdk_loop(format) as one, Runtime(one.engine, sink=heard.append) as r:
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
    assert "".join(event.text for event in heard if event.kind == "text") == "half ofHello."
    assert "half of" in last(one)


@EACH
async def test_nobody_there_and_no_answer_at_all_are_said_to_be_that(format: str) -> None:
    async with sdk_loop(format) as one, Runtime(one.engine) as r:
        one.provider.always(lambda _: Answer())
        nothing = await r.session("s").send("hello")
        assert await nothing.outcome() == Outcome.FAILED
        assert nothing.error == "the model answered nothing"
    client = AsyncOpenAI(base_url="http://127.0.0.1:9", api_key="k", max_retries=0)
    async with client, Runtime(OpenAI(client, "gpt-5")) as r:
        ticket = await r.session("s").send("hello")
        assert await ticket.outcome() == Outcome.FAILED
        assert "gpt-5: the provider cannot be reached" in ticket.error


@pytest.mark.parametrize(
    "body", [b"", b"data: null\n\n", b"data: [1]\n\n", b"data: {not\n\n", b'data: {"a": 1}\n\n']
)
async def test_what_is_no_answer_is_called_that(body: bytes) -> None:
    good = streamed("chat", Answer("Hello."))
    async with Raw(body, good) as server:
        client = AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0)
        async with client, Runtime(OpenAI(client, "gpt-5")) as r:
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

    async with sdk_loop(format) as one, Runtime(one.engine) as r:
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
async def test_what_the_session_has_to_tell_is_told_with_the_next_request(format: str) -> None:
    async with sdk_loop(format) as one:

        async def engine(run: Run) -> None:
            async def make() -> str:
                job = run.job(await run.spawn("sh", "-c", "exit 3"))
                await until(lambda: job.code == 3)
                return "made"

            one.tool(make)
            await one.engine(run)

        async with Runtime(engine) as r:
            one.answer(Asks("make", {}))
            one.answer("Made.")
            ticket = await r.session("s").send("make it")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert "has ended: exit code 3" in one.provider.requests[-1].prompt
    assert one.provider.requests[-1].prompt.startswith("[")


@EACH
async def test_an_error_of_the_team_s_own_sink_is_not_told_as_the_provider_s(format: str) -> None:
    def sink(_: FeedEvent) -> None:
        raise ValueError("the network is gone")

    async with sdk_loop(format) as one, Runtime(one.engine, sink=sink) as r:
        one.answer("Hello.")
        ticket = await r.session("s").send("hello")
        assert await ticket.outcome() == Outcome.FAILED

    assert "the network is gone" in ticket.error
    assert "provider" not in ticket.error


@EACH
async def test_a_long_history_is_summed_up_by_the_engine_s_own_model(format: str) -> None:
    def answer(request: Request) -> str:
        return "They talked." if "Summarise this" in request.prompt else "word " * 60

    async with sdk_loop(format, Compaction(window=200)) as one:
        one.provider.always(answer)
        async with Runtime(one.engine) as r:
            session = r.session("s")
            for number in range(4):
                ticket = await session.send(f"question {number}")
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert "[They talked.]" in last(one)
    assert "question 0" not in last(one)


async def test_an_answer_at_its_limit_is_said_to_be_cut() -> None:
    heard: list[FeedEvent] = []
    async with sdk_loop("chat") as one, Runtime(one.engine, sink=heard.append) as r:
        one.provider.answer("half of", finish="length")
        await (await r.session("s").send("hello")).outcome()

    assert [event.text for event in heard if event.kind == "progress"] == [
        "The answer was cut off at the model's limit of tokens."
    ]
