"""A program of the agent's that waits: what it waits on is asked for like anything else."""

from pathlib import Path
from typing import Any

import pytest

from tests.agent.to_the_letter import Talk, call, talking
from tests.server.client import Client, served, upto

WRITE = "await write_file('a.txt', 'one\\nthree\\n')"
COMMAND = "await shell('git status\\nrm -rf \\u202e.')"


async def waiting(talk: Talk, client: Client, source: str) -> dict[str, Any]:
    """The one call that a program is left with, as the wire has it."""
    await talk.does(call("run_code", source=source, pause=True))
    told = (await client.get("/v1/cells")).json
    [pending] = told["cells"][0]["pending"]
    return pending


@pytest.mark.scenario("W38", part="server")
async def test_a_write_that_a_program_waits_on_is_shown_as_a_diff(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    async with talking(tmp_path) as talk, served(talk.runtime, questions=talk.questions) as client:
        pending = await waiting(talk, client, WRITE)

        assert pending["asks"] == "wants to write a.txt"
        assert (pending["kind"], pending["summary"]) == ("diff", "replaces 1 line with 1")
        shown = [(line["mark"], line["text"]) for line in pending["lines"]]
        assert shown == [(" ", "one"), ("-", "two"), ("+", "three")]
        assert [choice["label"] for choice in pending["choices"]] == ["Allow", "Deny"]


@pytest.mark.scenario("W38", part="server")
async def test_a_command_that_a_program_waits_on_is_shown_as_it_is(tmp_path: Path) -> None:
    async with talking(tmp_path) as talk, served(talk.runtime, questions=talk.questions) as client:
        pending = await waiting(talk, client, COMMAND)

        assert pending["asks"] == "wants to run a command"
        assert [line["text"] for line in pending["lines"]][:2] == ["git status", "rm -rf ⟨U+202E⟩."]
        assert any("cannot be seen" in note for note in pending["notes"])


@pytest.mark.scenario("W38", part="server")
async def test_who_watches_is_told_what_a_program_waits_on_in_the_same_words(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    async with talking(tmp_path) as talk, served(talk.runtime, questions=talk.questions) as client:
        async with client.events(talk.session.id) as events:
            await upto(events, "snapshot")
            await talk.does(call("run_code", source=WRITE, pause=True))
            heard: list[str] = []
            async for event in events:
                if event["kind"] == "cell" and event["data"]["pending"]:
                    heard.append(event["data"]["pending"][0]["summary"])
                if event["kind"] == "ended":
                    break
        assert heard[-1] == "replaces 1 line with 1"
