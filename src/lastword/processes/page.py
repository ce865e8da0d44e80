"""A page of memory on which the keepers of processes see until when their host may act."""

from __future__ import annotations

import fcntl
import mmap
import os
import tempfile
import time
from contextlib import suppress

from lastword.processes.inside.page import CLOCK, NANO, SIZE

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
