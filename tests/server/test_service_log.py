"""What a server writes that a service starts: it is kept, and others read it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.client import Client
from tests.server.process import ENGINE


def typed(home: Path, *words: str, stdout: int = subprocess.PIPE) -> subprocess.Popen[str]:
    where = {"HOME": str(home), "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""}
    return subprocess.Popen(
        [sys.executable, "-m", "lastword", *words],
        env=os.environ | where, stdin=subprocess.DEVNULL, stdout=stdout,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


SERVE = ("serve", "--engine", ENGINE, "--port", "0", "--store", "memory:")
LOGGED = ("--log-level", "info", "--log-format", "json")


@pytest.mark.scenario("O19")
async def test_all_that_a_service_writes_is_its_log_and_a_link_is_to_be_asked_for(
    tmp_path: Path,
) -> None:
    with typed(tmp_path, *SERVE, *LOGGED) as served:
        assert served.stderr
        assert served.stdout
        first = served.stderr.readline()
        url = json.loads(first)["message"].removeprefix("Listening at ").rstrip("/")
        with typed(tmp_path, "link", "--url", url) as asked:
            link = asked.communicate()[0]
        address, _, code = link.strip().partition("/#key=")
        signed = await Client(int(url.rpartition(":")[2]), None).post("/v1/keys", {"code": code})
        served.terminate()
        said, logged = served.stdout.read(), served.stderr.read()

    assert address == url
    assert signed.json["key"]
    assert said == ""
    told = [json.loads(line)["message"] for line in (first + logged).splitlines()]
    assert told[-1] == "Everything is stopped. Goodbye."
    assert any("lastword link prints" in one for one in told)
    assert "key=" not in first + logged
    assert code not in logged


@pytest.mark.scenario("O19")
def test_a_link_is_printed_at_a_terminal_and_into_no_pipe_that_did_not_ask_for_it(
    tmp_path: Path,
) -> None:
    shown, terminal = os.openpty()
    with typed(tmp_path, *SERVE, stdout=terminal) as served, os.fdopen(shown) as screen:
        os.close(terminal)
        assert "#key=" in screen.readline()
        served.terminate()
        served.communicate()

    for words, first in (((), "Listening at http://"), (("--print-link",), "Open http://")):
        with typed(tmp_path, *SERVE, *words) as served:
            assert served.stdout
            assert served.stderr
            line = served.stdout.readline()
            served.terminate()
            said, logged = served.stdout.read(), served.stderr.read()
        assert line.startswith(first)
        assert ("#key=" in line) == bool(words)
        assert "#key=" not in said + logged


@pytest.mark.scenario("O19")
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--port", "none"), "--port must be a number"),
        (("--tokens", "/no/such/file"), "/no/such/file"),
        (("--store", "sqlite:/no/such/folder/it.db"), "there is no directory /no/such/folder"),
    ],
)
def test_why_a_service_did_not_start_is_an_object_of_its_log_too(
    words: tuple[str, str], why: str, tmp_path: Path
) -> None:
    with typed(tmp_path, *SERVE, *LOGGED, *words) as served:
        said, logged = served.communicate()

    assert (served.returncode, said) == (1, "")
    [told] = [json.loads(line) for line in logged.splitlines()]
    assert told["level"] == "error"
    assert told["message"].startswith("not served: ")
    assert why in told["message"]
