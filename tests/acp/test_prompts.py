"""An editor's prompts: answered once each, stopped at once, and nothing is told out of order."""

from pathlib import Path

import pytest

from lastword.testing.provider import Call, Provider
from tests.acp.client import UPDATE, Client, editor
from tests.promise.workshop import gone, until

STUBBORN = (
    "run trap '' TERM INT HUP; setsid sh -c 'trap \"\" TERM INT HUP; echo $$ > own; "
    "while :; do sleep 0.05; done' & (setsid sleep 1000 &); echo $$ > pid; echo up; "
    "while :; do sleep 0.05; done"
)


async def begun(client: Client, session: str, words: str = "tell me a story") -> dict[str, object]:
    """A prompt that is being answered."""
    request = client.prompt(session, words)
    since = len(client.heard)
    client.write(request)
    await until(lambda: client.text(since).count(" ") > 3)
    return request


def told(message: dict[str, object]) -> bool:
    return message.get("method") == UPDATE


@pytest.mark.scenario("A1")
async def test_a_prompt_and_a_cancel_in_one_write_are_taken_in_that_order(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        since = len(client.heard)
        request = client.prompt(session, "tell me a story")
        client.write(request, client.cancel(session))
        answer = await client.answered(request)

        assert answer["result"]["stopReason"] == "cancelled"
        assert answer["result"]["_meta"]["lastword"]["quiet"]
        assert client.text(since) == ""
        assert (await client.say(session, "count to 3"))["result"]["stopReason"] == "end_turn"
        assert client.text(since) == "1 2 3"


@pytest.mark.scenario("A2", part="acp")
async def test_a_session_a_prompt_and_a_cancel_behind_a_load_are_taken_in_that_order(
    tmp_path: Path,
) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        await client.say(session, "count to 3")
    async with editor(tmp_path) as client:
        load = client.request("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
        first, second = client.prompt(session, "tell me a story"), client.prompt(session, "hello")
        client.write(load, first, client.cancel(session), second)

        assert (await client.answered(first))["result"]["stopReason"] == "cancelled"
        assert (await client.answered(second))["result"]["stopReason"] == "end_turn"
        assert "lighthouse" not in client.text()


@pytest.mark.scenario("S1")
async def test_after_a_cancel_nothing_is_told_but_the_answer_with_its_receipt(
    tmp_path: Path,
) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        request = await begun(client, session)
        client.write(client.cancel(session))
        answer = await client.answered(request)
        since = len(client.heard)
        said = client.text()
        await client.say(session, "/receipt")

        told = answer["result"]["_meta"]["lastword"]
        assert answer["result"]["stopReason"] == "cancelled"
        assert (told["quiet"], told["receipt"]["reason"]) == (True, "stopped")
        assert told["words"].startswith("Stopped: ")
        assert client.text(since) == told["words"]
        assert said == client.text()[: len(said)]
        assert "lighthouse" in said


@pytest.mark.scenario("A3")
async def test_a_cancel_of_nothing_does_nothing(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        since = len(client.heard)
        client.write(client.cancel(session), client.cancel("no such session"))
        answer = await client.say(session, "count to 3")

        assert answer["result"] == {"stopReason": "end_turn"}
        assert client.text(since) == "1 2 3"


@pytest.mark.scenario("T1")
async def test_a_second_prompt_takes_over_and_the_first_is_answered_before_it_says_a_word(
    tmp_path: Path,
) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        first = await begun(client, session)
        second = client.prompt(session, "count to 3")
        client.write(second)
        answer = await client.answered(second)

        told = answer["result"]["_meta"]["lastword"]
        assert answer["result"]["stopReason"] == "end_turn"
        assert (told["quiet"], told["receipt"]["reason"]) == (True, "superseded")
        cancelled = client.place(lambda m: m.get("id") == first["id"])
        assert client.heard[cancelled]["result"]["stopReason"] == "cancelled"
        assert client.text(cancelled) == "1 2 3"


async def test_prompts_that_wait_are_cancelled_with_the_one_that_goes(tmp_path: Path) -> None:
    async with editor(tmp_path, "--mode", "queue") as client:
        session = await client.new()
        first = await begun(client, session)
        second, third = client.prompt(session, "count to 3"), client.prompt(session, "hello")
        client.write(second, third, client.cancel(session))
        for request in (first, second, third):
            answer = await client.answered(request)
            assert answer["result"]["stopReason"] == "cancelled", request
        assert "1 2 3" not in client.text()


@pytest.mark.parametrize("mode", ["queue", "collect", "steer"])
async def test_in_every_mode_each_prompt_has_its_answer(tmp_path: Path, mode: str) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        await client.ask("session/set_mode", sessionId=session, modeId=mode)
        first = client.prompt(session, "count to 30")
        second = client.prompt(session, "count to 3")
        client.write(first, second)

        assert (await client.answered(first))["result"]["stopReason"] == "end_turn"
        assert (await client.answered(second))["result"]["stopReason"] == "end_turn"


async def test_a_prompt_that_is_refused_is_an_error_and_the_other_goes_on(tmp_path: Path) -> None:
    async with editor(tmp_path, "--mode", "refuse") as client:
        session = await client.new()
        first = client.prompt(session, "count to 30")
        second = client.prompt(session, "count to 3")
        client.write(first, second)

        assert "busy" in (await client.answered(second))["error"]["message"]
        assert (await client.answered(first))["result"]["stopReason"] == "end_turn"


async def test_a_request_can_be_called_off_by_its_id(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        request = await begun(client, session)
        params = {"requestId": request["id"]}
        client.write({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params})

        assert (await client.answered(request))["result"]["stopReason"] == "cancelled"


@pytest.mark.scenario("P1", part="processes")
@pytest.mark.scenario("P2", part="processes")
async def test_a_stubborn_family_is_gone_when_the_cancel_is_answered(tmp_path: Path) -> None:
    async with editor(tmp_path, "--yes") as client:
        session = await client.new()
        request = client.prompt(session, STUBBORN)
        client.write(request)
        await until(lambda: (tmp_path / "own").exists() and (tmp_path / "pid").exists())
        client.write(client.cancel(session))
        answer = await client.answered(request)

        receipt = answer["result"]["_meta"]["lastword"]["receipt"]
        assert answer["result"]["_meta"]["lastword"]["quiet"]
        assert len(receipt["processes"]) >= 3
        assert all(gone(process["pid"]) for process in receipt["processes"])


@pytest.mark.scenario("G1")
async def test_open_tool_calls_have_their_last_status_before_the_answer(tmp_path: Path) -> None:
    async with editor(tmp_path, "--yes") as client:
        session = await client.new()
        request = client.prompt(session, "run echo up; sleep 1000")
        client.write(request)
        await until(lambda: [u for u in client.updates() if u.get("status") == "in_progress"])
        client.write(client.cancel(session))
        await client.answered(request)

        [call] = client.updates("tool_call")
        *_, last = client.updates("tool_call_update")
        assert (call["title"], call["kind"]) == ("shell: echo up; sleep 1000", "execute")
        assert (last["toolCallId"], last["status"]) == (call["toolCallId"], "failed")
        assert "may have executed" in last["content"][0]["content"]["text"]
        assert client.heard[-1]["id"] == request["id"]


@pytest.mark.scenario("A5")
async def test_three_cancels_at_once_are_one_and_the_next_prompt_is_answered(
    tmp_path: Path,
) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        first = await begun(client, session)
        cancel, second = client.cancel(session), client.prompt(session, "count to 3")
        client.write(cancel, cancel, cancel, second)

        assert (await client.answered(first))["result"]["stopReason"] == "cancelled"
        assert (await client.answered(second))["result"]["stopReason"] == "end_turn"


@pytest.mark.scenario("T2", part="processes")
async def test_a_takeover_does_not_wait_for_a_stubborn_family_and_says_so(tmp_path: Path) -> None:
    async with editor(tmp_path, "--yes") as client:
        session = await client.new()
        first = client.prompt(session, STUBBORN)
        client.write(first)
        await until(lambda: (tmp_path / "own").exists() and (tmp_path / "pid").exists())
        second = client.prompt(session, "count to 50")
        client.write(second)
        answer = await client.answered(first)
        replaced = await client.answered(second)

        assert answer["result"] == {
            "stopReason": "cancelled",
            "_meta": {"lastword": {"quiet": False}},
        }
        told = replaced["result"]["_meta"]["lastword"]
        assert (told["quiet"], told["receipt"]["reason"]) == (True, "superseded")
        assert all(gone(process["pid"]) for process in told["receipt"]["processes"])


@pytest.mark.scenario("P4", part="processes")
async def test_a_pipe_that_a_grandchild_holds_open_delays_no_answer(tmp_path: Path) -> None:
    async with editor(tmp_path, "--yes") as client:
        session = await client.new()
        request = client.prompt(session, "run (setsid sleep 1000 &); echo up; sleep 1000")
        client.write(request)
        await until(lambda: [u for u in client.updates() if "up" in str(u.get("content"))])
        client.write(client.cancel(session))
        answer = await client.answered(request)

        processes = answer["result"]["_meta"]["lastword"]["receipt"]["processes"]
        assert len(processes) >= 2
        assert all(gone(process["pid"]) for process in processes)


@pytest.mark.scenario("X1", part="agent")
@pytest.mark.parametrize("keys", ["OPENAI", "ANTHROPIC"])
async def test_wherever_a_cancel_comes_the_next_request_is_one_that_a_provider_takes(
    tmp_path: Path, keys: str
) -> None:
    async with Provider() as provider:
        url = f"{provider.url}/v1" if keys == "OPENAI" else provider.url
        env = {f"{keys}_API_KEY": "k", f"{keys}_BASE_URL": url}
        async with editor(tmp_path, "--yes", env=env) as client:
            session = await client.new()
            for number, heard in enumerate(("agent_message_chunk", "tool_call", "in_progress")):
                call = Call("shell", {"command": f"sleep 1000; {number}"})
                provider.answer("I look. ", call)
                since = len(client.heard)
                request = client.prompt(session, f"go on, {number}")
                client.write(request)
                await until(lambda s=since, h=heard: h in str(client.updates(since=s)))
                client.write(client.cancel(session))
                assert (await client.answered(request))["result"]["stopReason"] == "cancelled"
            provider.say("All is well.")
            done = await client.say(session, "and now?")

    assert done["result"]["stopReason"] == "end_turn"
    assert not provider.refused
