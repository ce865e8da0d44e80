"""What a person sees of what a store holds."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lastword import Run, Runtime
from lastword.core.model import SessionId
from lastword.stores.codec import decode
from tests.cli.test_doctor import without_rights
from tests.stores.files import by_hand, names_in, opened, put

LASTWORD = [sys.executable, "-X", "utf8", "-W", "error", "-m", "lastword"]
OF_A_SESSION = ("transcript", "receipts", "export", "delete")
ODD = "naïve \udc80 日本 \u2028 | tab\t"


def lastword(
    *arguments: str, cwd: Path | None = None, before: tuple[str, ...] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name != "LASTWORD_STORE"}
    return subprocess.run(
        [*before, *LASTWORD, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=cwd,
        env=inherited | environment,
    )


def address(path: Path) -> str:
    return f"sqlite:{path}"


@pytest.fixture
async def kept(tmp_path: Path) -> Path:
    """Two sessions: one was stopped while it answered, in the other all went well."""
    path, said = tmp_path / "kept.db", asyncio.Event()

    async def engine(run: Run) -> None:
        await run.emit(f"You said: {run.message.text}\nand I heard.")
        if run.message.text == "tell me more":
            said.set()
            await asyncio.Event().wait()

    async with Runtime(engine, store=address(path)) as runtime:
        ticket = await runtime.session("calm").send(ODD)
        await ticket.outcome()
        await runtime.session("stopped").send("tell me more")
        await said.wait()
        await runtime.session("stopped").stop()
    return path


def test_the_sessions_of_a_store_are_listed_a_line_each(kept: Path) -> None:
    shown = lastword("sessions", "--store", address(kept))

    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.splitlines() == ["calm", "stopped"]


def test_a_transcript_shows_who_said_what_and_that_it_was_stopped(kept: Path) -> None:
    shown = lastword("transcript", "stopped", "--store", address(kept))

    assert (shown.returncode, shown.stderr) == (0, "")
    lines = shown.stdout.splitlines()
    assert lines[:3] == ["> tell me more", "< You said: tell me more", "  and I heard."]
    assert lines[3].startswith("# ")
    assert "stopped" in lines[3]


def test_a_receipt_says_what_was_stopped(kept: Path) -> None:
    shown = lastword("receipts", "stopped", "--store", address(kept))

    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith("Stopped stopped: 1 answer cut off, quiet after ")
    [_, unseen] = shown.stdout.splitlines()
    assert unseen.startswith("  cannot be seen: ")


def test_a_session_in_which_nothing_was_stopped_has_no_receipts_and_it_says_so(
    kept: Path,
) -> None:
    shown = lastword("receipts", "calm", "--store", address(kept))

    assert (shown.returncode, shown.stdout) == (0, "Nothing was stopped in calm.\n")


@pytest.mark.parametrize("session", ["calm", "stopped"])
async def test_an_export_is_a_json_object_a_line_from_which_all_can_be_read_back(
    kept: Path, session: str
) -> None:
    shown = lastword("export", session, "--store", address(kept))

    assert (shown.returncode, shown.stderr) == (0, "")
    objects = [json.loads(line) for line in shown.stdout.split("\n") if line]
    async with opened(kept) as store:
        entries = await store.entries(SessionId(session))
    assert entries
    assert tuple(decode(plain.pop("kind"), json.dumps(plain)) for plain in objects) == entries


def test_a_deleted_session_is_gone_and_the_others_are_not(kept: Path) -> None:
    deleted = lastword("delete", "calm", "--store", address(kept))
    left = lastword("sessions", "--store", address(kept))
    again = lastword("delete", "calm", "--store", address(kept))

    assert (deleted.returncode, deleted.stdout, deleted.stderr) == (0, "Deleted calm.\n", "")
    assert left.stdout.splitlines() == ["stopped"]
    assert again.returncode == 1
    with by_hand(kept) as db:
        assert db.execute("SELECT count(*) FROM entries WHERE body LIKE '%naïve%'").fetchone() == (
            0,
        )


async def test_a_session_that_a_living_process_has_is_not_deleted(kept: Path) -> None:
    async with Runtime(lambda _: asyncio.sleep(0), store=address(kept)) as runtime:
        ticket = await runtime.session("calm").send("still here?")
        await ticket.outcome()

        refused = lastword("delete", "calm", "--store", address(kept))
        read = lastword("transcript", "calm", "--store", address(kept))

        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.startswith(
            f"lastword delete: session calm belongs to process {os.getpid()} on "
        )
        assert len(refused.stderr.splitlines()) == 1
        assert "> still here?" in read.stdout  # whoever only reads is not kept out
        assert "calm" in await runtime.sessions()


@pytest.mark.parametrize("command", OF_A_SESSION)
def test_a_session_that_is_not_there_is_an_error_that_names_it(kept: Path, command: str) -> None:
    shown = lastword(command, "nobody", "--store", address(kept))
    listed = lastword("sessions", "--store", address(kept))

    assert (shown.returncode, shown.stdout) == (1, "")
    assert shown.stderr == f"lastword {command}: there is no session 'nobody' there\n"
    assert listed.stdout.splitlines() == ["calm", "stopped"]


@pytest.mark.parametrize("command", ["sessions", *OF_A_SESSION, "doctor"])
def test_to_look_into_a_file_that_is_not_there_makes_none(tmp_path: Path, command: str) -> None:
    session = ["s"] if command in OF_A_SESSION else []

    shown = lastword(command, *session, "--store", "sqlite:lost.db", cwd=tmp_path)

    assert shown.returncode == 1
    said = " ".join((shown.stdout if command == "doctor" else shown.stderr).split())
    assert f"{tmp_path / 'lost.db'} does not exist; say which file" in said
    assert names_in(tmp_path) == []


def test_to_look_into_an_empty_file_makes_no_store_of_it(tmp_path: Path) -> None:
    put(tmp_path / "new.db", b"")

    shown = lastword("sessions", "--store", "sqlite:new.db", cwd=tmp_path)

    assert (shown.returncode, shown.stdout) == (1, "")
    assert "new.db is empty; say which file" in shown.stderr
    assert (tmp_path / "new.db").read_bytes() == b""


@pytest.mark.parametrize("command", ["sessions", *OF_A_SESSION, "doctor"])
def test_a_file_that_is_no_database_is_refused_and_left_as_it_was(
    tmp_path: Path, command: str
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("milk, eggs\n" * 500)
    session = ["s"] if command in OF_A_SESSION else []

    shown = lastword(command, *session, "--store", address(path))

    assert shown.returncode == 1
    assert "Traceback" not in shown.stderr
    said = " ".join((shown.stdout if command == "doctor" else shown.stderr).split())
    assert "the file is damaged, or not a database" in said
    assert path.read_text() == "milk, eggs\n" * 500
    assert names_in(tmp_path) == ["notes.txt"]


def test_an_address_that_means_nothing_is_answered_with_those_that_do() -> None:
    shown = lastword("sessions", "--store", "redis:somewhere")

    assert (shown.returncode, shown.stdout) == (1, "")
    assert "'sqlite:PATH'" in shown.stderr


def test_the_store_may_be_named_by_the_environment_or_be_the_usual_file(kept: Path) -> None:
    named = lastword("sessions", LASTWORD_STORE=address(kept))
    beside = lastword(
        "sessions", "--store", "sqlite:kept.db", cwd=kept.parent, LASTWORD_STORE="sqlite:lost.db"
    )
    kept.rename(kept.parent / "lastword.db")
    usual = lastword("sessions", cwd=kept.parent)

    assert named.stdout == beside.stdout == usual.stdout == "calm\nstopped\n"


def test_a_home_may_be_written_as_in_a_shell(kept: Path) -> None:
    shown = lastword("sessions", "--store", "sqlite:~/kept.db", HOME=str(kept.parent))

    assert shown.stdout == "calm\nstopped\n"


@pytest.mark.parametrize("command", ["sessions", *OF_A_SESSION])
def test_the_help_of_a_command_fits_a_terminal(command: str) -> None:
    shown = lastword(command, "--help", COLUMNS="80")

    assert shown.returncode == 0
    assert [line for line in shown.stdout.splitlines() if len(line) > 80] == []
    assert "LASTWORD_STORE" in shown.stdout


# the doctor


def test_the_doctor_finds_a_store_whole_and_counts_its_sessions(kept: Path) -> None:
    asked = lastword("doctor", "--level", "group", "--store", address(kept))
    by_environment = lastword("doctor", "--level", "group", LASTWORD_STORE=address(kept))
    not_asked = lastword("doctor", "--level", "group")

    whole = f"\n\nstore: {address(kept)} is whole, 2 sessions\n"
    for told in (asked, by_environment):
        assert (told.returncode, told.stderr) == (0, "")
        assert told.stdout.endswith(whole)
    assert "store" not in not_asked.stdout


def test_the_doctor_says_what_is_missing_from_a_store(kept: Path) -> None:
    with by_hand(kept) as db:
        db.execute("DELETE FROM entries WHERE number = 2 AND session = 1")

    told = lastword("doctor", "--level", "group", "--store", address(kept))

    assert (told.returncode, told.stderr) == (1, "")
    _, _, about = told.stdout.partition(f"\nstore: {address(kept)} is NOT whole\n")
    assert about == "  wrong      Session calm: entries are missing from its log.\n"


def test_the_doctor_says_that_pages_of_a_file_are_damaged(kept: Path) -> None:
    content = bytearray(kept.read_bytes())
    content[-2 * 4096 :] = b"\xa5" * (2 * 4096)
    kept.write_bytes(content)

    told = lastword("doctor", "--level", "group", "--store", address(kept))

    assert (told.returncode, told.stderr) == (1, "")
    assert "the file is damaged" in told.stdout.lower()


def test_a_level_that_cannot_be_had_does_not_keep_the_doctor_from_the_store(
    kept: Path,
) -> None:
    told = lastword(
        *("doctor", "--level", "sealed", "--store", address(kept)), before=without_rights()
    )

    assert (told.returncode, told.stderr) == (1, "")
    assert "\nlevel: sealed cannot be had here\n" in told.stdout
    assert f"\nstore: {address(kept)} is whole, 2 sessions\n" in told.stdout
