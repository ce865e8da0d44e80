"""What can be typed behind a slash in an editor is what can be typed everywhere."""

from pathlib import Path

import pytest

from lastword.surfaces.commands import COMMANDS, SAID
from tests.acp.client import Client
from tests.acp.inside import inside
from tests.promise.workshop import until

PROGRAM = 'ask run_code: await write_file("a.txt", "A") | true'
HOLDS = "ask shell: sleep 300"  # it waits for a person


async def typed(client: Client, session: str, line: str) -> str:
    """What is said to a command."""
    since = len(client.heard)
    answer = await client.say(session, line)
    assert answer["result"]["stopReason"] == "end_turn"
    return client.text(since)


@pytest.mark.scenario("W52", part="acp")
async def test_an_editor_is_offered_every_command(tmp_path: Path) -> None:
    async with inside(tmp_path) as client:
        await client.new()
        await until(lambda: client.updates("available_commands_update"))
        [offered] = client.updates("available_commands_update")
        assert [one["name"] for one in offered["availableCommands"]] == [*COMMANDS, *SAID]


@pytest.mark.scenario("H5", part="acp")
@pytest.mark.scenario("H6", part="acp")
async def test_what_a_person_types_is_done_in_an_editor(tmp_path: Path) -> None:
    async with inside(tmp_path, rules=()) as client:
        session = await client.new()
        prompt = client.prompt(session, "!echo typed")
        client.write(prompt)
        await until(client.asked)
        await client.say(session, "/stop")
        assert (await client.answered(prompt))["result"]["stopReason"] == "cancelled"
        assert "became a summary" in await typed(client, session, "/compact")


@pytest.mark.scenario("W52", part="acp")
async def test_what_waits_is_listed_and_changed_in_an_editor(tmp_path: Path) -> None:
    async with inside(tmp_path, rules=()) as client:
        session = await client.new()
        assert await typed(client, session, "/queue") == "Nothing waits."
        assert "a new message: queue" in await typed(client, session, "/mode queue")
        client.write(client.prompt(session, HOLDS))
        await until(client.asked)
        second, third = client.prompt(session, "hello"), client.prompt(session, "goodbye")
        client.write(second, third)
        while await typed(client, session, "/queue") != "1. hello\n2. goodbye":
            pass
        assert await typed(client, session, "/queue move 2 1") == "1. goodbye\n2. hello"
        assert await typed(client, session, "/queue edit 2 hi") == "1. goodbye\n2. hi"
        assert await typed(client, session, "/queue remove 1") == "Removed: goodbye"
        assert "by its number in /queue: 1 to 1" in await typed(client, session, "/queue remove 9")
        assert "messages dropped: “hi”" in await typed(client, session, "/stop")
        assert "messages dropped: “hi”" in await typed(client, session, "/receipt")
        for prompt in (second, third):
            assert (await client.answered(prompt))["result"]["stopReason"] == "cancelled"


@pytest.mark.scenario("W52", part="acp")
async def test_a_program_that_waits_can_be_answered_by_a_command_in_an_editor(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, rules=()) as client:
        session = await client.new()
        assert await typed(client, session, "/programs") == "No program waits."
        await client.say(session, PROGRAM)
        await until(client.asked)
        told = await typed(client, session, "/programs")
        assert told.startswith("1. ? write_file wants to write a.txt (a new file of 1 line)")
        assert await typed(client, session, "/programs allow 1") == "Allowed: write_file"
        await until((tmp_path / "a.txt").exists)
        await until(lambda: any(m.get("method") == "$/cancel_request" for m in client.heard))
        assert await typed(client, session, "/programs") == "No program waits."


@pytest.mark.scenario("Y1", part="acp")
async def test_a_prompt_is_asked_anew_in_an_editor_and_answered_when_its_run_has_ended(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as client:
        session = await client.new()
        await client.say(session, "hello")
        since = len(client.heard)
        answer = await client.say(session, "/again goodbye")

        assert answer["result"]["stopReason"] == "end_turn"
        assert client.text(since)
        refused = await client.say(await client.new(), "/again")
        assert "no turn that could be asked anew" in refused["error"]["message"]
