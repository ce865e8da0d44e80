"""Undo: what an answer changed in files is named, and taken back as it was."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lastword.agent.tools.roots import Roots
from lastword.agent.undo import tree as looking
from lastword.agent.undo.answer import AnswerNotes, UndoRoom
from lastword.agent.undo.copies import Copies
from lastword.agent.undo.journal import DAYS, prune
from lastword.agent.undo.undo import NothingToUndo, changed, redo, undo
from lastword.core.entries import Began
from lastword.surfaces.commands import COMMANDS
from tests.agent.to_the_letter import Model, Talk, call, talking
from tests.agent.trees import tree
from tests.promise.workshop import until

_SINCE = "somebody else has changed it since"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "lastword" / "undo"


@pytest.fixture
def folder(tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    (folder / "kept.txt").write_text("mine\n", encoding="utf-8")
    return folder


async def stopped_in(talk: Talk, folder: Path, line: str) -> str:
    """The receipt of a stop in the middle of a command, right after it has done this."""
    talk.model.calls.append(call("shell", command=f"{line}; echo > ../now; sleep 1000"))
    await talk.session.send("go")
    await until((folder.parent / "now").exists)
    return (await talk.session.stop()).words


async def killed(command: list[str]) -> int | None:
    return (await asyncio.to_thread(subprocess.run, command, check=False)).returncode


@pytest.mark.scenario("U1")
async def test_what_a_file_tool_changed_is_told_and_taken_back(folder: Path) -> None:
    before = tree(folder)
    async with talking(folder, "allow *") as talk:
        await talk.does(
            call("write_file", path="sub/new.txt", text="x\n"),
            call("edit_file", path="a.txt", old="two", new="three"),
        )
        told = await changed(talk.session)
        done = await undo(talk.session)

    assert [(one.path, one.became) for one in told.files] == [
        ("sub", "new"),
        ("sub/new.txt", "new"),
        ("a.txt", "changed"),
    ]
    lines = told.files[2].change
    assert lines
    assert lines.lines == ((" ", "one"), ("-", "two"), ("+", "three"))
    assert not done.left
    assert tree(folder) == before


@pytest.mark.scenario("U2")
@pytest.mark.scenario("U8")
async def test_what_a_command_changed_is_taken_back_whatever_it_was(folder: Path) -> None:
    (folder / "bin").write_bytes(b"\0\1\2")
    (folder / "link").symlink_to("a.txt")
    (folder / ".gitignore").write_text("ignored\n", encoding="utf-8")
    (folder / "ignored").write_text("i", encoding="utf-8")
    before = tree(folder)
    line = (
        "rm kept.txt; mv a.txt b.txt; chmod 755 bin; printf '\\0x' >> bin; echo j > ignored; "
        "ln -sfn b.txt link; mkdir -p d/e; echo n > d/e/f; chmod 500 d"
    )
    async with talking(folder, "allow *") as talk:
        await talk.does(call("shell", command=line))
        after = tree(folder)

        assert not (await undo(talk.session)).left
        assert tree(folder) == before

        assert not (await redo(talk.session)).left
        assert tree(folder) == after

        assert not (await undo(talk.session)).left
        assert tree(folder) == before


@pytest.mark.scenario("U3")
async def test_a_receipt_says_what_a_stopped_answer_changed_and_that_it_was_half_done(
    folder: Path,
) -> None:
    before = tree(folder)
    async with talking(folder, "allow *") as talk:
        said = await stopped_in(talk, folder, "echo 1 > a.txt; echo 2 > b.txt")
        done = await undo(talk.session)

    assert "changed: 2 files, +2 \N{MINUS SIGN}2: a.txt, b.txt; “echo 1 > a.txt" in said
    assert "was stopped in the middle" in said
    assert not done.left
    assert tree(folder) == before


@pytest.mark.scenario("U3")
async def test_an_answer_that_ends_says_what_it_changed(folder: Path) -> None:
    async with talking(folder, "allow *") as talk:
        told: list[str] = []
        following = talk.session.feed
        after = following.last
        await talk.does(call("edit_file", path="a.txt", old="two", new="2"))
        async for event in talk.session.events(after):
            told.append(event.text)
            if event.kind == "finished":
                break

    assert "Changed 1 file, +1 \N{MINUS SIGN}1: a.txt" in told


@pytest.mark.scenario("U4")
async def test_what_somebody_else_changed_since_is_left_and_named(folder: Path) -> None:
    async with talking(folder, "allow *") as talk:
        await talk.does(call("shell", command="echo 1 > a.txt; echo 2 > kept.txt; mkdir d"))
        (folder / "a.txt").write_text("the person's\n", encoding="utf-8")
        (folder / "d" / "theirs").write_text("theirs\n", encoding="utf-8")
        done = await undo(talk.session)

        assert done.done == ("kept.txt",)
        assert [path for path, _ in done.left] == ["a.txt", "d"]
        assert dict(done.left)["a.txt"] == _SINCE
        assert (folder / "a.txt").read_text(encoding="utf-8") == "the person's\n"
        assert (folder / "d" / "theirs").exists()

        await undo(talk.session, paths=["a.txt"], anyway=True)
        assert (folder / "a.txt").read_text(encoding="utf-8") == "one\ntwo\n"
        await redo(talk.session)
        assert (folder / "a.txt").read_text(encoding="utf-8") == "the person's\n"


@pytest.mark.scenario("U5")
async def test_of_two_sessions_in_a_folder_each_takes_back_its_own(folder: Path) -> None:
    async with talking(folder, "allow *") as talk:
        other = Talk(talk.runtime, talk.questions, talk.model)
        talk.model.calls.append(call("shell", command="echo > ../now; cat ../go; echo x > a.txt"))
        os.mkfifo(folder.parent / "go")
        ticket = await talk.session.send("go")
        await until((folder.parent / "now").exists)
        model = other.model
        model.calls.append(call("write_file", path="kept.txt", text="the other's\n"))
        await (await talk.runtime.session("other").send("go")).outcome()
        (folder.parent / "go").write_text("", encoding="utf-8")
        await ticket.outcome()

        assert [one.path for one in (await changed(talk.session)).files] == ["a.txt"]
        await undo(talk.session)
        assert (folder / "a.txt").read_text(encoding="utf-8") == "one\ntwo\n"
        assert (folder / "kept.txt").read_text(encoding="utf-8") == "the other's\n"
        await undo(talk.runtime.session("other"))
        assert (folder / "kept.txt").read_text(encoding="utf-8") == "mine\n"


@pytest.mark.scenario("U5")
async def test_what_two_commands_at_once_may_both_have_done_is_left_and_named(
    folder: Path,
) -> None:
    async with talking(folder, "allow *") as talk:
        talk.model.calls.append(call("shell", command="echo > ../now; cat ../go; echo x > a.txt"))
        os.mkfifo(folder.parent / "go")
        ticket = await talk.session.send("go")
        await until((folder.parent / "now").exists)
        talk.model.calls.append(call("shell", command="echo y > kept.txt"))
        await (await talk.runtime.session("other").send("go")).outcome()
        (folder.parent / "go").write_text("", encoding="utf-8")
        await ticket.outcome()
        done = await undo(talk.session)

    assert not done.done
    assert all("nobody can tell whose it is" in why for _, why in done.left)
    assert (folder / "a.txt").read_text(encoding="utf-8") == "x\n"


@pytest.mark.scenario("U6")
async def test_it_is_taken_back_after_a_restart(folder: Path, tmp_path: Path) -> None:
    before, store = tree(folder), f"sqlite:{tmp_path / 's.db'}"
    async with talking(folder, "allow *", store=store) as talk:
        await talk.does(call("shell", command="rm *"), call("write_file", path="b", text="b"))
    async with talking(folder, store=store) as talk:
        done = await undo(talk.session)

    assert not done.left
    assert tree(folder) == before


@pytest.mark.scenario("U6")
async def test_a_session_of_the_same_name_elsewhere_has_nothing_to_take_back(folder: Path) -> None:
    async with talking(folder, "allow *") as talk:
        await talk.does(call("write_file", path="b", text="b"))
    async with talking(folder, "allow *") as talk:
        await talk.does()
        with pytest.raises(NothingToUndo):
            await undo(talk.session)
    assert (folder / "b").exists()


@pytest.mark.scenario("U7")
@pytest.mark.parametrize("made", [False, True])
async def test_a_file_tool_that_was_killed_as_it_wrote_is_taken_back(
    folder: Path, made: bool
) -> None:
    async with talking(folder, "allow *") as talk:
        await talk.does()
        [run] = [one.run for one in await talk.session.log() if isinstance(one, Began)]
        answer = AnswerNotes(UndoRoom.of(Roots([folder])), "s", run, talk.session.feed.epoch)
        writing = answer.writing("a.txt", b"new\n")
        writing.__enter__()  # and nobody comes to its end
        if made:
            (folder / "a.txt").write_bytes(b"new\n")
        done = await undo(talk.session)
        writing.__exit__(None, None, None)
        answer.close()

    assert not done.left
    assert (folder / "a.txt").read_text(encoding="utf-8") == "one\ntwo\n"


@pytest.mark.scenario("U7")
async def test_what_a_command_did_as_everything_was_killed_is_named_and_left(
    folder: Path, tmp_path: Path
) -> None:
    store = f"sqlite:{tmp_path / 's.db'}"
    calls = [
        call("write_file", path="kept.txt", text="mine too\n"),
        call("shell", command="echo half > a.txt; echo > ../now; sleep 1000"),
    ]
    command = [sys.executable, "-m", "tests.agent.undo_victim", str(folder), store]
    assert await killed([*command, json.dumps(calls)]) == -signal.SIGKILL
    async with talking(folder, store=store) as talk:
        done = await undo(talk.session)
        assert [path for path, _ in done.left] == ["a.txt"]
        assert "nobody can tell whether that did it" in done.left[0][1]
        assert (folder / "kept.txt").read_text(encoding="utf-8") == "mine\n"
        assert (folder / "a.txt").read_text(encoding="utf-8") == "half\n"
        await undo(talk.session, paths=["a.txt"], anyway=True)

    assert (folder / "a.txt").read_text(encoding="utf-8") == "one\ntwo\n"


@pytest.mark.scenario("U9", part="chat")
async def test_it_can_be_typed(folder: Path) -> None:
    async with talking(folder, "allow *") as talk:
        await talk.does(call("edit_file", path="a.txt", old="two", new="three"))

        class Here:
            session = talk.session

        async def typed(name: str, words: str = "") -> str:
            said = await COMMANDS[name].act(Here(), words)  # type: ignore[arg-type]  # all it asks
            assert isinstance(said, str)
            return said

        assert "- two\n  + three" in await typed("diff")
        assert await typed("undo") == "Taken back: a.txt."
        assert (folder / "a.txt").read_text(encoding="utf-8") == "one\ntwo\n"
        assert await typed("redo") == "Brought back: a.txt."
        assert (folder / "a.txt").read_text(encoding="utf-8") == "one\nthree\n"


@pytest.mark.scenario("U10")
async def test_where_there_is_too_much_it_is_said_and_file_tools_are_covered(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "MOST_FILES", 1)
    async with talking(folder, "allow *") as talk:
        await talk.does(
            call("shell", command="echo x > kept.txt"), call("write_file", path="a.txt", text="y")
        )
        told = await changed(talk.session)
        done = await undo(talk.session)

    assert any(
        "What commands did is not known: there are more than 1 files" in n for n in told.notes
    )
    assert done.done == ("a.txt",)
    assert (folder / "kept.txt").read_text(encoding="utf-8") == "x\n"


@pytest.mark.scenario("U12")
async def test_a_process_that_was_kept_and_still_writes_is_named(folder: Path) -> None:
    line = "echo 1 > a.txt; cat ../go; echo 2 > a.txt; echo > ../now"
    os.mkfifo(folder.parent / "go")
    async with talking(folder, "allow *") as talk:
        await talk.does(call("shell", command=line, background=True))
        told = await changed(talk.session)
        (folder.parent / "go").write_text("", encoding="utf-8")
        await until((folder.parent / "now").exists)
        done = await undo(talk.session)

    assert any(line[:20] in note and "went on" in note for note in told.notes)
    assert done.left == (("a.txt", _SINCE),)


@pytest.mark.scenario("U13")
async def test_nothing_is_taken_back_while_an_answer_is_being_made(folder: Path) -> None:
    async with talking(folder, "allow *", model=Model(call("shell", command="sleep 1000"))) as talk:
        await talk.session.send("go")
        await until(lambda: talk.session.active)
        with pytest.raises(NothingToUndo, match="stop it first"):
            await undo(talk.session)


@pytest.mark.scenario("U14")
async def test_a_link_that_came_in_the_way_leads_nowhere(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text("outside\n", encoding="utf-8")
    async with talking(folder, "allow *") as talk:
        await talk.does(call("write_file", path="d/f", text="inside\n"))
        (folder / "d" / "f").unlink()
        (folder / "d").rmdir()
        (folder / "d").symlink_to(outside)
        done = await undo(talk.session)

    assert done.left
    assert (outside / "f").read_text(encoding="utf-8") == "outside\n"


@pytest.mark.scenario("U15")
async def test_copies_go_with_the_last_that_speaks_of_them(folder: Path, home: Path) -> None:
    async with talking(folder, "allow *") as talk:
        await talk.does(call("write_file", path="a.txt", text="new\n"))
    copies = Copies(home)
    [journal] = (home / "journals").glob("*.jsonl")
    begun, day = journal.stat().st_mtime, 86_400

    prune(home, copies, begun + day)
    assert copies.of(copies.keep(b"one\ntwo\n")) == b"one\ntwo\n"
    assert journal.exists()
    assert journal.stat().st_mode & 0o077 == 0

    prune(home, copies, begun + (DAYS + 1) * day)
    assert not journal.exists()
    assert copies.size() == 0


@pytest.mark.scenario("U1")
async def test_a_child_run_changes_for_the_answer_that_began_it(folder: Path) -> None:
    before = tree(folder)
    model = Model(call("delegate", task="do"), call("write_file", path="c", text="child's\n"))
    async with talking(folder, "allow *", model=model) as talk:
        await talk.does()
        assert (folder / "c").exists()
        await undo(talk.session)
    assert tree(folder) == before
