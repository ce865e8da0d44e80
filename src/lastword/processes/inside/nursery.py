"""A nursery: a zygote that has imported what is to be called, once for every call.

It is a process of a warden like any other while it imports, so a stop ends it with whatever that
has started. Then it forks wardens, and those fork the workers, in which it is all there already.

Not every module can be imported before a fork. What a fork would not have, or would have to share,
or what would change the keepers themselves, is looked for afterwards; if something is found, the
nursery says what, and leaves. The keepers are changed by whoever replaces a function or a class of
a module that was there before: their own, or one of Python's that they use, through whatever other.
What hooks do at a fork is seen in one that is made to look.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import ModuleType
from typing import TypeAlias

from . import kernel, room, wire
from .family import Procfs
from .page import PageReader
from .wake import ORDINARY
from .worker import be_where_the_host_is, flush, import_modules

_NAME = b"nursery"  # as `ps` shows it
_Serve: TypeAlias = Callable[[socket.socket, int, Procfs, PageReader], None]
_afterwards: list[_Serve] = []
_ours: dict[str, ModuleType] = {}  # the keepers' own, which are forgotten by name
_NOT_CALLED = ("typing",)  # by keepers; and typing_extensions replaces some of it
# nor these, which many a library sets
_HOOKS = frozenset(("excepthook", "displayhook", "unraisablehook", "breakpointhook", "showwarning"))
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)


def then(serve: _Serve) -> None:
    """Said by the zygote, which all of this descends from: what it does, a nursery does, too."""
    _afterwards.append(serve)
    package = __name__.partition(".")[0]
    _ours.update({n: m for n, m in sys.modules.items() if n.partition(".")[0] == package})


def tend(order: wire.Message, fds: list[int]) -> None:
    """Import what is asked for; then fork wardens, until the host has gone and the last of them."""
    channel, host = socket.socket(fileno=fds[0]), fds[1]
    page = PageReader(fds[3] if len(fds) > 3 else -1)
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
        here = _ours | sys.modules
        self._modules = {name: here[name] for name in here if name not in _NOT_CALLED}
        self._names = _names(self._modules)

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
        if replaced := self._replaced():
            yield f"replaces {', '.join(replaced)}"
        if done := self._done_by_a_fork():
            yield f"has every fork {done}"

    def _replaced(self) -> list[str]:
        """By name; and put back, for what was found is yet to be said."""
        now = _names(self._modules)
        found = [(at, was) for at, was in self._names.items() if now.get(at) is not was]
        for (module, name), was in found:
            holder, _, method = name.rpartition(".")
            at = self._modules[module]
            with suppress(AttributeError, TypeError):
                setattr(getattr(at, holder) if holder else at, method, was)
        return [".".join(at) for at, _ in found]

    def _done_by_a_fork(self) -> str:
        """What it does there that it was not asked for, or here."""
        before = _open_files()
        reader, writer = os.pipe()
        try:
            pid = os.fork()
        except BaseException as error:  # noqa: BLE001 - a hook's own
            return f"raise {type(error).__name__}: {error}"
        if pid == 0:
            _tell_and_leave(self._proc, {*before, reader, writer}, writer)
        os.close(writer)
        with os.fdopen(reader, "rb") as said:
            found = said.read().decode(errors="replace")
        os.waitpid(pid, 0)
        return found or _unasked(self._proc.my_children(), set(before))


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


def _names(modules: dict[str, ModuleType]) -> dict[tuple[str, str], object]:
    """Every function and class that these hold, and those classes' own."""
    found: dict[tuple[str, str], object] = {}
    for module, holder in modules.items():
        for name, value in list(vars(holder).items()):
            if callable(value) and name not in _HOOKS:
                found[module, name] = value
            if isinstance(value, type) and value.__module__ == module:
                methods = ((f"{name}.{n}", v) for n, v in list(vars(value).items()) if callable(v))
                found.update(((module, method), v) for method, v in methods)
    return found


def _tell_and_leave(proc: Procfs, expected: set[int], channel: int) -> None:
    """In a fork: say what is there that was not asked for."""
    try:
        found = _unasked(proc.children(os.getpid()), expected)
        os.write(channel, found.encode(errors="replace"))
    finally:
        os._exit(0)


def _unasked(children: list[int], expected: set[int]) -> str:
    if names := _other_threads():
        return f"start a thread ({names})"
    if children:
        return "start a process"
    if new := sorted(target for fd, target in _open_files().items() if fd not in expected):
        return f"open {', '.join(new)}"
    return ""
