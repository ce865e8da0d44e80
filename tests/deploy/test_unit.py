"""The unit in `deploy/`, as systemd reads it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.proxies import DEPLOY, installed
from tests.docs.pages import page

UNIT = DEPLOY / "lastword.service"
LARGEST = 2.5  # of 10: what `systemd-analyze security` calls the exposure


def settings() -> dict[str, str]:
    """What the unit sets, each once."""
    text = UNIT.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and line[0] not in "#["]
    found = dict(line.split("=", 1) for line in lines)
    assert len(found) == len(lines)
    return found


@pytest.mark.scenario("O12")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    analyze = installed("systemd-analyze")
    unit = tmp_path / "lastword.service"
    lastword = Path(sys.executable).with_name("lastword")
    text = UNIT.read_text(encoding="utf-8")
    unit.write_text(text.replace("/opt/lastword/bin/lastword", str(lastword)), encoding="utf-8")

    done = subprocess.run([analyze, "verify", unit], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_systemd_finds_nothing_wrong_with_the_units_that_delete_what_is_old(tmp_path: Path) -> None:
    analyze = installed("systemd-analyze")
    shown = [block.text for block in page("operate/retention.md").blocks if block.language == "ini"]
    files = [tmp_path / text.splitlines()[0].removeprefix("# ") for text in shown]
    for file, text in zip(files, shown, strict=True):
        mine = str(Path(sys.executable).with_name("lastword"))
        file.write_text(text.replace("/opt/lastword/bin/lastword", mine), encoding="utf-8")

    done = subprocess.run(
        [analyze, "verify", "--recursive-errors=no", *files],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert sorted(file.name for file in files) == ["lastword-prune.service", "lastword-prune.timer"]
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.scenario("O12")
def test_a_command_of_an_agent_can_do_little_outside_of_its_folder(tmp_path: Path) -> None:
    analyze = installed("systemd-analyze")

    done = subprocess.run(
        [analyze, "security", "--offline=true", "--no-pager", UNIT],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip

    found = re.search(r"Overall exposure level for lastword\.service: ([0-9.]+)", done.stdout)
    if found is None and "offline" in done.stderr:
        pytest.skip("this systemd-analyze cannot look at a unit offline")
    assert found, done.stderr
    assert float(found[1]) <= LARGEST


@pytest.mark.scenario("O12")
def test_the_unit_takes_nothing_away_that_holding_processes_needs() -> None:
    told = settings()

    assert told["Delegate"] == "yes", "else there is no level cgroup"
    assert "ProtectControlGroups" not in told, "it takes that away again"
    assert told["KillMode"] == "mixed", "lastword ends what it started, in order"
    assert told["OOMPolicy"] == "continue", "one command is not everybody's end"
    assert "ProcSubset" not in told, "a process is known by when the machine was started, too"
    assert told["Type"] == "notify"
    assert told["ExecReload"].endswith("kill -USR1 $MAINPID")
