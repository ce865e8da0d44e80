"""What is to be started, checked before anything is: bad input never reaches a warden."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, TypeAlias

from lastword.core.value import value

Stdin: TypeAlias = Literal["none", "pipe"] | bytes
Pieces: TypeAlias = tuple[bytes, ...]
_SHELL = "/bin/sh"
_LONGEST_NAME = 200
_LONGEST_GRACE = 1_000_000
OUTPUT_LIMIT = 1 << 20


@value
class ProcessLimits:
    """What one process, and each that it starts, may use; None is no limit of ours."""

    memory: int | None = None  # bytes of address space, at least 64 MiB
    cpu: int | None = None  # seconds of processor time
    file_size: int | None = None  # bytes
    open_files: int | None = None

    def __post_init__(self) -> None:
        least = {"memory": 64 << 20, "cpu": 1, "file_size": 0, "open_files": 8}
        for name, smallest in least.items():
            value = getattr(self, name)
            if value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool):
                kind = type(value).__name__
                raise TypeError(f"the limit {name} must be a whole number, not a {kind}")
            if value >= 1 << 63:
                raise ValueError(f"the limit {name} must be less than 2**63; it is {value}")
            if value < smallest:
                raise ValueError(f"the limit {name} must be at least {smallest}; it is {value}")

    @property
    def asked(self) -> dict[str, int]:
        """By the kernel's own names."""
        names = {"AS": self.memory, "CPU": self.cpu, "FSIZE": self.file_size}
        names |= {"NOFILE": self.open_files}
        return {name: value for name, value in names.items() if value is not None}


@value
class Folder:
    """A directory that was looked up: its path, and by what the kernel knows it. Who begins there
    does so in that one, and not in what somebody has put in its place."""

    path: str
    device: int
    inode: int

    def __fspath__(self) -> str:
        return self.path


@value
class Command:
    """A program with all that it is started with."""

    argv: tuple[str, ...]
    name: str  # as a person would recognise it
    cwd: str
    env: dict[str, str] = field(repr=False)
    stdin: Stdin | Pieces = "none"
    terminal: bool = False
    errors: Literal["own", "merged", "ours"] = "own"  # where its second stream goes
    limits: ProcessLimits = ProcessLimits()
    output_limit: int = OUTPUT_LIMIT
    place: tuple[int, int] | None = None  # device and inode of `cwd`, if it was looked up
    path: tuple[str, ...] | None = None  # of a call of Python's: where its modules are

    @property
    def order(self) -> dict[str, Any]:
        return {
            "start": "program" if self.path is None else "python",
            "path": self.path,
            "argv": self.argv,
            "cwd": self.cwd,
            "place": self.place,
            "env": self.env,
            "limits": self.limits.asked,
            "umask": None if self.path is None else current_umask(),
        }


def command(  # noqa: PLR0913 - each is one thing to say of a process, with a default
    *argv: str | os.PathLike[str],
    shell: str | None = None,
    name: str = "",
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    stdin: Stdin = "none",
    pty: bool = False,
    merged: bool = False,
    limits: ProcessLimits | None = None,
    output_limit: int = OUTPUT_LIMIT,
) -> Command:
    """What a caller asked for, or an error that says what is wrong with it."""
    words = _words(argv, shell)
    if cwd is not None and not isinstance(cwd, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance] - for callers that are not checked
        raise TypeError(f"cwd must be a str or a path, not a {type(cwd).__name__}")
    folder = _text(os.fspath(cwd), "cwd") if cwd is not None else current_folder()
    _check_rest(stdin, limits, output_limit, pty=pty)
    return Command(
        argv=words,
        name=_short(name or shell or shlex.join(words)),
        cwd=os.path.abspath(folder),  # noqa: PTH100 - bytes that are no text pass through it
        place=(cwd.device, cwd.inode) if isinstance(cwd, Folder) else None,
        env=dict(os.environ) if env is None else _environment(env),
        stdin=stdin,
        terminal=pty,
        errors="merged" if merged else "own",
        limits=limits or ProcessLimits(),
        output_limit=output_limit,
    )


