"""What is given away: a wheel that runs where there is nothing else, and a source that makes it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from trove_classifiers import classifiers

from tests.front.fresh import copied, empty_venv, has_index, newcomer_env, pip
from tests.front.visit import served
from tests.house.test_house import the_files
from tests.scenarios import ROOT


class Dists(NamedTuple):
    """What a build gave."""

    wheel: Path
    sdist: Path

    @property
    def digests(self) -> list[str]:
        return [hashlib.sha256(one.read_bytes()).hexdigest() for one in self]

    @property
    def metadata(self) -> Message:
        with zipfile.ZipFile(self.wheel) as wheel:
            [name] = [name for name in wheel.namelist() if name.endswith("/METADATA")]
            return message_from_bytes(wheel.read(name))


def built(source: Path, into: Path, umask: int = 0o022) -> Dists:
    """By `python -m build`, with what is installed here."""
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", into, source],
        env=os.environ | {"SOURCE_DATE_EPOCH": "1800000000"}, umask=umask,
        capture_output=True, check=True,
    )  # fmt: skip
    [wheel], [sdist] = into.glob("*.whl"), into.glob("*.tar.gz")
    return Dists(wheel, sdist)


@pytest.fixture(scope="module")
def dists(tmp_path_factory: pytest.TempPathFactory) -> Dists:
    return built(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.mark.scenario("B5")
def test_two_builds_are_the_same_in_every_byte_wherever_and_whenever(tmp_path: Path) -> None:
    one = built(copied(tmp_path / "one", 1_000_000_000), tmp_path / "first")
    other = built(copied(tmp_path / "another place", 1_700_000_000), tmp_path / "second", 0o077)

    assert one.digests == other.digests


@pytest.mark.scenario("B5")
def test_the_source_is_the_repository_and_the_wheel_is_the_package(dists: Dists) -> None:
    with tarfile.open(dists.sdist) as sdist:
        source = {name.partition("/")[2] for name in sdist.getnames()}
    with zipfile.ZipFile(dists.wheel) as wheel:
        package = {name for name in wheel.namelist() if ".dist-info/" not in name}

    assert source - {"PKG-INFO"} == {str(file.relative_to(ROOT)) for file in the_files()}
    ours = [file.relative_to(ROOT / "src") for file in the_files() if "src" in file.parts]
    assert package == {str(file) for file in ours}
    assert "lastword/py.typed" in package


def test_what_is_said_of_it_is_known_to_an_index_and_true(dists: Dists) -> None:
    told = dists.metadata
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert set(told.get_all("Classifier", [])) <= classifiers
    assert told["License-Expression"] == "MIT"
    assert told["Requires-Python"] == ">=3.11"
    assert not [need for need in told.get_all("Requires-Dist", []) if "extra ==" not in need]
    extras = set(told.get_all("Provides-Extra", []))
    assert extras == project["optional-dependencies"].keys()
    assert told.get_all("Project-URL") is None  # there is none, and none is invented


class Installed:
    """What was built, in an environment of its own, and a person who is somewhere else."""

    def __init__(self, folder: Path, *what: str | Path) -> None:
        self.python = empty_venv(folder / "venv")
        self.home = folder / "elsewhere"
        self.home.mkdir()
        done = pip(self.python, "--no-deps", *what)
        assert done.returncode == 0, done.stderr

    @property
    def command(self) -> Path:
        return self.python.with_name("lastword")

    def lastword(self, *words: str, told: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.command, *words], cwd=self.home, env=newcomer_env(self.home), input=told,
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def do(self, line: str) -> None:
        """What a person is told to run."""
        name, install, *what = shlex.split(line)
        assert (name, install) == ("pip", "install")
        done = pip(self.python, *what)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def alone(tmp_path: Path, dists: Dists) -> Installed:
    return Installed(tmp_path, "--no-index", dists.wheel)


@pytest.mark.scenario("B6")
def test_the_wheel_alone_shows_what_it_does(alone: Installed) -> None:
    shows_what_it_does(alone)


@pytest.mark.scenario("B6")
def test_the_source_alone_is_built_where_it_is_installed_and_does_the_same(
    tmp_path: Path, dists: Dists
) -> None:
    if not has_index():
        pytest.skip("there is no index to have what builds it from")

    shows_what_it_does(Installed(tmp_path, dists.sdist))


def shows_what_it_does(here: Installed) -> None:
    shown = here.lastword("demo")

    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.splitlines()[-1] == "words, tool output and typing marks after the stop: 0"
    where = [here.python, "-c", "import lastword; print(lastword.__file__)"]
    found = subprocess.run(where, cwd=here.home, capture_output=True, text=True, check=True)
    assert found.stdout.startswith(str(here.python.parents[1]))


@pytest.mark.scenario("B7")
@pytest.mark.parametrize("words", [["serve"], ["chat", "-p", "help"], ["acp"]], ids=" ".join)
def test_what_needs_more_says_in_one_line_what_and_that_line_is_right(
    alone: Installed, words: list[str]
) -> None:
    refused = alone.lastword(*words)

    assert (refused.returncode, refused.stdout) == (1, "")
    [line] = refused.stderr.splitlines()
    said = re.fullmatch(
        rf"lastword {words[0]}: .*, which (?:is|are) not installed\. Run: (.*)", line
    )
    assert said

    if not has_index():
        pytest.skip("there is no index of packages to install from")
    alone.do(said[1])

    {"serve": serves, "chat": chats, "acp": edits}[words[0]](alone)


def serves(here: Installed) -> None:
    heard = here.home / "heard"
    command = [here.command, "serve", "--port", "0", "--print-link"]
    with served(command, cwd=here.home, env=newcomer_env(here.home), heard=heard) as visit:
        assert len(visit.see_the_page()) > 40
        visit.say("first", "story")
        visit.hear("first", "There was a lighthouse")
        assert visit.stop("first")["runs"]
    assert heard.read_text() == ""


def chats(here: Installed) -> None:
    answer = here.lastword("chat", "-p", "help")

    assert answer.returncode == 0, answer.stderr
    assert "I am a rehearsal" in answer.stdout


def edits(here: Installed) -> None:
    """As an editor would, if it were content with one answer."""
    env = newcomer_env(here.home)
    process = subprocess.Popen(
        [here.command, "acp"], cwd=here.home, env=env, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin
    assert process.stdout

    def asked(number: int, method: str, **params: object) -> Any:
        assert process.stdin
        assert process.stdout
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        print(json.dumps(request), file=process.stdin, flush=True)
        answers = (json.loads(line) for line in process.stdout)
        return next(answer["result"] for answer in answers if answer.get("id") == number)

    with process:
        asked(1, "initialize", protocolVersion=1, clientCapabilities={})
        session = asked(2, "session/new", cwd=str(here.home), mcpServers=[])["sessionId"]
        said = [{"type": "text", "text": "help"}]
        answer = asked(3, "session/prompt", sessionId=session, prompt=said)
        process.stdin.close()

    assert answer["stopReason"] == "end_turn"
    assert process.returncode == 0


@pytest.mark.scenario("B7")
def test_a_server_of_a_teams_own_engine_needs_no_agent(alone: Installed) -> None:
    if not has_index():
        pytest.skip("there is no index of packages to install from")
    alone.do("pip install 'lastword[server]'")
    engine = 'async def engine(run):\n    await run.emit("Here I am.")\n'
    (alone.home / "ours.py").write_text(engine)

    command = [alone.command, "serve", "--port", "0", "--print-link", "--engine", "ours:engine"]
    heard, env = alone.home / "heard", newcomer_env(alone.home)
    with served(command, cwd=alone.home, env=env, heard=heard) as visit:
        visit.see_the_page()
        visit.say("first", "Where are you?")
        visit.hear("first", "Here I am.")
