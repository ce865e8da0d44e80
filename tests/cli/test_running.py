"""Two servers on one machine: a command means the one of its folder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lastword.cli import running


@pytest.mark.scenario("W21", part="server")
def test_a_command_means_the_server_of_its_folder_while_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    first, second = tmp_path / "first", tmp_path / "second"
    (second / "below").mkdir(parents=True)
    first.mkdir()
    monkeypatch.chdir(first)
    assert running.here() is None
    with running.told("http://127.0.0.1:1"):
        command = [sys.executable, "-c", "import os; print(os.getpid())"]
        gone = subprocess.run(command, capture_output=True, check=True)
        left = {"url": "http://127.0.0.1:2", "process": int(gone.stdout), "folder": str(second)}
        [place] = (tmp_path / "state").rglob("servers")
        (place / "left.json").write_text(json.dumps(left))
        (place / "broken.json").write_text("{")
        assert running.here() == "http://127.0.0.1:1"
        monkeypatch.chdir(second / "below")
        assert running.here() is None, "its server was killed, and the other is not meant"
        monkeypatch.chdir(first)
    assert running.here() is None


@pytest.mark.scenario("W21", part="server")
def test_a_server_that_can_write_nothing_down_runs_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "state").write_text("a file, and no folder")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with running.told("http://127.0.0.1:1"):
        assert running.here() is None
