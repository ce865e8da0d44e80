"""The few calls of the kernel's that Python has no name for."""

from __future__ import annotations

import ctypes
import os
import signal
from contextlib import suppress

_PDEATHSIG, _DUMPABLE, _SET_NAME, _CAPBSET_DROP, _SUBREAPER = 1, 4, 15, 24, 36  # prctl's
_SYS_PTRACE = 19  # a capability
_CAPABILITIES = 0x20080522  # the version of capset's arguments
_NEWNS, _NEWUSER, _NEWPID = 0x00020000, 0x10000000, 0x20000000  # unshare's
_SLAVE = 0x80000 | 0x4000  # mount's: what the host mounts later is seen here, and not the reverse
_DETACH = 2  # umount's: at once, with whatever is mounted below
_PROC_FLAGS = 2 | 4 | 8  # nosuid, nodev, noexec
_PID_MAX_IS_PRIVATE = (6, 14)  # from this kernel on, pid_max belongs to the namespace
_NOT_USED_AGAIN = 300  # the lowest numbers, once they have been given: so they are passed over

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


def be_out_of_reach(*, out: bool = True) -> None:
    """Let nobody of the same user trace this process, look into it, or take its descriptors.

    A program that is started forgets it; a fork does not. Only root can do it all the same.
    """
    with suppress(OSError):  # where there is no such thing, there is none to be kept from
        _call("prctl", _DUMPABLE, 0 if out else 1, 0, 0, 0)


def be_called(name: bytes) -> None:
    """As `ps` shows this process."""
    with suppress(OSError):
        _call("prctl", _SET_NAME, name, 0, 0, 0)


def trace_nobody() -> None:
    """Have no program that is started from here trace others, or look into them, as root could.

    Root's own keepers, and its host, are then as far out of reach as anybody's.
    """
    with suppress(OSError):  # who is not root, or has given it up before, has none to give up
        _call("prctl", _CAPBSET_DROP, _SYS_PTRACE, 0, 0, 0)


def give_up_powers() -> None:
    """The same for a fork: root's keeps the others; a user's has none outside of its namespace."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then their upper halves
    with suppress(OSError):
        _call("capget", header, sets)
        if os.getuid() == 0:
            kept = [half & ~(1 << _SYS_PTRACE) for half in sets[:3]] + sets[3:]
        else:
            kept = [0] * 6
        _call("capset", header, (ctypes.c_uint32 * 6)(*kept))


def go_on_without_parent() -> None:
    """Have the kernel wake this process when its parent ends, should somebody have stopped it."""
    with suppress(OSError):
        _call("prctl", _PDEATHSIG, signal.SIGCONT, 0, 0, 0)


def die_with_parent() -> None:
    """Have the kernel end this process with its parent, which must have one thread only."""
    _call("prctl", _PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def unshare_processes(*, user: bool) -> None:
    """Have the next child begin a process namespace; `user`: in a user namespace of its own."""
    uid, gid = os.getuid(), os.getgid()
    _call("unshare", _NEWPID | _NEWNS | (_NEWUSER if user else 0))
    if user:
        be_out_of_reach(out=False)  # or the files below would be root's; nothing runs here yet
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")
        be_out_of_reach()


def mount_own_proc() -> None:
    """See only the processes of this namespace in /proc.

    Root could unmount it again, so what was there goes first; whoever cannot take that away
    cannot unmount the new one either.
    """
    _call("mount", b"none", b"/", None, _SLAVE, None)
    with suppress(OSError):
        while True:
            _call("umount2", b"/proc", _DETACH)
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
        _write("/proc/sys/kernel/ns_last_pid", str(_NOT_USED_AGAIN - 1))
    except OSError:
        return False
    return True


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
