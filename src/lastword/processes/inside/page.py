"""The page on which a zygote and its wardens see until when their host may act."""

from __future__ import annotations

import mmap
import os
import time

SIZE = mmap.PAGESIZE
NANO = 1_000_000_000
ACTS, SHUT = 1, 2  # what stands on a run's page, once it has begun and once it may not act
CLOCK: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # a machine's sleep counts


class PageReader:
    """The reading side; without a file, the host has no end."""

    def __init__(self, fd: int = -1) -> None:
        self._words: memoryview | None = None
        if fd >= 0:
            self._words = memoryview(mmap.mmap(fd, SIZE, prot=mmap.PROT_READ)).cast("q")
            os.close(fd)

    @property
    def left(self) -> float | None:
        """For how many seconds processes may go on; None: for ever."""
        if self._words is None:
            return None
        return (self._words[0] - time.clock_gettime_ns(CLOCK)) / NANO
