"""Cells as a run has them: a program that is begun, looked at, answered and ended.

There are two kinds, with different rights. A pausable cell makes no call: it stands still where it
waits, outlives its run, and goes on when somebody brings results. A continuing cell's calls are
made at once, by its run, and nobody else may answer them.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from secrets import token_hex
from typing import Any

from lastword.cells.cell_run import CellRun
from lastword.cells.functions import Function, functions
from lastword.cells.limits import ProgramLimits
from lastword.cells.stubs import Tool, callable_as
from lastword.cells.translation import Answers, encoded, results_of
from lastword.core.cell import (
    CallResult,
    CellId,
    Ending,
    Frontier,
    Kind,
    Observation,
    PendingCall,
    StoredCell,
)
from lastword.core.frontier import CellMachine
from lastword.core.model import RunId
from lastword.errors import CellGone, NotPausable
from lastword.runtime.run import Run
from lastword.runtime.session_cells import SessionCells


class PausableCell:
    """A program that stands still at each frontier until it is resumed. Belongs to its session."""

    def __init__(self, run: Run, living: CellRun) -> None:
        self._run = run
        self._living = living

    @classmethod
    async def start(
        cls,
        run: Run,
        source: str,
        *,
        tools: Sequence[Tool] = (),
        limits: ProgramLimits | None = None,
    ) -> PausableCell:
        """Begin a program. It is on the session's shelf before its first line runs."""
        if run.above is not None:
            raise ValueError(
                f"{run.session} is a child run's session, in which nobody could answer it later; "
                "use a ContinuingCell"
            )
        return cls(run, await _begun(run, source, "pausable", tools, (), limits))

    @classmethod
    def taken_up(cls, run: Run, id: str) -> PausableCell:
        """A cell that an earlier run, maybe of an earlier process, left standing."""
        living = live(run.shelf, CellId(id))
        if living.machine.kind != "pausable":
            raise NotPausable(id)
        return cls(run, living)

    def __repr__(self) -> str:
        return f"<PausableCell {self.id} frontier={self._living.machine.generation}>"

    @property
    def id(self) -> CellId:
        return self._living.machine.cell

    @property
    def begun_by(self) -> RunId:
        """The run for which it last worked."""
        return RunId(self._living.stored.run)

    @property
    def printed(self) -> str:
        """All that it has printed while this process had it, whoever was given it."""
        return self._living.printed

    def observe(self, observer: str = "") -> AbstractAsyncContextManager[Observation]:
        """`async with` it to see where it stands. That changes nothing but whose turn it is.

        What was printed is given to one observer at a time, and once: it goes back if the block
        raises. Raises ObserverBusy.
        """
        return self._living.observe(observer or token_hex(4))

    async def resume(self, generation: int, results: Answers) -> None:
        """Answer calls of the frontier with that number. Returns when the program has them.

        Raises AlreadyRunning, StaleGeneration, FutureGeneration, WrongCalls or CellGone at once,
        and NotDelivered later; then the frontier is as it was.
        """
        await self._living.resume(self._run, generation, results_of(results))

    async def make(
        self,
        generation: int,
        calls: Sequence[PendingCall],
        make: Callable[[], Awaitable[list[CallResult]]],
    ) -> None:
        """Have calls of the frontier with that number made here, and go on with what they give.

        It is stored first that they are going to be: after a crash nobody is asked for them again.
        """
        results = tuple(CallResult(call.id, "null") for call in calls)
        await self._living.resume(self._run, generation, results, make)

    async def terminate(self) -> Ending:
        """End it: nothing of it is committed. Raises CellGone if it has ended."""
        self._run.must_hold("the end of this cell")
        return await self._living.terminate()

    async def wait(self) -> Frontier | Ending:
        """Where it stands, or how it ended, as soon as it does either."""
        return await self._living.settled()


class ContinuingCell:
    """A program whose calls are made at once, through its run. It can be watched, and ended."""

    def __init__(self, run: Run, living: CellRun) -> None:
        self._run = run
        self._living = living

    @classmethod
    async def start(
        cls,
        run: Run,
        source: str,
        *,
        tools: Iterable[Function | Callable[..., Any]] = (),
        limits: ProgramLimits | None = None,
    ) -> ContinuingCell:
        """Begin a program over these functions."""
        given = functions(tools)
        described = [one.tool for one in given]
        return cls(run, await _begun(run, source, "continuing", described, given, limits))

    def __repr__(self) -> str:
        return f"<ContinuingCell {self.id} frontier={self._living.machine.generation}>"

    @property
    def id(self) -> CellId:
        return self._living.machine.cell

    @property
    def printed(self) -> str:
        """All that it has printed while this process had it, whoever was given it."""
        return self._living.printed

    def observe(self, observer: str = "") -> AbstractAsyncContextManager[Observation]:
        """The same as a pausable cell's."""
        return self._living.observe(observer or token_hex(4))

    async def terminate(self) -> Ending:
        """End it, with the calls that it waits on. Raises CellGone if it has ended."""
        self._run.must_hold("the end of this cell")
        return await self._living.terminate()

    async def wait(self) -> Ending:
        """How it ended, as soon as it has."""
        return await self._living.ended()


async def _begun(
    run: Run,
    source: str,
    kind: Kind,
    tools: Sequence[Tool],
    given: tuple[Function, ...],
    limits: ProgramLimits | None,
) -> CellRun:
    callable_as(tools)  # or it raises
    remembered = {name: json.loads(value) for name, value in await run.shelf.values()}
    machine = CellMachine(CellId(f"c{token_hex(6)}"), kind)
    stored = StoredCell(run.session, machine.record, source, encoded(tools), run.id, run.by)
    living = CellRun(stored, run.shelf, given, machine)
    living.start(run, limits, remembered)
    return living


def live(shelf: SessionCells, id: CellId) -> CellRun:
    """A cell that has not ended, taken up if an earlier process left it. Raises CellGone."""
    found = shelf.open.get(id)
    if found is None:
        raise CellGone(id, "or there never was one")
    if not isinstance(found, CellRun):
        found = CellRun(found.stored, shelf)
        shelf.put(found)
    return found
