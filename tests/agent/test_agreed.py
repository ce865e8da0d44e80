"""What a person agreed to is what is done: what has changed meanwhile is asked about again."""

from pathlib import Path

import pytest

from lastword import cells
from lastword.agent.tools.files import Files
from lastword.agent.tools.preview import preview
from lastword.surfaces.words import worded
from tests.agent.to_the_letter import Talk, call, talking
from tests.promise.workshop import until

CALLS = {
    "write": call("write_file", path="a.txt", text="new\n"),
    "edit": call("edit_file", path="a.txt", old="safe", new="SAFE", all=True),
}


def _changed(file: Path) -> str:
    file.write_text("safe\nwritten meanwhile\n", encoding="utf-8")
    return _held(file)


def _held(file: Path) -> str:
    return file.read_text(encoding="utf-8")


async def asked_again(talk: Talk, file: Path) -> None:
    """Change the file while the question is open, and agree to what was asked."""
    first = await talk.question()
    before = _changed(file)
    talk.questions.answer(first.id, True, first.generation)
    await until(lambda: [one for one in talk.questions.open() if one.id != first.id])
    assert _held(file) == before
    second = await talk.question()
    assert second.change
    assert any("written meanwhile" in text for _, text in second.change.lines)
    talk.questions.answer(second.id, True, second.generation)


@pytest.mark.scenario("W40", part="agent")
@pytest.mark.parametrize("kind", CALLS)
async def test_what_changed_after_the_question_is_asked_about_again(
    tmp_path: Path, kind: str
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("safe\n", encoding="utf-8")
    async with talking(tmp_path) as talk:
        talk.model.calls.append(CALLS[kind])
        ticket = await talk.session.send("go")
        await asked_again(talk, file)
        await ticket.outcome()
        assert file.read_text(encoding="utf-8") in ("new\n", "SAFE\nwritten meanwhile\n")


@pytest.mark.scenario("W40", part="agent")
async def test_a_new_file_that_is_there_by_now_is_asked_about_again(tmp_path: Path) -> None:
    async with talking(tmp_path) as talk:
        talk.model.calls.append(CALLS["write"])
        ticket = await talk.session.send("go")
        await asked_again(talk, tmp_path / "a.txt")
        await ticket.outcome()


@pytest.mark.scenario("W40", part="agent")
async def test_what_a_program_was_allowed_is_asked_about_again_if_the_file_changed(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old\n", encoding="utf-8")
    async with talking(tmp_path) as talk:
        source = "await write_file('a.txt', 'new')"
        await talk.does(call("run_code", source=source, pause=True))
        [stored] = await cells.paused(talk.runtime)
        assert stored.record.frontier
        [pending] = stored.record.frontier.pending
        file.write_text("written meanwhile\n", encoding="utf-8")
        talk.answering(False)
        ticket = await cells.resume(talk.session, stored.id, 1, allow=[pending.id])
        await ticket.outcome()

        assert [question.tool for question in talk.asked] == ["write_file"]
        assert file.read_text(encoding="utf-8") == "written meanwhile\n"


@pytest.mark.scenario("W40", part="agent")
def test_the_write_itself_looks_whether_it_is_what_was_agreed_to(tmp_path: Path) -> None:
    file, files = tmp_path / "a.txt", Files([tmp_path])
    file.write_text("safe\n", encoding="utf-8")
    arguments = {"path": "a.txt", "text": "new\n"}
    shown = preview(files, "write_file", arguments, lambda: True)
    assert shown
    file.write_text("safe, and more\n", encoding="utf-8")
    for write in (
        lambda: files.write_file("a.txt", "new\n", agreed=shown.against),
        lambda: files.edit_file("a.txt", "safe", "SAFE", agreed=shown.against),
    ):
        with pytest.raises(ValueError, match="not what it was when the person was asked"):
            write()
    assert file.read_text(encoding="utf-8") == "safe, and more\n"
    file.write_text("safe\n", encoding="utf-8")
    files.write_file("a.txt", "new\n", agreed=shown.against)
    assert file.read_text(encoding="utf-8") == "new\n"


HIDDEN = {
    "too long": (b"precious line\n" * 100_000, "a file of 1.4 MB that is not shown (too long)"),
    "latin": (b"caf\xe9\n" * 500, "a file of 2.5 KB that is not shown (not text)"),
    "data": (bytes(range(256)), "a file of 256 bytes that is not shown (not text)"),
}


@pytest.mark.scenario("W41", part="agent")
@pytest.mark.parametrize("kind", HIDDEN)
async def test_what_is_replaced_and_cannot_be_shown_is_not_told_as_a_new_file(
    tmp_path: Path, kind: str
) -> None:
    data, words = HIDDEN[kind]
    (tmp_path / "a.txt").write_bytes(data)
    async with talking(tmp_path) as talk:
        talk.model.calls.append(CALLS["write"])
        ticket = await talk.session.send("go")
        question = await talk.question()
        said = worded(question)
        assert said.summary == f"replaces {words}"
        assert said.lines == (("+", "new"),)

        with (tmp_path / "a.txt").open("ab") as file:
            file.write(b"more")
        talk.questions.answer(question.id, True, question.generation)
        await until(lambda: [one for one in talk.questions.open() if one.id != question.id])
        second = await talk.question()
        talk.questions.answer(second.id, True, second.generation)
        await ticket.outcome()
    assert (tmp_path / "a.txt").read_bytes() == b"new\n"
