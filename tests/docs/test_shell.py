"""What the pages say to type against a server does what they say, on one that runs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.docs.pages import Block, Page, site_pages

HERE = "http://127.0.0.1:8420"  # where the pages say that a server is
BIN = Path(sys.executable).parent
# a request that is refused is a failure; the pages need not say so
_STRICT = 'curl() { command curl --fail-with-body "$@"; }\n'


def is_run(block: Block) -> bool:
    """Whether a block asks a server of this machine, and so can be run."""
    asks = "curl " in block.text and HERE in block.text
    return block.language == "sh" and (asks or block.text.startswith("lastword stop"))


SCRIPTS = {
    str(page): "".join(block.text for block in page.blocks if is_run(block))
    for page in site_pages()
    if any(map(is_run, page.blocks))
}


ALSO_TOLD = {
    "docs/start/server.md": ('"kind":"snapshot"', '"grew"', "1 answer cut off", "exit code 3")
}


@contextmanager
def serving(folder: Path, environment: dict[str, str]) -> Generator[str]:
    """`lastword serve`, as a person starts it; its address."""
    command = [sys.executable, "-m", "lastword", "serve", "--model", "rehearsal"]
    command += ["--port", "0", "--print-link"]  # as at a terminal
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        opened = process.stdout.readline()  # printed when it can be asked
        yield opened.removeprefix("Open ").partition("/#")[0].strip()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """That of a person without keys, who has installed it into `venv`."""
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "activate").touch()
    return {"HOME": str(tmp_path), "PATH": f"{BIN}:{os.environ['PATH']}", "LANG": "C.UTF-8"}


def run(script: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-e"],
        input=f"{_STRICT}{script}",
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(autouse=True)
def curl() -> None:
    if shutil.which("curl") is None:
        pytest.skip("there is no curl; on Debian: apt-get install curl")


@pytest.mark.parametrize("page", SCRIPTS)
def test_what_is_to_be_typed_is_answered(
    page: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    with serving(tmp_path, environment) as url:
        done = run(SCRIPTS[page].replace(HERE, url), tmp_path, environment)

    assert done.returncode == 0, done.stderr + done.stdout
    for told in ('"placed":"starting"', *ALSO_TOLD.get(page, ())):
        assert told in done.stdout, done.stdout + done.stderr


def test_a_request_that_is_refused_would_be_found(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with serving(tmp_path, environment) as url:
        wrong = SCRIPTS["docs/start/server.md"].replace(HERE, url).replace('"text"', '"txet"')
        done = run(wrong, tmp_path, environment)

    assert done.returncode != 0
    assert "urn:lastword:problem:bad-request" in done.stdout


def test_a_page_that_asks_another_machine_is_not_run() -> None:
    page = Page(Path("a.md"), "```sh\ncurl https://agent.example/v1/sessions\n```\n")

    assert not any(map(is_run, page.blocks))
    assert {"docs/start/server.md", "docs/how-to/approvals.md"} <= SCRIPTS.keys()
