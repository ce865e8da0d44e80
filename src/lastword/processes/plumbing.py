"""The descriptors between us and a process: its ends are handed over, ours are read and written."""

from __future__ import annotations

import fcntl
import os
import struct
import termios
from collections.abc import Callable

from lastword.processes.command import Command
from lastword.processes.input import Input
from lastword.processes.output import Output


class Plumbing:
    """Opened before a process starts. Theirs are closed once it has, or could not."""

    def __init__(self, command: Command, may_act: Callable[[str], None]) -> None:
        self.theirs: list[int] = []  # its standard input, output and errors
        self.terminal = ""
        self.told = not isinstance(command.stdin, str)  # all that it is to read
        self.stdin: Input | None = None
        self.stderr: Output | None = None
        self._ours: list[int] = []
        try:
            if command.terminal:
                self._open_terminal()
            else:
                self._open_pipes(command)
        except OSError:
            for fd in (*self.theirs, *self._ours):
                os.close(fd)
            raise
        reader, *others = self._ours
        self.stdout = Output(reader, command.output_limit, may_act)
        if command.terminal or command.stdin != "none":
            terminal = command.terminal
            self.stdin = Input(others.pop(0), command.name, may_act, terminal=terminal)
        if others:
            self.stderr = Output(others.pop(0), command.output_limit, may_act)
        if self.stdin and not isinstance(command.stdin, str):
            told = command.stdin
            for piece in (told,) if isinstance(told, bytes) else told:
                self.stdin.begin(piece)
            self.stdin.end()

    def _open_pipes(self, command: Command) -> None:
        read_out, write_out = os.pipe()
        self._ours.append(read_out)
        self.theirs += [write_out]
        if command.stdin == "none":
            self.theirs.insert(0, os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
        else:
            read_in, write_in = os.pipe()
            self._ours.append(write_in)
            self.theirs.insert(0, read_in)
        if command.errors == "merged":
            self.theirs.append(os.dup(write_out))
        elif command.errors == "ours":
            self.theirs.append(our_stderr())
        else:
            read_errors, write_errors = os.pipe()
            self._ours.append(read_errors)
            self.theirs.append(write_errors)

    def _open_terminal(self) -> None:
        master, slave = os.openpty()
        self._ours += [master, os.dup(master)]
        self.theirs.append(slave)  # held open until the process has opened it by its name
        self.terminal = os.ttyname(slave)

    def handed_over(self) -> None:
        """Close the process's ends; ours then tell when it has let go of them."""
        while self.theirs:
            os.close(self.theirs.pop())

    def resize(self, rows: int, columns: int) -> None:
        if not self.terminal:
            raise ValueError("only a process with pty=True has a terminal to resize")
        for what, value in (("rows", rows), ("columns", columns)):
            if not isinstance(value, int) or not 0 <= value < 1 << 16:  # pyright: ignore[reportUnnecessaryIsInstance] - for callers that are not checked
                raise ValueError(f"{what} must be a number from 0 to 65535; it is {value!r}")
        size = struct.pack("HHHH", rows, columns, 0, 0)
        self.stdout.control(lambda fd: fcntl.ioctl(fd, termios.TIOCSWINSZ, size))

    def close(self) -> None:
        """Let go of everything. What was read stays readable."""
        self.handed_over()
        self.stdout.close()
        if self.stderr:
            self.stderr.close()
        if self.stdin:
            self.stdin.let_go()


def our_stderr() -> int:
    """A copy of this program's own, for somebody to write to."""
    try:
        return os.dup(2)
    except OSError:  # a daemon may have closed it
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
