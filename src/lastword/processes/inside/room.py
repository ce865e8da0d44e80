"""What a keeper may use: as many descriptors as there are, and what it starts as ever.

A program is given the limit that it would have had without us: some go through all numbers there
are to close them.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress

_NOFILE = resource.RLIMIT_NOFILE
_LIMITS = 16 if sys.platform.startswith("linux") else 9  # kinds of them
_ordinary = resource.getrlimit(_NOFILE)[0]  # read as this begins, before it is raised


def have_all() -> None:
    """Have as many as this user may."""
    with suppress(OSError, ValueError):
        hard = resource.getrlimit(_NOFILE)[1]
        resource.setrlimit(_NOFILE, (hard, hard))


def be_ordinary() -> None:
    """In a process that is no keeper: as it was."""
    with suppress(OSError, ValueError):
        hard = resource.getrlimit(_NOFILE)[1]
        soft = _ordinary if hard == resource.RLIM_INFINITY else min(_ordinary, hard)
        resource.setrlimit(_NOFILE, (soft, hard))


def standing() -> list[object]:
    """All that somebody of the same user can take away from a process without tracing it, and that
    its forks would not have either."""
    limits = [resource.getrlimit(number) for number in range(_LIMITS)]
    if not hasattr(os, "sched_getscheduler"):
        return [*limits, os.getpriority(os.PRIO_PROCESS, 0)]
    turn = os.sched_getscheduler(0), os.sched_getaffinity(0)
    return [*limits, os.getpriority(os.PRIO_PROCESS, 0), *turn]


@contextmanager
def ordinary() -> Generator[None]:
    """Meanwhile what begins has the limit that it would have had without us."""
    be_ordinary()
    try:
        yield
    finally:
        have_all()
