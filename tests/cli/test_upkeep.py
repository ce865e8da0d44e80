"""What whoever runs a server types: backup, restore, prune, vacuum."""

import asyncio
import os
from pathlib import Path

import pytest

from lastword import Runtime
from tests.cli.test_records import address, kept, lastword
from tests.stores.files import by_hand, names_in

__all__ = ["kept"]  # a fixture

COMMANDS = {
    "backup": ("there.bak",),
    "restore": ("there.bak",),
    "prune": ("--older-than", "1d"),
    "vacuum": (),
}


def aged(store: Path, session: str) -> None:
    """Let it have been used long ago."""
    with by_hand(store) as db:
        db.execute("UPDATE sessions SET at = 1e9 WHERE id = ?", (session,))


def test_a_backup_is_made_and_restored_and_each_says_what_it_did(kept: Path) -> None:
    folder = kept.parent
    made = lastword("backup", "--store", address(kept), "kept.bak", cwd=folder)
    again = lastword("backup", "--store", address(kept), "kept.bak", cwd=folder)
    back = lastword("restore", "--store", "sqlite:new.db", "kept.bak", cwd=folder)
    listed = lastword("sessions", "--store", "sqlite:new.db", cwd=folder)

    bak = folder / "kept.bak"
    size = f"{bak.stat().st_size / 1e6:.1f} MB"
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout == f"Copied 2 sessions, {size}, to {bak}. The copy is whole.\n"
    assert (again.returncode, again.stdout) == (1, "")
    why = "is there already, and is not overwritten; nothing was copied"
    assert again.stderr == f"lastword backup: {bak} {why}\n"
    assert (back.returncode, back.stderr) == (0, "")
    assert back.stdout.startswith("Restored 2 sessions, ")
    assert listed.stdout == "calm\nstopped\n"


def test_a_store_that_was_restored_at_the_usual_place_is_known_there(kept: Path) -> None:
    """Nobody is asked whether it came with the folder."""
    here = kept.parent / "here"
    here.mkdir()
    home = str(kept.parent)
    lastword("backup", "--store", address(kept), str(kept.parent / "kept.bak"))
    lastword("restore", str(kept.parent / "kept.bak"), cwd=here, HOME=home, XDG_STATE_HOME="")

    talked = lastword(
        *("chat", "--model", "rehearsal", "-p", "hello"), cwd=here, HOME=home, XDG_STATE_HOME=""
    )

    assert (talked.returncode, talked.stderr) == (0, "")
    assert names_in(here) == ["lastword.db"]


@pytest.mark.scenario("O7")
async def test_what_is_old_is_listed_first_and_then_deleted_beside_a_server(kept: Path) -> None:
    async with Runtime(lambda _: asyncio.sleep(0), store=address(kept)) as runtime:
        await (await runtime.session("in use").send("hello")).outcome()
        for session in ("calm", "stopped", "in use"):
            aged(kept, session)

        listed = lastword("prune", "--older-than", "90d", "--dry-run", "--store", address(kept))
        before = lastword("sessions", "--store", address(kept))
        done = lastword("prune", "--older-than", "90d", "--store", address(kept))
        after = lastword("sessions", "--store", address(kept))

    assert (listed.returncode, listed.stderr) == (0, "")
    *rows, last = listed.stdout.splitlines()
    assert rows == [f"2001-09-09 01:46 UTC  {name}" for name in ("calm", "in use", "stopped")]
    assert last.startswith("Would delete 3 sessions, last used before ")
    assert before.stdout == "calm\nstopped\nin use\n"
    assert (done.returncode, done.stderr) == (0, "")
    kept_one, summary = done.stdout.splitlines()
    assert kept_one.startswith(f"Kept in use: session in use belongs to process {os.getpid()} on ")
    assert summary.startswith("Deleted 2 sessions, last used before ")
    assert after.stdout == "in use\n"


@pytest.mark.scenario("O8")
async def test_a_vacuum_waits_for_nobody_and_disturbs_nobody(kept: Path) -> None:
    async with Runtime(lambda _: asyncio.sleep(0), store=address(kept)) as runtime:
        await (await runtime.session("in use").send("hello")).outcome()
        refused = lastword("vacuum", "--store", address(kept))
    alone = lastword("vacuum", "--store", address(kept))

    assert (refused.returncode, refused.stdout) == (1, "")
    why = f"lastword vacuum: {kept} is in use by process {os.getpid()} on "
    assert refused.stderr.startswith(why)
    assert (alone.returncode, alone.stderr) == (0, "")
    assert alone.stdout.startswith(f"{kept} had 0.1 MB, and has 0.")


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_not_there_is_named_and_nothing_is_made(tmp_path: Path, command: str) -> None:
    done = lastword(command, *COMMANDS[command], "--store", "sqlite:lost.db", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    lost = tmp_path / ("there.bak" if command == "restore" else "lost.db")
    assert done.stderr.startswith(f"lastword {command}: {lost} does not exist; ")
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_a_store_that_is_no_file_is_refused(command: str) -> None:
    done = lastword(command, *COMMANDS[command], "--store", "memory:")

    assert (done.returncode, done.stdout) == (1, "")
    why = "memory: ends with its process; this is for sqlite:PATH"
    assert done.stderr == f"lastword {command}: {why}\n"


@pytest.mark.parametrize("age", ["", "90", "d", "0d", "-1d", "1.5d", "90 days", "9999999w"])
def test_an_age_that_means_nothing_is_answered_with_one_that_does(kept: Path, age: str) -> None:
    done = lastword("prune", f"--older-than={age}", "--store", address(kept))

    assert (done.returncode, done.stdout) == (2, "")
    assert f"such as 90d, and {age!r} is not" in done.stderr


def test_what_is_to_be_forgotten_has_to_be_said(kept: Path) -> None:
    done = lastword("prune", "--store", address(kept))

    assert done.returncode == 2
    assert "--older-than" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_fits_a_terminal(command: str) -> None:
    shown = lastword(command, "--help", COLUMNS="80")

    assert shown.returncode == 0
    assert [line for line in shown.stdout.splitlines() if len(line) > 100] == []
    assert "LASTWORD_STORE" in shown.stdout
