"""A client that we did not write, from the protocol's Python SDK, and what it makes of us."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from acp import PROTOCOL_VERSION, RequestError
from acp.schema import (
    AgentThoughtChunk,
    AvailableCommandsUpdate,
    ConfigOptionUpdate,
    CurrentModeUpdate,
    ToolCallProgress,
    ToolCallStart,
    UsageUpdate,
    UserMessageChunk,
)

from tests.acp.client import Client, editor
from tests.acp.schema import Message, Traffic
from tests.acp.sdk import Editor, sdk_editor
from tests.promise.workshop import until


async def begun(
    client: Editor, session: str, words: str = "tell me a story"
) -> asyncio.Task[object]:
    """A prompt that is being answered."""
    since = len(client.person.updates)
    answer = client.begin(session, words)
    await until(lambda: client.person.text(since).count(" ") > 3)
    return answer


async def test_the_sdk_is_told_who_we_are_and_is_answered(tmp_path: Path) -> None:
    async with sdk_editor(tmp_path) as client:
        us = await client.agent.initialize(protocol_version=PROTOCOL_VERSION)
        made = await client.agent.new_session(cwd=str(tmp_path))
        answer = await client.say(made.session_id, "count to 3")

        assert us.protocol_version == PROTOCOL_VERSION
        assert us.agent_info
        assert us.agent_info.name == "lastword"
        assert us.agent_capabilities
        assert us.agent_capabilities.load_session
        assert made.modes
        assert made.modes.current_mode_id == "takeover"
        assert answer.stop_reason == "end_turn"
        assert client.person.text() == "1 2 3"
        assert client.person.told(UsageUpdate)
        [commands] = client.person.told(AvailableCommandsUpdate)
        assert "stop" in [command.name for command in commands.available_commands]


async def test_the_sdk_reads_our_thoughts_calls_and_diffs(tmp_path: Path) -> None:
    async with sdk_editor(tmp_path) as client:
        session = await client.new()
        await client.say(session, "think about it")
        await client.say(session, "write made.txt: hello")

        assert client.person.told(AgentThoughtChunk)
        [call] = client.person.told(ToolCallStart)
        [diff] = call.content
        assert (diff.path, diff.new_text) == (str(tmp_path / "made.txt"), "hello")
        assert [place.path for place in call.locations] == [str(tmp_path / "made.txt")]
        assert client.person.told(ToolCallProgress)[-1].status == "completed"
        assert (tmp_path / "made.txt").read_text() == "hello"


async def test_what_the_sdk_s_person_chooses_is_what_is_done(tmp_path: Path) -> None:
    async with sdk_editor(tmp_path) as client:
        session = await client.new()
        for choice, status in (
            ("allow_once", "completed"),
            ("reject_once", "failed"),
            (None, "failed"),  # they withdraw
        ):
            client.person.choice = choice
            answer = await client.say(session, f"run touch {choice}")

            assert answer.stop_reason == "end_turn"
            assert client.person.asked[-1].kind == "execute"
            assert client.person.told(ToolCallProgress)[-1].status == status
            assert (tmp_path / f"{choice}").exists() is (status == "completed")
        assert len(client.person.asked) == 3


@pytest.mark.scenario("S1")
async def test_a_cancel_by_the_sdk_ends_the_text_and_nothing_comes_behind_it(
    tmp_path: Path,
) -> None:
    async with sdk_editor(tmp_path) as client:
        session = await client.new()
        answer = await begun(client, session)
        await client.agent.cancel(session_id=session)
        cancelled = await answer
        heard = len(client.person.updates)
        await client.say(session, "count to 3")

        assert getattr(cancelled, "stop_reason", "") == "cancelled"
        assert client.person.text(heard) == "1 2 3"


@pytest.mark.scenario("G5", part="acp")
async def test_a_cancel_while_the_sdk_s_person_thinks_runs_nothing_whatever_they_choose(
    tmp_path: Path,
) -> None:
    async with sdk_editor(tmp_path) as client:
        client.person.thinking = asyncio.Event()
        session = await client.new()
        answer = client.begin(session, "run touch made")
        await until(lambda: client.person.asked)
        await client.agent.cancel(session_id=session)
        assert (await answer).stop_reason == "cancelled"

        client.person.thinking.set()  # too late
        await client.say(session, "count to 3")
        assert not (tmp_path / "made").exists()


@pytest.mark.scenario("T1")
async def test_a_second_prompt_of_the_sdk_s_takes_over(tmp_path: Path) -> None:
    async with sdk_editor(tmp_path) as client:
        session = await client.new()
        first = await begun(client, session)
        since = len(client.person.updates)
        second = await client.say(session, "count to 3")

        assert getattr(await first, "stop_reason", "") == "cancelled"
        assert second.stop_reason == "end_turn"
        assert client.person.text(since).endswith("1 2 3")


async def test_the_sdk_loads_lists_and_closes_what_an_earlier_one_left(tmp_path: Path) -> None:
    async with sdk_editor(tmp_path) as client:
        session = await client.new()
        await client.say(session, "count to 3")
    async with sdk_editor(tmp_path) as client:
        listed = await client.agent.list_sessions(cwd=str(tmp_path))
        await client.agent.load_session(cwd=str(tmp_path), session_id=session)

        assert [(one.session_id, one.title) for one in listed.sessions] == [(session, "count to 3")]
        [said] = client.person.told(UserMessageChunk)
        assert said.content.text == "count to 3"
        assert client.person.text() == "1 2 3"
        await client.agent.close_session(session_id=session)
        with pytest.raises(RequestError, match="is not open"):
            await client.say(session, "hello")
        await client.agent.resume_session(session_id=session, cwd=str(tmp_path))
        assert (await client.say(session, "count to 3")).stop_reason == "end_turn"


async def test_the_sdk_can_set_what_a_new_message_does(tmp_path: Path) -> None:
    async with sdk_editor(tmp_path) as client:
        session = await client.new()
        await client.agent.set_session_mode(session_id=session, mode_id="queue")
        changed = await client.agent.set_config_option(
            config_id="on_message", session_id=session, value="refuse"
        )
        first = await begun(client, session)
        with pytest.raises(RequestError, match="busy"):
            await client.say(session, "count to 3")
        await client.agent.cancel(session_id=session)
        await first

        assert [option.current_value for option in changed.config_options] == ["refuse"]
        modes = [update.current_mode_id for update in client.person.told(CurrentModeUpdate)]
        assert modes == ["queue", "refuse"]
        assert client.person.told(ConfigOptionUpdate)


# every message, as the schema has it

KINDS = {
    "session/update",
    "session/request_permission",
    "$/cancel_request",
    "agent_message_chunk",
    "agent_thought_chunk",
    "user_message_chunk",
    "tool_call",
    "tool_call_update",
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "usage_update",
}


def witnessed(client: Client) -> Traffic:
    """All that is written from here on, noted beside what is heard."""
    traffic, write = Traffic(), client.write

    def noted(*messages: Message | bytes) -> None:
        for message in messages:
            if isinstance(message, dict):
                traffic.sent(message)
        write(*messages)

    client.write = noted
    return traffic


async def everything(client: Client) -> str:
    """Have the agent say whatever it can say."""
    await client.ask("initialize", protocolVersion=1)
    session = await client.new()
    client.allow = "allow_once"
    for words in (
        "think about it",
        "write made.txt: one line",
        "ask edit_file: made.txt | line | word",
        "read made.txt and missing.txt",
        "search line",
        "run echo out; echo err >&2; exit 3",
        "delegate count to 3",
        "ask fetch: http://127.0.0.1:9/",
        "badly: garble",
        "/receipt",
        "/mode queue",
        "/mode sing",
    ):
        await client.say(session, words)
    await client.ask("session/set_mode", sessionId=session, modeId="takeover")
    await client.ask(
        "session/set_config_option", sessionId=session, configId="on_message", value="takeover"
    )
    await stopped_in_the_middle(client, session)
    await client.ask("session/list")
    await client.ask("session/close", sessionId=session)
    await client.load(session)
    await client.ask("session/resume", sessionId=session, cwd=str(client.folder))
    await client.ask("session/delete", sessionId=session)
    for method in ("authenticate", "session/load", "session/prompt", "session/set_mode"):
        await client.ask(method)
    return session


async def stopped_in_the_middle(client: Client, session: str) -> None:
    """A stop while it speaks, while a command runs and while a question is open, and a takeover."""
    since, asked = len(client.heard), len(client.asked())
    await stopped(client, session, "tell me a story", lambda: client.text(since).count(" ") > 3)
    await stopped(client, session, "run echo up; sleep 1000", lambda: running(client, since))
    client.allow = None
    await stopped(client, session, "run touch made", lambda: len(client.asked()) > asked + 1)
    first, second = client.prompt(session, "tell me a story"), client.prompt(session, "count to 3")
    client.write(first, second)
    await client.answered(first)
    await client.answered(second)


async def stopped(
    client: Client, session: str, words: str, under_way: Callable[[], object]
) -> None:
    prompt = client.prompt(session, words)
    client.write(prompt)
    await until(under_way)
    client.write(client.cancel(session))
    await client.answered(prompt)


def running(client: Client, since: int) -> bool:
    calls = client.updates("tool_call_update", since)
    return any(call.get("status") == "in_progress" for call in calls)


async def test_every_message_is_as_the_protocol_s_schema_has_it(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        traffic = witnessed(client)
        await everything(client)
    for message in client.heard:
        traffic.hear(message)

    assert traffic.faults() == []
    assert traffic.kinds() >= KINDS
    answers = Counter("error" if "error" in m else "result" for m in traffic.heard if "id" in m)
    assert min(answers["error"], answers["result"]) > 3


def test_a_message_that_is_not_as_the_schema_has_it_would_be_found() -> None:
    def update(**more: object) -> Message:
        content = {"type": "text", "text": "hello"}
        told = {"sessionUpdate": "agent_message_chunk", "content": content, **more}
        return {
            "jsonrpc": "2.0",
            "method": "session/update",
            "params": {"sessionId": "s", "update": told},
        }

    traffic = Traffic()
    traffic.sent({"jsonrpc": "2.0", "id": 1, "method": "session/prompt"})
    traffic.hear(update())
    assert traffic.faults() == []

    wrong: list[Message] = [
        update(content={"type": "text"}),
        update(colour="red"),
        update(sessionUpdate="sings"),
        {"jsonrpc": "2.0", "method": "session/sing", "params": {}},
        {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "tired"}},
        {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "end_turn"}},
    ]
    for message in wrong:
        traffic.hear(message)
    assert len(traffic.faults()) == len(wrong)
