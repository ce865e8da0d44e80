"""Pages of memory on which others see whether they may act: the keepers of processes, until when
their host may; the process of a run, whether the run still holds its session."""

from __future__ import annotations

import fcntl
import mmap
import os
import tempfile
import time
from contextlib import suppress

from lastword.processes.inside.page import ACTS, CLOCK, NANO, SHUT, SIZE

_FUTURE_WRITE = 0x10  # F_SEAL_FUTURE_WRITE, which Python has no name for


class PageWriter:
    """The host's side of it. Any thread may write."""

    def __init__(self) -> None:
        self.fd = _file()
        os.ftruncate(self.fd, SIZE)
        self._words = memoryview(mmap.mmap(self.fd, SIZE)).cast("q")
        _seal(self.fd)

    @property
    def good(self) -> bool:
        """Whether that time has not come yet."""
        return time.clock_gettime_ns(CLOCK) < self._words[0]

    def set(self, until: float) -> None:
        """Processes may go on until then, by the clock that counts a machine's sleep."""
        self._words[0] = max(int(until * NANO), self._words[0])

    def close(self) -> None:
        """Nobody will look at it any more; whoever writes on it writes on nothing."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
            self._words = memoryview(bytearray(8)).cast("q")  # the mapping goes with its last user


class MayAct:
    """Whether one run may act, for the process in which it lives. Any thread may write: it takes
    no message and no event loop, here or there."""

    def __init__(self) -> None:
        self.fd = _file()  # for who is to read it; to be closed once they have it
        os.ftruncate(self.fd, SIZE)
        self._byte = mmap.mmap(self.fd, SIZE)
        _seal(self.fd)

    def open(self) -> None:
        """It may, from here on; if it is still there."""
        if not self._byte.closed:
            self._byte[0] = ACTS

    def shut(self) -> None:
        """It may not, and never will again."""
        if not self._byte.closed:
            self._byte[0] = SHUT

    def handed_over(self) -> None:
        """Who is to read it has it."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def close(self) -> None:
        """Nobody will look at it any more."""
        self.handed_over()
        self._byte.close()


def _seal(fd: int) -> None:
    """From here on only the mapping above can write it: not who inherits it, nor who opens it."""
    if hasattr(os, "memfd_create"):
        with suppress(OSError):  # an older kernel: then it is as good as its readers are
            fcntl.fcntl(
                fd, fcntl.F_ADD_SEALS, _FUTURE_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW
            )
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SEAL)


def _file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("lastword lease", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
