"""What a person is told about the processes on this machine."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from lastword.cli import main
from lastword.processes import Processes

LASTWORD = [sys.executable, "-X", "utf8", "-W", "error", "-m", "lastword"]


def doctor(*arguments: str, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [*before, *LASTWORD, "doctor", *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


def in_one_line(text: str) -> str:
    return " ".join(text.split())


async def test_the_doctor_names_the_level_that_a_runtime_chooses_here() -> None:
    async with Processes() as processes:
        chosen = processes.level

    told = doctor()

    assert (told.returncode, told.stderr) == (0, "")
    assert re.findall(r"^level: (\w+)", told.stdout, re.MULTILINE) == [chosen]
    for label in ("held by", "promise", "except", "fork storm", "self-test", "warm spawn"):
        assert f"\n  {label} " in told.stdout


@pytest.mark.parametrize("arguments", [(), ("--help",), ("--level", "tree"), ("--level", "cgroup")])
def test_what_the_doctor_says_fits_a_terminal(arguments: tuple[str, ...]) -> None:
    told = doctor(*arguments)

    assert [line for line in told.stdout.splitlines() if len(line) > 80] == []


@pytest.mark.scenario("Z23")
@pytest.mark.parametrize(
    ("engine", "code", "words"),
    [
        ("tests.server.engine_to_serve:engine", 0, "a run is forked because"),
        ("tests.cli.threaded_engine:engine", 0, "a run starts slowly because importing it starts"),
        ("tests.server.engine_to_serve:lost", 1, "cannot be had because"),
        ("nonsense", 1, "--engine is MODULE:FUNCTION; it is 'nonsense'"),
    ],
)
def test_the_doctor_says_how_a_run_of_an_engine_gets_a_process(
    engine: str, code: int, words: str
) -> None:
    told = doctor("--engine", engine)

    assert (told.returncode, told.stderr) == (code, "")
    assert words in in_one_line(told.stdout)


def test_the_doctor_says_what_groups_cannot_promise() -> None:
    told = doctor("--level", "group")

    assert told.returncode == 0
    assert "\nlevel: group, as asked for\n" in told.stdout
    assert "Whatever left its group: setsid, daemons" in in_one_line(told.stdout)


def test_the_doctor_says_all_that_is_excepted_and_refers_to_nothing_unsaid() -> None:
    told = doctor("--level", "tree")

    assert told.returncode == 0
    assert "As sealed" not in told.stdout
    assert "Work handed to a service that was running already" in in_one_line(told.stdout)


def test_a_level_that_cannot_be_had_is_said_with_why_and_what_would_help() -> None:
    told = doctor("--level", "sealed", before=without_rights())

    assert (told.returncode, told.stderr) == (1, "")
    assert "\nlevel: sealed cannot be had here\n" in told.stdout
    assert "unshare: Operation not permitted" in in_one_line(told.stdout)
    assert "CAP_SYS_ADMIN" in told.stdout


def test_where_less_is_permitted_the_doctor_says_what_would_raise_the_level() -> None:
    told = doctor(before=without_rights())

    assert told.returncode == 0
    assert "\nlevel: tree\n" in told.stdout
    _, _, stricter = told.stdout.partition("\nstricter:\n")
    assert "sealed     Not here. It may not make a process namespace" in stricter
    assert "Give root CAP_SYS_ADMIN" in in_one_line(stricter)


def without_rights() -> tuple[str, ...]:
    """Root in name only, as in most containers."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can give up its rights, and only with setpriv")
    return ("setpriv", "--inh-caps=-all", "--bounding-set=-all")


@pytest.mark.parametrize(
    "arguments", [["--level", "loose"], ["--level"], ["--loud"], ["now"]], ids=" ".join
)
def test_what_the_doctor_does_not_know_is_an_error_that_says_so(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["doctor", *arguments])

    assert left.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert arguments[-1] in err
    assert err.endswith("Try: lastword doctor --help\n")


def test_an_unknown_level_is_answered_with_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["doctor", "--level", "loose"])

    assert "choose from 'sealed', 'cgroup', 'tree', 'group'" in capsys.readouterr().err
