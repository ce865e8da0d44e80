"""Processes of a bench that do what they are told, a line at a time."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TypeAlias

LONGEST = 60.0  # seconds that an answer may take before it is given up
Said: TypeAlias = dict[str, Any]


class Child:
    """A process that does what it is told, a line at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid

    def tell(self, line: str) -> None:
        if not self._process.stdin:
            raise AssertionError
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def hear(self) -> Said:
        if not self._process.stdout:
            raise AssertionError
        if not select.select([self._process.stdout], [], [], LONGEST)[0]:
            raise TimeoutError(self._process.args)
        return json.loads(self._process.stdout.readline())

    def ask(self, line: str) -> Said:
        self.tell(line)
        return self.hear()


@contextmanager
def child(*arguments: str) -> Generator[Child]:
    """One, until the block ends; then it is killed, if it has not ended with its input."""
    process = subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-m", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Child(process)
    finally:
        process.kill()
        process.wait()


def number(name: str, value: float, unit: str, *beside: tuple[str, float]) -> None:
    """One line of something that is not a time."""
    ratios = "   ".join(f"x{value / other:<7.3g} {what}" for what, other in beside if other)
    said = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    print(f"  {name:<52}{said:>10} {unit:<16} {ratios}".rstrip())
