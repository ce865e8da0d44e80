"""How a process begins in a warden: a program, a call of Python's, or the self-test's artist."""

from __future__ import annotations

import errno
import os
import resource
import signal
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import Any

from . import kernel, room
from .wake import ORDINARY, forget_signals
from .wire import Message

_TERMINAL = [(os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]
_MORE_THAN_THERE_ARE = 1 << 30  # descriptors
_ARTIST_SECONDS = 5  # if it should escape, it ends by itself


class StartError(Exception):
    """A number of the kernel's, and what it is about."""


def program(order: Message, fds: list[int]) -> int:
    """Start a program as the leader of a session of its own; its number."""
    try:
        os.chdir(order["cwd"])  # this process has one thread: nobody else is moved by it
        _must_be(order["place"])
    except OSError as error:
        os.chdir("/")
        raise StartError(error.errno, "cwd") from error
    try:
        with room.ordinary(), _limited(order["limits"]) as limits:
            pid = _spawn(order["argv"], order["env"], _actions(order["terminal"], fds))
        if hasattr(resource, "prlimit"):  # elsewhere they are inherited, and could be raised again
            with suppress(PermissionError):  # what runs as another user keeps what it inherited
                for number, most in limits.items():
                    resource.prlimit(pid, number, (most, most))
        return pid
    finally:
        os.chdir("/")


def _must_be(place: list[int] | None) -> None:
    """An error if this is another directory than the one that was looked up."""
    here = os.stat(".")
    if place not in (None, [here.st_dev, here.st_ino]):
        raise OSError(errno.ESTALE, "another directory")


def _actions(terminal: str, fds: list[int]) -> list[Any]:
    if terminal:  # a session's leader that opens a terminal controls it
        return [(os.POSIX_SPAWN_OPEN, 0, terminal, os.O_RDWR, 0), *_TERMINAL]
    return [(os.POSIX_SPAWN_DUP2, fd, place) for place, fd in enumerate(fds)]


def _spawn(argv: list[str], env: dict[str, str], actions: list[Any]) -> int:
    why = errno.ENOENT
    for path in _paths(argv[0], env):
        try:
            return os.posix_spawn(
                path,
                argv,
                env,
                file_actions=actions,
                setsid=True,
                setsigmask=(),
                setsigdef=ORDINARY,
            )
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError:
            why = errno.EACCES
        except OSError as error:
            raise StartError(error.errno, "program") from error
    raise StartError(why, "program")


def _paths(name: str, env: dict[str, str]) -> list[str]:
    if "/" in name:
        return [name]
    return [os.path.join(folder, name) for folder in env.get("PATH", os.defpath).split(":")]


@contextmanager
def _limited(asked: dict[str, int]) -> Generator[dict[int, int]]:
    """Inherit these limits meanwhile; the caller then makes them the new process's for good."""
    limits = {int(getattr(resource, f"RLIMIT_{name}")): most for name, most in asked.items()}
    before = {number: resource.getrlimit(number) for number in limits}
    try:
        for number, most in limits.items():
            hard = before[number][1]
            limits[number] = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(number, (limits[number], hard))
        yield limits
    finally:
        for number, was in before.items():
            resource.setrlimit(number, was)


def forked(work: Callable[[list[int]], None], fds: list[int]) -> int:
    """Have a fork of this process do something, with these descriptors and no others."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        forget_signals()
        kernel.give_up_powers()
        room.be_ordinary()
        work(_only(fds))
    finally:
        os._exit(70)


def _only(fds: list[int]) -> list[int]:
    """Let go of everything of the warden's. Its objects stay: nobody returns to them."""
    edges = [2, *sorted(fds), _MORE_THAN_THERE_ARE]
    for below, above in pairwise(edges):
        os.closerange(below + 1, above)
    return fds


def escape_artist(fds: list[int]) -> None:
    """Leave the session, the group and the parent, and ignore every polite request."""
    if os.fork():
        os._exit(0)
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.alarm(_ARTIST_SECONDS)
    os.write(fds[0], b"!")
    while True:
        time.sleep(_ARTIST_SECONDS)
