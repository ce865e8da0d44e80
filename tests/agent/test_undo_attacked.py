"""Undo where it is made hard: killed in the middle, on a full disk, in pieces, in deep folders."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lastword.agent.undo import tree as looking
from lastword.agent.undo.undo import NothingToUndo, changed, redo, undo
from lastword.surfaces.changes import take_back
from tests.agent.to_the_letter import call, talking
from tests.agent.trees import tree

_NAMES = ("a", "b", "c", "d/e")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "lastword" / "undo"


@pytest.fixture
def folder(tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "d").mkdir(parents=True)
    for name in _NAMES:
        (folder / name).write_text("before\n", encoding="utf-8")
        (folder / name).chmod(0o644)
    return folder


@pytest.fixture
def in_the_way(home: Path) -> Path:
    """Where copies would be kept there is something else."""
    home.parent.mkdir(parents=True)
    home.write_text("in the way", encoding="utf-8")
    return home


@pytest.mark.scenario("U16")
@pytest.mark.parametrize("number", [2, 1, 4])
async def test_an_undo_that_was_killed_goes_on_and_one_redo_brings_all_back(
    folder: Path, tmp_path: Path, number: int
) -> None:
    store = f"sqlite:{tmp_path / 's.db'}"
    async with talking(folder, "allow *", store=store) as talk:
        await talk.does(call("write_file", path="earlier", text="of an earlier answer\n"))
        before = tree(folder)
        await talk.does(call("shell", command=f"for f in {' '.join(_NAMES)}; do echo x > $f; done"))
    after = tree(folder)
    victim = [sys.executable, "-m", "tests.agent.undo_killed", str(folder), store, str(number)]
    done = await asyncio.to_thread(subprocess.run, victim, check=False)
    assert done.returncode == -signal.SIGKILL
    assert tree(folder) != before

    async with talking(folder, store=store) as talk:
        assert not (await undo(talk.session)).left
        assert tree(folder) == before
        assert not (await redo(talk.session)).left
        assert tree(folder) == after


@pytest.mark.scenario("U16")
async def test_after_some_paths_the_rest_of_the_same_answer_is_taken_back(folder: Path) -> None:
    async with talking(folder, "allow *") as talk:
        await talk.does(call("write_file", path="earlier", text="of an earlier answer\n"))
        await talk.does(call("shell", command="echo x > a; echo x > b"))
        assert (await undo(talk.session, paths=["a"])).done == ("a",)
        assert (await undo(talk.session)).done == ("b",)
        assert (folder / "earlier").exists()
        assert (await redo(talk.session)).done == ("b",)
        assert (await redo(talk.session)).done == ("a",)


@pytest.mark.scenario("U10")
async def test_folders_that_are_too_deep_are_told_and_the_answer_goes_on(folder: Path) -> None:
    line = f"mkdir -p {'x/' * 400}; echo there"
    async with talking(folder, "allow *") as talk:
        assert "there\n[exit code 0]" in await talk.does(call("shell", command=line))
        with pytest.raises(NothingToUndo, match="folders more than 100 deep"):
            await changed(talk.session)
    await asyncio.to_thread(subprocess.run, ["rm", "-rf", str(folder)], check=True)


@pytest.mark.scenario("U18")
async def test_another_name_that_somebody_gave_a_file_keeps_what_it_has(folder: Path) -> None:
    async with talking(folder, "allow *") as talk:
        await talk.does(call("shell", command="chmod 600 a; echo x > b"))
        for name in ("a", "b"):
            os.link(folder / name, folder / f"{name} of somebody")
        theirs = {name: told for name, told in tree(folder).items() if "somebody" in name}
        assert not (await undo(talk.session)).left

    now = tree(folder)
    assert {name: now[name] for name in theirs} == theirs
    assert now["a"] == now["b"] == ("file", 0o644, b"before\n")


@pytest.mark.scenario("U10")
async def test_who_takes_back_an_earlier_answer_is_told_what_is_not_known_of_a_later(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talking(folder, "allow *") as talk:
        await talk.does(call("write_file", path="a", text="x\n"))
        monkeypatch.setattr(looking, "MOST_FILES", 1)
        await talk.does(call("shell", command="echo x > b"))
        words = await take_back(talk.session, "")
    assert words.startswith("Taken back: a.\nWhat commands did after that is not known: there are")


@pytest.mark.scenario("U17")
async def test_where_nothing_can_be_written_down_commands_run_and_files_are_left(
    folder: Path, in_the_way: Path
) -> None:
    async with talking(folder, "allow *") as talk:
        said = await talk.does(
            call("shell", command="echo x > a; echo done"),
            call("write_file", path="b", text="x\n"),
        )
        told = "\n".join(event.text for event in talk.session.feed.since(0))

    assert "done\n[exit code 0]" in said
    assert "what commands did is not known: Not a directory" in told
    assert tree(folder)["b"][2] == b"before\n"


FULL = """
import resource, sys
from pathlib import Path
from lastword.agent.undo.journal import UndoJournal, read
from lastword.core.undo import FileState, Step
home, hard = Path(sys.argv[1]), resource.getrlimit(resource.RLIMIT_FSIZE)[1]
told = dict(run="r", epoch="e", undoes="", part=False, roots=["/w"], private=[[], []])
journal, new, failed = UndoJournal(home, "s", **told), FileState("file", 0o644, "m"), 0
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
for number in range(30):
    try:
        journal.step(Step(f"/w/{number}", None, new))
    except OSError:
        failed += 1
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        journal.step(Step("/w/later", None, new))
        break
assert failed == 1, failed
assert b"\\n{" in journal.path.read_bytes()[1990:], "no line was cut"
steps = read(journal.path).steps
assert [one.path for one in steps] == [f"/w/{n}" for n in range(number)] + ["/w/later"], steps
"""


@pytest.mark.scenario("U17")
def test_a_line_that_a_full_disk_has_cut_takes_no_other_with_it(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], check=True, env=dict(os.environ))
