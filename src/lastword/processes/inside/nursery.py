"""A nursery: a zygote that has imported what is to be called, once for every call.

It is a process of a warden like any other while it imports, so a stop ends it with whatever that
has started. Then it forks wardens, and those fork the workers, in which it is all there already.

Not every module can be imported before a fork. What a fork would not have, or would have to share,
or what would change the keepers themselves, is looked for afterwards; if something is found, the
nursery says what, and leaves.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeAlias

from . import kernel, room, wire
from .family import Procfs
from .page import Page
from .wake import ORDINARY
from .worker import be_where_the_host_is, flush, import_modules

_NAME = b"nursery"  # as `ps` shows it
_KEEPERS_NEED = (
    (os, ("_exit", "close", "fork", "kill", "read", "waitpid", "write", "posix_spawn")),
    (select, ("poll",)),
    (signal, ("set_wakeup_fd", "signal")),
    (socket, ("socket",)),
    (time, ("monotonic",)),
)
_Serve: TypeAlias = Callable[[socket.socket, int, Procfs, Page], None]
_afterwards: list[_Serve] = []
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)


def then(serve: _Serve) -> None:
    """Said by the zygote, which all of this descends from: what it does, a nursery does, too."""
    _afterwards.append(serve)


def tend(order: wire.Message, fds: list[int]) -> None:
    """Import what is asked for; then fork wardens, until the host has gone and the last of them."""
    channel, host = socket.socket(fileno=fds[0]), fds[1]
    page = Page(fds[3] if len(fds) > 3 else -1)
    kernel.be_called(_NAME)
    kernel.adopt_orphans()
    proc = Procfs(scan=order["scan"])
    mask = os.umask(0o077)
    os.umask(mask)
    be_where_the_host_is(order, fds[2])
    os.close(fds[2])
    before = _Before(proc)
    why = _imported(order) or before.why_not()
    flush()
    if why:
        wire.send(channel, {"failed": 0, "why": why})
        return
    os.umask(mask)
    os.chdir("/")
    kernel.be_out_of_reach()
    kernel.adopt_orphans()
    kernel.go_on_without_parent()
    room.have_all()
    for serve in _afterwards:
        serve(channel, host, proc, page)


def _imported(order: wire.Message) -> str:
    """Why it could not be; nothing if it was."""
    names: list[str] = order["modules"]
    try:
        import_modules(names, order["main"])
    except BaseException as error:  # noqa: BLE001 - whoever calls it is told, where it is called
        return f"importing it raised {type(error).__name__}: {error}"
    for name, file in zip(names, order["files"], strict=True):
        found = getattr(sys.modules.get(name), "__file__", None) or ""
        if file and found != file:
            return f"it is found in {found or 'no file'}, and is {file} in this program"
    return ""


class _Before:
    """How it was before the import."""

    def __init__(self, proc: Procfs) -> None:
        self._proc = proc
        self._files = _open_files()
        self._handlers = _handlers()
        self._functions = _functions()

    def why_not(self) -> str:
        """What it did that forks would suffer from; nothing if all is well."""
        return next((f"importing it {what}" for what in self._done()), "")

    def _done(self) -> Iterator[str]:
        if names := _other_threads():
            yield f"starts a thread ({names})"
        if children := self._proc.my_children():
            looked = [kin.name for pid in children if (kin := self._proc.look(pid))]
            yield f"leaves a process ({', '.join(looked) or 'which has ended'})"
        if new := sorted(set(_open_files().items()) - set(self._files.items())):
            yield f"leaves open {', '.join(target for _, target in new)}"
        if taken := [n for n, was in self._handlers.items() if signal.getsignal(n) is not was]:
            yield f"takes over {', '.join(signal.Signals(number).name for number in taken)}"
        if any(signal.getitimer(timer)[0] for timer in _TIMERS):
            yield "sets an alarm"
        if replaced := dict(_functions().items() - self._functions.items()):
            yield f"replaces {', '.join(replaced)}"


def _other_threads() -> str:
    """By Python's names, if it has any for them."""
    count = len(os.listdir("/proc/self/task"))
    known = [t.name for t in threading.enumerate() if t is not threading.main_thread()]
    return ", ".join(known) or f"{count - 1} not of Python's" if count > 1 else ""


def _open_files() -> dict[int, str]:
    found: dict[int, str] = {}
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the one that listed them
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
    return found


def _handlers() -> dict[int, object]:
    return {number: signal.getsignal(number) for number in ORDINARY}


def _functions() -> dict[str, object]:
    return {f"{m.__name__}.{n}": getattr(m, n) for m, names in _KEEPERS_NEED for n in names}
