"""A terminal to test at: a real one for whoever runs in it, and a page of text for who looks.

It knows as much of what terminals do as is needed to say what a person sees: characters, lines,
the cursor, what is erased. Lines that have scrolled away are still on the page.
"""

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from prompt_toolkit.utils import get_cwidth

SCRIPT = Path(__file__).parent / "chat_to_drive.py"
ROWS, COLUMNS = 24, 100
SOON = 30.0  # seconds: by then it has happened, or it never will
ESC, ENTER, CTRL_C, CTRL_D = "\x1b", "\r", "\x03", "\x04"
_CODE = re.compile(r"\x1b\[([?>0-9;]*)([@-~])|\x1b[()][A-Z0-9]|\x1b[=>78]")


def command(*arguments: str) -> list[str]:
    """The script, with warnings as errors."""
    return [sys.executable, "-X", "utf8", "-W", "error", str(SCRIPT), *arguments]


class Page:
    """What was written, as it looks."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = [[]]
        self.unknown: list[str] = []  # codes that nobody but a model can have written
        self._row = self._column = 0
        self._left = ""

    def take(self, text: str) -> None:
        text, self._left = self._left + text, ""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                code = _CODE.match(text, at)
                if code is None and len(text) - at < 12:
                    self._left = text[at:]  # the rest of it comes
                    return
                at = code.end() if code else at + 1
                self._obey(code[1] or "", code[2] or "") if code else self.unknown.append("\x1b")
            else:
                self._put(text[at])
                at += 1

    def _put(self, character: str) -> None:
        match character:
            case "\n":
                self._go(self._row + 1, self._column)
            case "\r":
                self._column = 0
            case "\b":
                self._column = max(self._column - 1, 0)
            case c if c < " ":
                self.unknown.append(c)
            case c:
                self._write(c, get_cwidth(c))

    def _write(self, character: str, width: int) -> None:
        if self._column + width > COLUMNS:
            self._go(self._row + 1, 0)
        row = self.rows[self._row]
        row += [" "] * (self._column + width - len(row))
        if width:
            row[self._column : self._column + width] = [character, *[""] * (width - 1)]
        else:
            row[self._column - 1] += character  # it joins the one before it
        self._column += width

    def _obey(self, numbers: str, what: str) -> None:
        amount = int(numbers) if numbers.isdecimal() else 1
        match what:
            case "A":
                self._go(max(self._row - amount, 0), self._column)
            case "B":
                self._go(self._row + amount, self._column)
            case "C":
                self._column = min(self._column + amount, COLUMNS)
            case "D":
                self._column = max(self._column - amount, 0)
            case "J":
                del self.rows[self._row + 1 :]
                del self.rows[self._row][self._column :]
            case "K":
                del self.rows[self._row][self._column :]
            case "m" | "h" | "l" | "q":
                pass  # colours, modes, the cursor's shape
            case other:
                self.unknown.append(other)

    def _go(self, row: int, column: int) -> None:
        while row >= len(self.rows):
            self.rows.append([])
        self._row, self._column = row, column

    @property
    def lines(self) -> list[str]:
        return ["".join(row).rstrip() for row in self.rows]

    def __str__(self) -> str:
        return "\n".join(self.lines)


class Terminal:
    """One that a chat runs in."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self.page = Page()
        self._master, self.slave = os.openpty()
        self.resize(ROWS, COLUMNS)
        self.before = self.flags
        self.process = subprocess.Popen(
            command(*arguments),
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
            env=os.environ | {"TERM": "xterm-256color"} | environment,
        )

    @property
    def flags(self) -> list[Any]:
        """As stty shows them."""
        return termios.tcgetattr(self.slave)

    def resize(self, rows: int, columns: int) -> None:
        """Who runs in it is told by a signal."""
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys: str) -> Self:
        os.write(self._master, keys.encode())
        return self

    def say(self, line: str) -> Self:
        return self.type(line + ENTER)

    def until(self, happened: Callable[[], object], what: str) -> Self:
        """Read until something is so."""
        by = time.monotonic() + SOON
        while not happened():
            assert self._read(by), f"never: {what}\n{self.page}"
        return self

    def shows(self, *words: str) -> Self:
        """Read until all of these are to be seen."""
        return self.until(lambda: all(w in str(self.page) for w in words), f"{words} is shown")

    def until_full(self) -> Self:
        """Do not read, until nothing more can be written."""
        by = time.monotonic() + SOON
        while select.select([], [self.slave], [], 0.2)[1]:  # for a moment it may be full anyway
            assert time.monotonic() < by, "never full"
        return self

    def hides(self, words: str) -> Self:
        """Read until this is not to be seen."""
        return self.until(lambda: words not in str(self.page), f"{words!r} is gone")

    def leaves(self) -> int:
        """Read until it has ended; its exit code."""
        by = time.monotonic() + SOON
        while self.process.poll() is None:
            self._read(min(by, time.monotonic() + 0.05))
            assert time.monotonic() < by, f"it never left\n{self.page}"
        while self._read(time.monotonic()):
            pass
        return self.process.returncode

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def _read(self, by: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(by - time.monotonic(), 0))
        if not ready:
            return False
        data = os.read(self._master, 65536)
        self.page.take(data.decode("utf-8", "replace"))
        return True

    def hang_up(self) -> None:
        """As if the window were closed."""
        for number in (self._master, self.slave):
            if number >= 0:
                os.close(number)
        self._master = self.slave = -1

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.hang_up()


@contextmanager
def chatting(*arguments: str, **environment: str) -> Generator[Terminal]:
    """A chat that is ready for what is typed."""
    terminal = Terminal(*arguments, **environment)
    try:
        terminal.shows("· /help")
        yield terminal
    finally:
        terminal.close()


def after(terminal: Terminal, words: str) -> str:
    """What is on the page below some words."""
    _, found, below = str(terminal.page).rpartition(words)
    assert found
    return below


def leave(terminal: Terminal) -> None:
    assert terminal.type(CTRL_D).leaves() == 0
