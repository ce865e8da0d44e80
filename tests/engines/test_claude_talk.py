"""E43, E45. A conversation with the Claude Agent SDK's CLI is the session's log, and no more."""

import base64
import json

import pytest

from lastword import Attachment, FeedEvent, Outcome, Run, Runtime
from lastword.core.entries import Declined, LeftOut, Used
from lastword.engines.claude import ClaudeAgent, Compaction
from lastword.testing.provider import Call, Failure, Request, Say, Think
from tests.engines.subject_claude import ClaudeCli, claude
from tests.engines.test_refused import PNG
from tests.promise.stories import Latch, check_log
from tests.promise.workshop import until

PICTURE = Attachment("image/png", base64.b64encode(PNG).decode(), name="cat.png")


def last(one: ClaudeCli) -> str:
    return json.dumps(one.provider.requests[-1].messages)


@pytest.mark.scenario("E43")
async def test_thinking_and_ids_are_given_back_and_nothing_is_put_between() -> None:
    async with claude() as one, Runtime(one.engine) as r:

        async def look(at: int) -> str:
            return f"a cat at {at}"

        one.tool(look)
        one.answer(Think("I ", "look."), Say("Wait. "), Call("look", {"at": 3}, id="toolu_own"))
        one.answer(Think("A cat."), Say("A cat."))
        one.answer(Say("Yes."))
        session = r.session("s")
        for text in ("look", "sure?"):
            ticket = await session.send(text, attachments=[PICTURE])
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        await check_log(session)

    spoken = [m for m in one.provider.requests[-1].messages if m["role"] != "system"]
    assert [m["role"] for m in spoken] == ["user", "assistant", "user", "assistant", "user"]
    kinds = [[block["type"] for block in m["content"]] for m in spoken]
    assert kinds[1:4] == [["thinking", "text", "tool_use"], ["tool_result"], ["thinking", "text"]]
    assert "image" in kinds[0]
    assert "image" in kinds[4]
    assert spoken[1]["content"][2]["id"] == "toolu_own"


@pytest.mark.scenario("E43")
async def test_the_model_that_it_asks_if_nobody_says_which_takes_every_turn() -> None:
    async with claude() as one, Runtime(one.engine) as r:
        one.options.model = one.options.system_prompt = None
        session = r.session("s")
        for text in ("one", "two", "three"):
            one.answer(f"It is {text}.")
            ticket = await session.send(text)
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        await check_log(session)

    spoken = [m["role"] for m in one.provider.requests[-1].messages if m["role"] != "system"]
    assert spoken == ["user", "assistant"] * 2 + ["user"]


@pytest.mark.scenario("E43")
async def test_what_is_said_meanwhile_comes_before_the_next_request() -> None:
    latch = Latch()

    async with claude() as one:

        async def engine(run: Run) -> None:
            async def make() -> str:
                job = run.job(await run.spawn("sh", "-c", "exit 3"))
                await until(lambda: job.code == 3)
                await latch.wait()
                return "made"

            one.tool(make)
            await one.engine(run)

        async with Runtime(engine) as r:
            one.answer(Call("make", {}))
            one.answer("Made.")
            session = r.session("s")
            ticket = await session.send("make it")
            await latch.came.wait()
            steering = await session.send("in red", on_message="steer", attachments=[PICTURE])
            latch.open.set()
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            assert await steering.outcome() == Outcome.COMPLETED

    assert "has ended: exit code 3" in last(one)
    assert "the person said: in red\\n\\n[cat.png cannot be shown here]" in last(one)


@pytest.mark.scenario("E43")
async def test_what_each_request_cost_is_written_down_with_the_model_that_answered() -> None:
    async with claude() as one, Runtime(one.engine) as r:

        async def look() -> str:
            return "a cat"

        one.tool(look)
        one.answer(Call("look", {}))
        one.answer("A cat.")
        session = r.session("s")
        ticket = await session.send("look")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        used = [entry for entry in await session.log() if isinstance(entry, Used)]

    assert len(used) == 2
    assert {entry.model for entry in used} == {"claude-opus-4-8"}
    assert all(entry.input_tokens > 100 and entry.output_tokens > 0 for entry in used)


