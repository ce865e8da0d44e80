"""Two servers on one machine: a command means the one of its folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lastword.cli import running

URL = "http://127.0.0.1:1"


@pytest.fixture
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where they are written down; the folder is an empty one."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "state" / "lastword" / "servers"


def a_process_that_is_gone() -> int:
    command = [sys.executable, "-c", "import os; print(os.getpid())"]
    return int(subprocess.run(command, capture_output=True, check=True).stdout)


def own_record(servers: Path) -> dict[str, Any]:
    """What a server in this process and folder writes down."""
    with running.told(URL, "start"):
        [path] = servers.glob("*.json")
        assert path.stat().st_mode & 0o777 == 0o600
        return json.loads(path.read_text())


def found() -> list[str]:
    return [one.url for one in (running.here(), running.at(URL)) if one]


@pytest.mark.scenario("W21", part="server")
def test_a_command_means_the_server_of_its_folder_while_that_runs(
    tmp_path: Path, servers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    (second / "below").mkdir(parents=True)
    first.mkdir()
    monkeypatch.chdir(first)
    assert found() == []
    with running.told(URL, "start"):
        assert found() == [URL, URL]
        monkeypatch.chdir(second / "below")
        assert found() == [URL], "it can be named, and is not meant"
        monkeypatch.chdir(first)
    assert found() == []
    assert list(servers.iterdir()) == []


@pytest.mark.scenario("W21", part="server")
@pytest.mark.parametrize(
    "change",
    [
        lambda: {"process": a_process_that_is_gone()},
        lambda: {"process": os.getppid()},  # it is another's by now
        lambda: {"born": "1"},
        lambda: {"process": 0},
        lambda: {"process": -1},
        lambda: {"process": 1 << 31},
        lambda: {"process": 10**30},
    ],
)
def test_what_a_server_left_behind_is_taken_away(
    servers: Path, change: Callable[[], dict[str, Any]]
) -> None:
    left = servers / "left.json"
    told = json.dumps(own_record(servers) | change())
    left.touch(mode=0o600)
    left.write_text(told)

    assert found() == []
    assert not left.exists()


@pytest.mark.scenario("W21", part="server")
@pytest.mark.parametrize(
    "change",
    [{"process": True}, {"process": "1"}, {"process": 1.0}, {"process": None}, {"url": 1},
     {"url": ["x"]}, {"url": "http://[x"}, {"url": "http://x:99999"}, {"folder": {}},
     {"born": 1}, {"start": None}],
)  # fmt: skip
def test_a_file_of_other_types_is_of_no_server(servers: Path, change: dict[str, Any]) -> None:
    told = json.dumps(own_record(servers) | change)
    (servers / "odd.json").touch(mode=0o600)
    (servers / "odd.json").write_text(told)

    assert found() == []


@pytest.mark.scenario("W21", part="server")
@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", "null", "[" * 10_000, "{" + " " * 20_000 + "}", "\ud800"]
)
def test_a_file_that_is_no_record_is_of_no_server(servers: Path, text: str) -> None:
    servers.mkdir(parents=True)
    (servers / "odd.json").touch(mode=0o600)
    (servers / "odd.json").write_bytes(text.encode(errors="surrogatepass"))

    with running.told(URL, "start"):
        assert found() == [URL, URL], "and it hides no other"
    assert found() == []


@pytest.mark.scenario("W21", part="server")
def test_only_a_file_that_is_the_person_s_alone_is_believed(servers: Path) -> None:
    told = json.dumps(own_record(servers))
    os.mkfifo(servers / "pipe.json", 0o600)
    (servers / "folder.json").mkdir()
    (servers / "elsewhere").touch(mode=0o600)
    (servers / "elsewhere").write_text(told)
    (servers / "link.json").symlink_to("elsewhere")
    (servers / "open.json").write_text(told)
    (servers / "open.json").chmod(0o644)

    assert found() == []


@pytest.mark.scenario("W21", part="server")
def test_an_address_is_a_server_s_own_or_localhost(servers: Path) -> None:
    assert not servers.exists()
    with running.told("http://127.0.0.1:81", "start"):
        for url in ("http://127.0.0.1:81", "http://localhost:81/"):
            server = running.at(url)
            assert server is not None
            assert (server.url, server.start) == ("http://127.0.0.1:81", "start")
        for url in ("http://[::1]:81", "https://localhost:81", "http://localhost:82"):
            assert running.at(url) is None


@pytest.mark.scenario("W21", part="server")
def test_a_server_that_can_write_nothing_down_runs_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "state").write_text("a file, and no folder")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with running.told(URL, "start"):
        assert running.here() is None
