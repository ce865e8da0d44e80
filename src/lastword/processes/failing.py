"""Why a program could not be started, in words."""

from __future__ import annotations

import errno
import os

from lastword.errors import SpawnFailed
from lastword.processes.command import Command

_WHY = {
    errno.ENOENT: "there is no file {0}, or the interpreter in its first line is missing",
    errno.EACCES: "{0} is not executable",
    errno.ENOEXEC: "{0} is not a program (a script needs a first line such as #!/bin/sh)",
    errno.E2BIG: "its arguments and environment are longer than the system allows",
    errno.EAGAIN: "no more processes are allowed",
    errno.EMFILE: "its warden may open no more descriptors",
}


class NotStarted(Exception):
    """The kernel's number, and what it is about."""

    def __init__(self, number: int, about: str) -> None:
        super().__init__(number, about)
        self.number = number
        self.about = about


def explained(error: NotStarted, command: Command) -> SpawnFailed:
    """The same for people."""
    program = command.argv[0]
    if (error.about, error.number) == ("cwd", errno.ESTALE):
        why = f"{command.cwd!r} is another directory by now than the one that was looked up"
    elif error.about == "cwd":
        why = f"the working directory {command.cwd!r}: {os.strerror(error.number)}"
    elif error.number == errno.ENOENT and "/" not in program:
        why = f"command not found: {program!r} (PATH is {command.env.get('PATH', os.defpath)!r})"
    elif error.number in _WHY:
        why = _WHY[error.number].format(repr(program))
    else:
        why = os.strerror(error.number) if error.number else error.about
    return SpawnFailed(f"{command.name:.80} could not be started: {why}", error.number)
