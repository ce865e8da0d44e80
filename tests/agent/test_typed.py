"""What a person types that no model is asked for: a command, and a summary; and AGENTS.md."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCalls

from lastword import Runtime
from lastword.agent.assistant import assistant
from lastword.agent.rehearsal import Rehearsal
from lastword.agent.undo.undo import undo
from lastword.core.entries import Called, Finished, Result, Summary, Text
from lastword.core.model import Outcome, Status
from tests.agent.to_the_letter import Model, Talk, talking
from tests.agent.trees import tree
from tests.promise.workshop import until


async def said(talk: Talk, text: str) -> str:
    """What was answered to it, as the person saw it."""
    before = len(await talk.session.log())
    await (await talk.session.send(text)).outcome()
    log = (await talk.session.log())[before:]
    return "".join(one.text for one in log if isinstance(one, Text))


class Asked(Model):
    """A model that remembers what it was asked."""

    def __init__(self, *calls: tuple[str, str]) -> None:
        super().__init__(*calls)
        self.instructions: list[str] = []
        self.requests = 0

    async def stream(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncGenerator[str | DeltaToolCalls]:
        self.requests += 1
        self.instructions.append(info.instructions or "")
        async for piece in super().stream(messages, info):
            yield piece


@pytest.mark.scenario("H5", part="agent")
async def test_a_command_that_a_person_typed_is_a_run_that_asks_and_says_what_it_wrote(
    tmp_path: Path,
) -> None:
    model = Asked()
    async with talking(tmp_path, model=model) as talk:
        talk.answering(True)
        told = await said(talk, "!echo one; echo two >&2; exit 3")
        log = await talk.session.log()
        shown = await talk.session.history()

    assert told == "`````\none\ntwo\n`````\nexit code 3"
    assert [one.subject for one in talk.asked] == ["echo one; echo two >&2; exit 3"]
    [made] = [one for one in log if isinstance(one, Called)]
    [came] = [one for one in log if isinstance(one, Result)]
    assert (made.name, came.status) == ("shell", Status.COMPLETED)
    assert [one.role for one in shown] == ["user", "call", "result", "assistant"]
    assert not model.requests


@pytest.mark.scenario("H5", part="agent")
async def test_a_command_that_is_not_allowed_is_not_run(tmp_path: Path) -> None:
    async with talking(tmp_path, "deny shell rm *") as talk:
        talk.answering(False)
        assert "the person did not allow it" in await said(talk, "! touch a")
        assert "forbids it" in await said(talk, "!rm -rf .")
    assert tree(tmp_path) == {}


@pytest.mark.scenario("H5", part="agent")
async def test_a_stop_ends_a_typed_command_and_what_it_changed_can_be_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "work"
    folder.mkdir()
    async with talking(folder, "allow shell") as talk:
        await talk.session.send("!echo up; echo x > a; echo > ../now; sleep 1000")
        await until((tmp_path / "now").exists)
        receipt = await talk.session.stop()
        assert receipt.quiet
        assert len(receipt.processes) >= 1
        assert "changed: 1 file" in receipt.words
        assert (await undo(talk.session)).done == ("a",)
    assert not (folder / "a").exists()


@pytest.mark.scenario("H5", part="agent")
async def test_of_what_a_command_writes_too_much_the_first_and_the_last_is_said(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path, "allow shell") as talk:
        told = await said(talk, "!seq 100000; printf 'no end of line'")
    assert told.startswith("`````\n1\n2\n3\n")
    assert "bytes are left out" in told
    assert told.endswith("100000\nno end of line\n`````\n")
    assert len(told) < 35_000


@pytest.mark.scenario("H6", part="agent")
async def test_what_was_said_becomes_a_summary_when_a_person_asks_for_it(tmp_path: Path) -> None:
    agent = assistant(Rehearsal(pace=0), roots=[tmp_path])
    async with Runtime(agent.engine) as runtime:
        talk = Talk(runtime, agent.questions, Model())
        assert "nothing to summarise" in await said(talk, "/compact")
        await said(talk, "hello")
        told = await said(talk, "/compact ")
        log = await talk.session.log()
        shown = await talk.session.history()

    assert told.startswith("2 turns before this one became a summary of 5 words.")
    assert [one.text for one in log if isinstance(one, Summary)] == [
        "The person said: /compact; hello."
    ]
    assert [one.role for one in shown] == ["summary", "user", "assistant"]


@pytest.mark.scenario("H6", part="agent")
async def test_a_summary_that_cannot_be_had_leaves_all_as_it_is(tmp_path: Path) -> None:
    async with talking(tmp_path) as talk:
        await talk.does()
        told = await said(talk, "/compact")  # this model answers nothing that is not streamed
        shown = await talk.session.history()
    assert told.startswith("It could not be summarised, so nothing is different: ")
    assert [one.role for one in shown] == ["user", "assistant"] * 2


@pytest.mark.scenario("H7")
async def test_agents_md_is_read_by_the_rules_and_the_person_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs.\nNever push.\n", encoding="utf-8")
    model = Asked()
    told: list[str] = []
    async with talking(tmp_path, model=model) as talk:
        feed = talk.session.feed
        for change in ("", "", "Be kind.\n"):
            with (tmp_path / "AGENTS.md").open("a", encoding="utf-8") as file:
                file.write(change)
            after = feed.last
            await talk.does()
            told.append(
                " ".join(event.text for event in feed.since(after) if "AGENTS" in event.text)
            )
    assert told == ["AGENTS.md was read: 2 lines", "", "AGENTS.md was read: 3 lines"]
    assert all("<AGENTS.md>\nUse tabs." in one for one in model.instructions)
    assert "Be kind." in model.instructions[-1]

    async with talking(tmp_path, "deny read_file *.md", model=model) as talk:
        await talk.does()
    assert "Use tabs" not in model.instructions[-1]


@pytest.mark.scenario("H7")
async def test_an_agents_md_that_leads_elsewhere_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret\n", encoding="utf-8")
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "AGENTS.md").symlink_to(tmp_path / "secret")
    model = Asked()
    async with talking(folder, model=model) as talk:
        await talk.does()
        [ended] = [one for one in await talk.session.log() if isinstance(one, Finished)]
    assert ended.outcome is Outcome.COMPLETED
    assert "secret" not in model.instructions[-1]
