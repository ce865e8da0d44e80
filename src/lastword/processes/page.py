"""A page of memory on which the keepers of processes see until when their host may act."""

from __future__ import annotations

import mmap
import os
import tempfile
import time

from lastword.processes.inside.page import CLOCK, NANO, SIZE


class Page:
    """The host's side of it. Any thread may write."""

    def __init__(self) -> None:
        self.fd = _file()
        os.ftruncate(self.fd, SIZE)
        self._words = memoryview(mmap.mmap(self.fd, SIZE)).cast("q")

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


def _file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("lastword lease")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
