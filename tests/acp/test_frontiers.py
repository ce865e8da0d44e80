"""A program that waits for a person is asked about in the editor, whenever that is."""

from pathlib import Path

import pytest

from tests.acp.client import Client
from tests.acp.inside import inside
from tests.promise.workshop import until

PROGRAM = """ask run_code: await write_file("a.txt", "A")
await write_file("b.txt", "B") | true"""


async def at_frontier(client: Client, session: str) -> None:
    """The prompt is answered, and the program waits."""
    answer = await client.say(session, PROGRAM)
    assert answer["result"]["stopReason"] == "end_turn"
    await until(client.asked)


@pytest.mark.scenario("W38", part="acp")
async def test_what_a_program_waits_on_is_asked_for_and_goes_on_as_it_was_answered(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, rules=()) as client:
        session = await client.new()
        await at_frontier(client, session)
        [first] = client.asked()
        assert "write_file: a.txt" in str(first)
        assert "write_file wants to write a.txt (a new file of 1 line)" in str(first)
        client.answer(first, "allow_once")
        await until(lambda: len(client.asked()) == 2)
        assert (tmp_path / "a.txt").read_text() == "A"
        client.answer(client.asked()[1], "reject_once")
        await until(lambda: "did not allow it" in client.text())
        assert not (tmp_path / "b.txt").exists()


async def test_a_stop_takes_the_question_back_and_a_late_yes_does_nothing(tmp_path: Path) -> None:
    async with inside(tmp_path, rules=()) as client:
        session = await client.new()
        await at_frontier(client, session)
        [asked] = client.asked()
        client.write(client.cancel(session))
        await until(lambda: any(m.get("method") == "$/cancel_request" for m in client.heard))
        client.answer(asked, "allow_once")
        await client.say(session, "count to 1")
        assert not (tmp_path / "a.txt").exists()


async def test_nobody_is_asked_for_what_a_rule_allows(tmp_path: Path) -> None:
    async with inside(tmp_path, rules=("allow write_file",)) as client:
        session = await client.new()
        answer = await client.say(session, PROGRAM)
        assert answer["result"]["stopReason"] == "end_turn"
        await client.say(session, "count to 1")
        assert client.asked() == []
        assert (tmp_path / "b.txt").read_text() == "B"
