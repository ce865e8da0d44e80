"""How a fork of the zygote becomes a warden, at the level that was asked for."""

from __future__ import annotations

import os
import resource
import select
import signal
import socket

from . import kernel, wire
from .family import Procfs
from .group import GroupWarden
from .page import PageReader
from .tree import SealedWarden, TreeWarden
from .warden import WardenProcess

_DESERTED = 1000  # milliseconds in which a warden without a host has seen everybody off


def take_up(
    channel: socket.socket, host: int, order: wire.Message, page: PageReader, group: int = -1
) -> None:
    """Become a warden, and keep watch until the run is over; in a control group, if it has one."""
    try:
        kernel.go_on_without_parent()
        if group >= 0:
            _enter(group)
        warden = _warden(channel, host, order, page)
        kernel.trace_nobody()
        capped = _limit_processes(order["level"], order["most"])
        own = (os.pidfd_open(os.getpid()),) if hasattr(os, "pidfd_open") else ()
        wire.send(channel, {"ready": True, "capped": capped}, own)
        for pidfd in own:
            os.close(pidfd)
    except OSError as error:
        wire.send(channel, {"failed": 0, "why": error.strerror or str(error)})
        return
    warden.keep()


def _warden(
    channel: socket.socket, host: int, order: wire.Message, page: PageReader
) -> WardenProcess:
    scan: bool = order["scan"]
    if order["level"] == "sealed":
        outside = _seal(channel, host)
        return SealedWarden(channel, host, outside, Procfs(scan=scan), page)
    if order["level"] in ("tree", "cgroup"):
        kernel.adopt_orphans()
        return TreeWarden(channel, host, Procfs(scan=scan), page)
    proc = Procfs() if os.path.exists("/proc/self/stat") else None
    return GroupWarden(channel, host, proc, page)


def _enter(group: int) -> None:
    """Whatever begins here begins in this control group, by the kernel's doing."""
    try:
        os.write(group, b"0")
    except OSError as error:
        raise OSError(error.errno, f"cgroup.procs: {error.strerror}") from error
    os.close(group)


def _seal(channel: socket.socket, host: int) -> Procfs:
    """Return as the first process of a namespace; with the host's view of /proc, kept open.

    Whoever came here stays outside, as the parent: the kernel ends the namespace with it.
    """
    kernel.unshare_processes(user=os.getuid() != 0)
    reader, writer = os.pipe()
    first = os.fork()
    if first:
        channel.close()
        os.write(writer, b"!")
        _stay_outside(first, host)
        os._exit(0)
    os.close(writer)
    kernel.die_with_parent()
    if os.read(reader, 1) != b"!":  # the parent lived after the line above, or this is the end
        os._exit(1)
    os.close(reader)
    outside = Procfs()
    kernel.mount_own_proc()
    return outside


def _stay_outside(first: int, host: int) -> None:
    """Until the namespace has ended; with the host gone, and the warden stopped by somebody, it is
    ended from here: the zygote may have gone, too."""
    ended = select.poll()
    watched = [os.pidfd_open(first), *([host] if host >= 0 else [])]
    for fd in watched:
        ended.register(fd, select.POLLIN)
    if watched[0] not in dict(ended.poll()):
        os.kill(first, signal.SIGCONT)
        ended.unregister(host)
        if not ended.poll(_DESERTED):
            os.kill(first, signal.SIGKILL)
    os.waitpid(first, 0)


def _limit_processes(level: str, most: int) -> bool:
    """Keep a storm of forks from using up the machine; whether that can be done here."""
    if level == "sealed" and kernel.limit_own_processes(most):
        return True
    if os.getuid() == 0:
        return False  # no limit of this kind holds for root
    try:
        with open("/proc/loadavg") as load:
            others = int(
                load.read().split()[3].partition("/")[2]
            )  # the limit is the user's, in all
        hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        limit = most + others if hard == resource.RLIM_INFINITY else min(most + others, hard)
        resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
    except (OSError, ValueError, IndexError):
        return False
    return True
