"""Who runs the programs of a runtime's cells: one interpreter, made when it is first needed.

Its workers are in wardens of the runtime's own processes, so they end when the runtime is closed,
however it ends, and there is nothing to close here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from lastword.cells.interpreter import Interpreter
from lastword.cells.limits import ProgramLimits
from lastword.cells.steps import Err, Ok, Step
from lastword.cells.stubs import Tool
from lastword.processes import Processes
from lastword.runtime.session_cells import SessionCells


class Steps(Protocol):
    """What takes a program a step further. An `Interpreter` is one."""

    async def start(
        self,
        source: str,
        *,
        tools: Sequence[Tool] = (),
        values: Mapping[str, Any] | None = None,
        limits: ProgramLimits | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> Step: ...

    def must_read(self, dump: bytes) -> None:
        """Raise UnreadableDump for what nobody could go on from."""
        ...

    async def resume(
        self,
        dump: bytes,
        results: Mapping[str, Ok | Err],
        *,
        on_output: Callable[[str], None] | None = None,
    ) -> Step: ...


WORKERS, _OF_ONE_SESSION = 4, 2  # no session can keep all of them from the others
_homes: WeakKeyDictionary[Processes, Steps] = WeakKeyDictionary()
_turns: WeakKeyDictionary[SessionCells, asyncio.Semaphore] = WeakKeyDictionary()


def turn_of(shelf: SessionCells) -> asyncio.Semaphore:
    """For one step of a program of a session's; it has only so many at a time."""
    return _turns.setdefault(shelf, asyncio.Semaphore(_OF_ONE_SESSION))


def steps_of(processes: Processes) -> Steps:
    """Who takes the steps of programs there."""
    if processes not in _homes:
        _homes[processes] = Interpreter(processes, workers=WORKERS)
    return _homes[processes]


def run_by(processes: Processes, steps: Steps) -> None:
    """Have programs run by this one from now on: one with more workers, or a test's own."""
    _homes[processes] = steps
