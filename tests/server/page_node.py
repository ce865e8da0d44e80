"""The page's modules in Node, for what needs no screen: one process for all tests of a worker."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.server.page_check import HERE, MISSING, NODE, PACKAGES, PAGE

_LIBRARY = PACKAGES / "linkedom" / "esm" / "index.js"
_QUIET = "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"  # they are modules by what is in them


class Modules:
    """They take the scripts that a page takes."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def evaluate(self, script: str, argument: object = None) -> Any:
        """What a function of JavaScript gives, which has the modules as `./assets/`."""
        process = self._process = self._process or _started()
        asked = script.replace('"./assets/', f'"{PAGE.as_uri()}/')
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps({"script": asked, "argument": argument}) + "\n")
        process.stdin.flush()
        outcome = json.loads(process.stdout.readline() or '{"wrong": "Node has ended"}')
        if "wrong" in outcome:
            self.end()  # what it left behind is nobody else's
            pytest.fail(outcome["wrong"])
        return outcome["value"]

    def end(self) -> None:
        """Whatever it does; the next script has another one."""
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _started() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [NODE, _QUIET, HERE / "runner.js", _LIBRARY.as_uri()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


@contextmanager
def running() -> Generator[Modules]:
    """Node, from the first script to the last."""
    if not (NODE.exists() and _LIBRARY.exists()):
        pytest.skip(MISSING)
    modules = Modules()
    try:
        yield modules
    finally:
        modules.end()
