"""The few calls of the kernel's that Python has no name for."""

from __future__ import annotations

import ctypes
import os
import signal

_PDEATHSIG, _SUBREAPER = 1, 36  # prctl's
_NEWNS, _NEWUSER, _NEWPID = 0x00020000, 0x10000000, 0x20000000  # unshare's
_SLAVE = 0x80000 | 0x4000  # mount's: what the host mounts later is seen here, and not the reverse
_PROC_FLAGS = 2 | 4 | 8  # nosuid, nodev, noexec
_PID_MAX_IS_PRIVATE = (6, 14)  # from this kernel on, pid_max belongs to the namespace
_NOT_USED_AGAIN = 300  # the lowest numbers, once they have been given

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _call(name: str, *arguments: object) -> None:
    function = getattr(_libc, name, None)
    if function is None:
        raise OSError(f"{name}: this system has no such call")
    _check(function(*arguments), name)


def adopt_orphans() -> None:
    """Become the one to whom every descendant falls whose parent has gone."""
    _call("prctl", _SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """Have the kernel end this process with its parent, which must have one thread only."""
    _call("prctl", _PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def unshare_processes(*, user: bool) -> None:
    """Have the next child begin a process namespace; `user`: in a user namespace of its own."""
    uid, gid = os.getuid(), os.getgid()
    _call("unshare", _NEWPID | _NEWNS | (_NEWUSER if user else 0))
    if user:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")


def mount_own_proc() -> None:
    """See only the processes of this namespace in /proc."""
    _call("mount", b"none", b"/", None, _SLAVE, None)
    _call("mount", b"proc", b"/proc", b"proc", _PROC_FLAGS, None)


def limit_own_processes(most: int) -> bool:
    """Allow this process namespace so many processes and threads; whether that can be done here.

    Never on an older kernel: there the number is the whole machine's.
    """
    major, minor = (int(part) for part in os.uname().release.split(".")[:2])
    if (major, minor) < _PID_MAX_IS_PRIVATE:
        return False
    try:
        _write("/proc/sys/kernel/pid_max", str(most + _NOT_USED_AGAIN))
    except OSError:
        return False
    return True


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