def current_umask() -> int | None:
    """As the kernel tells it: to ask for it by setting it, others in this program would have that
    one for a moment. None if it does not."""
    try:
        with open("/proc/self/status", encoding="utf-8", errors="replace") as status:  # noqa: PTH123 - pathlib is slow to import
            said = [line[6:] for line in status if line.startswith("Umask:")]
    except OSError:
        return None
    return int(said[0], 8) if said else None


def current_folder() -> str:
    """Where this program is."""
    try:
        return os.getcwd()  # noqa: PTH109 - a str
    except OSError as error:
        raise ValueError("the current directory no longer exists; say which one: cwd=") from error


def must_be_grace(grace: object) -> None:
    """An error if it is not a number of seconds in which something is asked to end."""
    if not isinstance(grace, int | float) or isinstance(grace, bool):
        raise TypeError(f"grace must be a number of seconds, not a {type(grace).__name__}")
    if not 0 <= grace < _LONGEST_GRACE:
        raise ValueError(f"grace must be from 0 to {_LONGEST_GRACE:,} seconds; it is {grace}")


def _words(argv: tuple[str | os.PathLike[str], ...], shell: str | None) -> tuple[str, ...]:
    if (shell is None) == (not argv):
        raise TypeError("give either a program with its arguments, or shell='a command line'")
    if shell is not None:
        return (_SHELL, "-c", _text(shell, "shell"))
    words: list[str] = []
    for number, word in enumerate(argv):
        what = "the program" if number == 0 else f"argument {number}"
        if not isinstance(word, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance] - for callers that are not checked
            raise TypeError(f"{what} must be a str or a path, not a {type(word).__name__}")
        words.append(_text(os.fspath(word), what))
    if not words[0]:
        raise ValueError("the program to start has an empty name")
    return tuple(words)


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a str, not a {type(value).__name__}")
    if "\0" in value:
        raise ValueError(f"{what} holds a NUL character, which no program can be given")
    try:
        os.fsencode(value)
    except UnicodeEncodeError as error:
        raise ValueError(f"{what} holds a character that no program can be given") from error
    return value


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(env, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - for callers that are not checked
        raise TypeError(f"env must be a mapping of names to values, not a {type(env).__name__}")
    if _all_in_order(env):
        return dict(env)
    for name, text in env.items():
        _text(name, "the name of an environment variable")
        if not name or "=" in name:
            raise ValueError(f"{name!r} cannot be the name of an environment variable")
        _text(text, f"the environment variable {name}")
    return dict(env)


def _all_in_order(env: Mapping[str, str]) -> bool:
    """Found out at once, for nearly always it is so; who is to blame is sought one by one."""
    try:
        names = "".join(env)
        os.fsencode(together := names + "".join(env.values()))
    except (TypeError, UnicodeEncodeError):
        return False
    return "" not in env and "=" not in names and "\0" not in together


def _check_rest(stdin: object, limits: object, output_limit: object, *, pty: object) -> None:
    if not isinstance(stdin, bytes) and stdin not in ("none", "pipe"):
        raise ValueError(f"stdin must be 'none', 'pipe', or bytes to be read; it is {stdin!r:.40}")
    if not isinstance(pty, bool):
        raise TypeError(f"pty must be True or False, not a {type(pty).__name__}")
    if pty and stdin not in ("none", "pipe"):
        raise ValueError("what a terminal is to read is typed: use pty=True and write()")
    if limits is not None and not isinstance(limits, ProcessLimits):
        raise TypeError(f"limits must be ProcessLimits(...), not a {type(limits).__name__}")
    if not isinstance(output_limit, int) or isinstance(output_limit, bool) or output_limit < 2:
        raise ValueError(f"output_limit must be a number of bytes; it is {output_limit!r}")


def _short(text: str) -> str:
    plain = text.encode(errors="backslashreplace").decode()
    line = "".join(c if c.isprintable() else "?" for c in " ".join(plain.split()))
    return line if len(line) <= _LONGEST_NAME else line[: _LONGEST_NAME - 1] + "…"
