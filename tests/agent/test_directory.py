"""Where commands begin: in what was looked up, and nowhere else, whatever a command does."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from lastword import Run, Runtime, Session
from lastword.agent.about import begins
from lastword.agent.tools.shell import Shell
from lastword.errors import SpawnFailed
from tests.agent.call_by_call import talking
from tests.meter import open_files
from tests.promise.workshop import until

#: what a command may make of the file in which its shell notes where it ends
SWAPPED = {
    "a pipe": 'rm "$lastword_note"; mkfifo "$lastword_note"',
    "no end": 'ln -sf /dev/zero "$lastword_note"',
    "a directory": 'rm "$lastword_note"; mkdir "$lastword_note"',
    "nothing": 'rm "$lastword_note"',
    "no folder": 'rm -rf "$(dirname "$lastword_note")"',
    "closed": 'chmod 0 "$lastword_note"; trap - EXIT',
}


@pytest.mark.scenario("P33", part="agent")
@pytest.mark.parametrize("line", SWAPPED.values(), ids=SWAPPED)
@pytest.mark.parametrize("noted", [False, True])
async def test_what_a_command_makes_of_its_note_keeps_no_result_back(
    tmp_path: Path, line: str, noted: bool
) -> None:
    shell = Shell(tmp_path, cd_lasts=True)
    swap = line if noted else f"{line}; trap - EXIT"

    async with talking() as (talk, _):
        said = await talk.does(lambda run: shell.run(run, f"{swap}; echo done"))
        assert said == f"done\n[exit code 0; in {tmp_path}]"
        assert await talk.does(lambda run: shell.run(run, "pwd")) == (
            f"{tmp_path}\n[exit code 0; in {tmp_path}]"
        )


@pytest.mark.scenario("P33", part="agent")
@pytest.mark.parametrize(
    "said",
    ["head -c 100000000 /dev/zero", "yes /a | head -c 10000", "echo", "printf '/\\0'", "echo a b"],
)
async def test_a_note_that_is_no_path_keeps_no_result_back(tmp_path: Path, said: str) -> None:
    shell = Shell(tmp_path, cd_lasts=True)
    line = f'{said} >"$lastword_note"; trap - EXIT; echo done'

    async with talking() as (talk, _):
        told = await talk.does(lambda run: shell.run(run, line))
    assert told.startswith(f"done\n[exit code 0; the next begins in {tmp_path}: ")


@pytest.mark.scenario("P33", part="agent")
async def test_who_removes_the_directory_it_is_in_gets_its_result(tmp_path: Path) -> None:
    shell = Shell(tmp_path, cd_lasts=True)
    line = "mkdir build; cd build; rmdir ../build; echo important; set -C"

    async with talking() as (talk, _):
        assert await talk.does(lambda run: shell.run(run, line)) == (
            f"important\n[exit code 0; the next begins in {tmp_path}: the directory in which it "
            "ended is gone]"
        )
        assert "exit code 0" in await talk.does(lambda run: shell.run(run, "pwd"))


@pytest.mark.scenario("P33", part="agent")
async def test_where_nothing_was_noted_it_is_said_where_the_next_begins(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    shell = Shell(tmp_path, cd_lasts=True)

    async with talking() as (talk, _):
        said = await talk.does(lambda run: shell.run(run, "exec true", workdir="sub"))
    assert said == f"[it wrote nothing]\n[exit code 0; the next begins in {tmp_path}]"


@pytest.mark.scenario("P33", part="agent")
async def test_no_descriptor_is_left_of_commands_that_go_on_or_end(tmp_path: Path) -> None:
    shell = Shell(tmp_path, cd_lasts=True)
    async with talking() as (talk, _):
        await talk.does(lambda run: shell.run(run, "true"))
        before = open_files()
        for line in ("true", "cd /", "exec true"):
            await talk.does(lambda run, line=line: shell.run(run, line))
        assert open_files() == before


@pytest.mark.scenario("P33", part="agent")
async def test_a_session_made_again_begins_where_the_first_did_and_one_at_rest_goes_on(
    tmp_path: Path,
) -> None:
    (tmp_path / "sub").mkdir()
    shell, said = Shell(tmp_path, cd_lasts=True), list[str]()

    async def engine(run: Run) -> None:
        said.append(await shell.run(run, run.message.text))

    async def ask(session: Session, text: str) -> str:
        await (await session.send(text)).outcome()
        return said[-1].partition("\n")[0]

    async with Runtime(engine, level="tree", rest=0.05) as runtime:
        await ask(runtime.session("s"), "cd sub")
        await until(lambda: not runtime.at_hand)
        assert await ask(runtime.session("s"), "pwd") == f"{tmp_path}/sub"
        await runtime.delete("s")
        assert await ask(runtime.session("s"), "pwd") == str(tmp_path)


@pytest.mark.scenario("P33", part="agent")
async def test_a_command_begins_where_it_was_judged_to(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    shell = Shell(tmp_path, cd_lasts=True)

    async def judged(run: Run) -> str:
        await shell.run(run, "cd sub")  # another call of the same answer
        begins.set(str(tmp_path))
        try:
            return await shell.run(run, "pwd")
        finally:
            begins.set(None)

    async with talking() as (talk, _):
        assert (await talk.does(judged)).startswith(f"{tmp_path}\n")


@pytest.mark.scenario("P33", part="agent")
@pytest.mark.parametrize("other", ["link", "directory"])
async def test_a_directory_that_was_swapped_after_it_was_looked_up_is_not_begun_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    outside, root, programs = (tmp_path / name for name in ("outside", "root", "bin"))
    for folder in (outside, root / "d" / ".git", programs):
        folder.mkdir(parents=True)
    made = f"ln -s {outside} {root}/d" if other == "link" else f"mkdir {root}/d"
    git = programs / "git"  # which is asked after the directory was looked up
    git.write_text(f"#!/bin/sh\n[ -e {root}/moved ] || {{ mv {root}/d {root}/moved; {made}; }}\n")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    shell = Shell(root)

    async with talking() as (talk, _):
        with pytest.raises(SpawnFailed, match="is another directory by now"):
            await talk.does(lambda run: shell.run(run, "touch made", workdir="d"))
        await asyncio.to_thread(shutil.rmtree, root / "moved")
        said = await talk.does(lambda run: shell.run(run, "pwd", workdir="."))
    assert said == f"{root}\n[exit code 0]"
    assert not [name for _, _, names in os.walk(tmp_path) for name in names if name == "made"]
