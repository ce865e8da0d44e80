"""What git does is said in files below `.git`: to write one is asked for, whatever is allowed."""

from dataclasses import replace
from pathlib import Path

import pytest

from lastword.agent.rules import Rule
from tests.agent.to_the_letter import call, talking

ALLOWED = ("allow *", "allow write_file", "allow write_file .git/*", "allow edit_file")
HOOK = ".git/hooks/pre-commit"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".git" / "hooks").mkdir(parents=True)
    (tmp_path / ".git" / "config").write_text("[core]\n")
    (tmp_path / "hooks").symlink_to(".git/hooks")
    for name in ("store/HEAD", "store/objects/x", "sub/.git"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("gitdir: ../store")
    return tmp_path


@pytest.mark.scenario("W5", part="agent")
@pytest.mark.parametrize(
    "path",
    [HOOK, "./sub/../.git/config", "hooks/post-checkout", ".GIT/config", "sub/.git",
     "bare.git/config", "store/config", "store/hooks/pre-commit"],
)  # fmt: skip
async def test_a_write_below_git_is_asked_for_whatever_is_allowed(folder: Path, path: str) -> None:
    async with talking(folder, *ALLOWED) as talk:
        talk.answering(False)
        said = await talk.does(call("write_file", path=path, text="#!/bin/sh\nevil"))

    assert len(talk.asked) == 1
    assert "was not called: the person did not allow it" in said


@pytest.mark.scenario("W5", part="agent")
async def test_once_is_once_below_git_also_for_who_said_always(folder: Path) -> None:
    async with talking(folder, *ALLOWED) as talk:
        talk.answering(True, always=True)
        for _ in range(2):
            await talk.does(call("write_file", path=HOOK, text="true"))

    assert len(talk.asked) == 2


@pytest.mark.scenario("W5", part="agent")
async def test_who_allowed_everything_for_this_time_is_not_asked(folder: Path) -> None:
    async with talking(folder, replace(Rule.parse("allow *"), typed=True)) as talk:
        await talk.does(call("write_file", path=HOOK, text="true"))

    assert (folder / HOOK).read_text() == "true"


@pytest.mark.scenario("W5", part="agent")
async def test_other_files_are_written_as_the_rules_say(folder: Path) -> None:
    async with talking(folder, *ALLOWED) as talk:
        for path in (".gitignore", "git/config", "sub/a.txt"):
            assert "wrote" in await talk.does(call("write_file", path=path, text="x"))
