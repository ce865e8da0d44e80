"""A module of ours that serves its host over a socket, in a process that a warden forks.

If the warden is a nursery's, all that it needs is imported there; else it is imported here, each
time. Nothing is asked of what it says: that is between the two.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from lastword.processes.command import Command, ProcessLimits, current_folder
from lastword.processes.plumbing import our_stderr
from lastword.processes.warden import Warden


class Served:
    """The host's handle on it."""

    silent = True  # it has no pipes of ours

    def __init__(self, name: str, on_end: Callable[[int], object]) -> None:
        self.pid = -1
        self.command = name
        self._on_end = on_end

    def has_started(self, pid: int) -> None:
        self.pid = pid

    def has_ended(self, code: int) -> None:
        """How it ended, by the warden's word."""
        self._on_end(code)

    def let_go(self) -> None:
        """Nobody is left."""


def as_here(limits: ProcessLimits | None = None) -> dict[str, Any]:
    """The order for something that is to find itself where this program is."""
    return Command(
        argv=tuple(sys.argv),
        name="",
        cwd=current_folder(),
        env=dict(os.environ),
        limits=limits or ProcessLimits(),
        path=tuple(sys.path),
    ).order


async def serve(
    warden: Warden,
    module: str,
    told: object,
    fds: tuple[int, ...],
    who: Served,
    limits: ProcessLimits | None = None,
) -> int:
    """Have a module's `main(fds, told)` called there, with these descriptors; the warden's id of
    that process."""
    order = {**as_here(limits), "start": "module", "module": module, "told": told}
    errors = our_stderr()
    try:
        return await warden.begin(order, (*fds, errors), who)
    finally:
        os.close(errors)