@pytest.mark.parametrize(
    ("status", "why"), [(401, "refused the key"), (429, "too often"), (500, "in trouble itself")]
)
async def test_a_provider_s_error_is_one_line_and_the_session_goes_on(
    status: int, why: str
) -> None:
    async with claude() as one, Runtime(one.engine) as r:
        one.provider.fail(status, "so\nit is")
        session = r.session("s")
        ticket = await session.send("hello")
        assert await ticket.outcome() == Outcome.FAILED
        one.answer("Hello.")
        again = await session.send("hello?")
        assert await again.outcome() == Outcome.COMPLETED, again.error

    assert why in ticket.error
    assert f"(HTTP {status})" in ticket.error
    assert "\n" not in ticket.error
    assert "so it is" not in last(one)  # a later model is told of what kind it was


async def test_an_answer_that_breaks_off_is_said_to_and_what_was_said_is_kept() -> None:
    heard: list[FeedEvent] = []
    async with claude() as one, Runtime(one.engine, sink=heard.append) as r:
        one.options.env["CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK"] = "1"
        one.provider.fail(500, "overloaded", after=["half of"])
        session = r.session("s")
        ticket = await session.send("hello")
        assert await ticket.outcome() == Outcome.FAILED
        one.answer("Hello.")
        again = await session.send("hello?")
        assert await again.outcome() == Outcome.COMPLETED, again.error

    assert ticket.error.startswith("the answer broke off")
    assert "".join(event.text for event in heard if event.kind == "text") == "half ofHello."
    assert "half of" in last(one)


async def test_what_was_refused_twice_is_not_shown_from_then_on() -> None:
    def no_such_words(request: Request) -> Failure | str:
        has = "unspeakable" in str(request.body)
        return Failure(400, "Output blocked by content filtering policy") if has else "fine"

    async with claude() as one, Runtime(one.engine) as r:
        one.provider.always(no_such_words)
        session = r.session("s")
        first = await session.send("say the unspeakable")
        assert await first.outcome() == Outcome.FAILED
        assert "content filtering policy" in first.error
        for text in ("and now?", "still there?"):
            ticket = await session.send(text)
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        log = await session.log()

    assert "unspeakable" not in last(one)
    assert [entry for entry in log if isinstance(entry, LeftOut)]
    assert len([entry for entry in log if isinstance(entry, Declined)]) == 2


async def test_a_picture_that_the_provider_refuses_is_left_out_by_the_cli_itself() -> None:
    def no_pictures(request: Request) -> Failure | str:
        has = PICTURE.data in str(request.body)
        return Failure(400, "Could not process image") if has else "fine"

    async with claude() as one, Runtime(one.engine) as r:
        one.provider.always(no_pictures)
        session = r.session("s")
        for text in ("look", "still there?"):
            ticket = await session.send(text, attachments=[PICTURE])
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error


async def test_a_long_history_is_summed_up_by_the_cli_s_own_model() -> None:
    def answer(request: Request) -> str:
        return "They talked." if "Summarise this" in request.prompt else "word " * 60

    async with claude() as one:
        one.provider.always(answer)
        engine = ClaudeAgent(one.options, compaction=Compaction(window=200))
        async with Runtime(engine) as r:
            session = r.session("s")
            for number in range(3):
                ticket = await session.send(f"question {number}")
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert "[They talked.]" in last(one)
    assert "question 0" not in last(one)


async def test_the_limit_of_turns_and_output_of_a_shape_are_told_in_words() -> None:
    async with claude() as one, Runtime(one.engine) as r:

        async def look() -> str:
            return "a cat"

        one.tool(look)
        one.options.max_turns = 1
        one.answer(Call("look", {}))
        ticket = await r.session("s").send("look")
        assert await ticket.outcome() == Outcome.FAILED

    assert ticket.error == "the limit of turns was reached (max_turns)"


@pytest.mark.scenario("E45")
async def test_the_cli_has_no_keys_but_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "another's")
    monkeypatch.setenv("LASTWORD_TOKEN", "lastword's")
    async with claude() as one, Runtime(one.engine) as r:
        one.options.tools = one.options.allowed_tools = ["Bash"]
        one.options.env["MINE"] = "given"
        one.answer(Call("Bash", {"command": "env", "description": "a test"}))
        one.answer("So.")
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    [told] = one.provider.requests[-1].results
    assert "MINE=given" in told
    assert "another's" not in told
    assert "lastword's" not in told
