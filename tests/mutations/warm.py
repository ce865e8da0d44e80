"""Runs of pytest, each in a process forked from one that has imported what is not lastword's.

A mistake is planted as lastword is imported, so each needs a process that has not done that yet.
What such a process did for the most part was import frameworks: 8 of 10 seconds, for an engine.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from typing import NamedTuple

import pytest

from tests.scenarios import ROOT

FRAMEWORKS = (
    "agents",
    "anthropic",
    "claude_agent_sdk",
    "httpx",
    "hypothesis",
    "langchain.agents",
    "langchain_anthropic",
    "langchain_openai",
    "langgraph.graph",
    "mcp",
    "openai",
    "pydantic_ai.models.anthropic",
    "pydantic_ai.models.openai",
    "uvicorn",
)


class Done(NamedTuple):
    """How a run of pytest ended, and what it said."""

    code: int
    said: str


class WarmProcess:
    """What runs are forked from: started with the first, and anew after one that was given up."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, *arguments: str) -> Done:
        """What pytest says, given these arguments."""
        process = self._process = self._process or _started()
        assert process.stdin
        assert process.stdout
        try:
            print(json.dumps(arguments), file=process.stdin, flush=True)
            return Done(*json.loads(process.stdout.readline()))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End it, and a run that goes on in it."""
        process, self._process = self._process, None
        if process:
            with process, suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _started() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        start_new_session=True,
    )


def _serve() -> None:
    for name in FRAMEWORKS:
        with suppress(ImportError):  # an extra that is not installed
            importlib.import_module(name)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_forked(json.loads(line))) + "\n")
        sys.stdout.flush()


def _forked(arguments: list[str]) -> Done:
    with tempfile.TemporaryFile() as file:
        child = os.fork()
        if not child:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            code = pytest.main(arguments)
            sys.stdout.flush()
            os._exit(code)
        _, status = os.waitpid(child, 0)
        file.seek(0)
        return Done(os.waitstatus_to_exitcode(status), file.read().decode(errors="replace"))


if __name__ == "__main__":
    _serve()
