"""Resumes from outside of a run: each is a message of its session, and a run of its own.

The message carries the answers, so a resume is as durable as any message: it waits in the queue,
is found again after a crash, and can be removed or stopped like one. Until its run delivers the
answers nothing has happened to the frontier, and a resume that never gets that far has not either.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from lastword.cells.cell import PausableCell, live
from lastword.core.cell import CallResult, PendingCall
from lastword.core.resume import Resume, resume_in
from lastword.errors import CellError, EngineFailed
from lastword.processes import Processes
from lastword.runtime.opening import close_engine, open_engine
from lastword.runtime.run import Engine, Run

Make: TypeAlias = Callable[[Sequence[PendingCall]], Awaitable[Sequence[CallResult]]]
Serve: TypeAlias = Callable[[Run, Resume], Awaitable[object]]


def engine(inner: Engine, *, serve: Serve | None = None) -> Engine:
    """An engine that lets resumed cells go on, and leaves all other messages to `inner`.

    A cell goes on under the run's hold until it stands again or has ended. `serve` does that in
    another way, with more to follow. A resume that comes too late for its frontier fails its run.
    """
    return _ServesResumes(inner, serve or go_on)


class _ServesResumes:
    """What `inner` has of its own is opened and closed with it."""

    def __init__(self, inner: Engine, serve: Serve) -> None:
        self._inner = inner
        self._serve = serve

    def __repr__(self) -> str:
        return f"{self._inner!r}, and resumes of cells"

    def open(self, processes: Processes) -> None:
        open_engine(self._inner, processes)

    def close(self) -> None:
        close_engine(self._inner)

    async def __call__(self, run: Run) -> None:
        asked = [one for message in run.messages if (one := resume_in(message))]
        for one in asked:
            await self._serve(run, one)
        if len(asked) < len(run.messages):
            await self._inner(run)


async def go_on(run: Run, asked: Resume) -> None:
    """Deliver the answers; return when the cell stands again, or has ended."""
    if asked.allowed:
        raise EngineFailed(
            f"cell {asked.cell} was not resumed: nobody here can make its calls; bring results"
        )
    await (await delivered(run, asked)).wait()


async def delivered(run: Run, asked: Resume, make: Make | None = None) -> PausableCell:
    """The cell, once it has the answers; those to the calls that are allowed, `make` gives.

    They are made when it is stored that they will be, so that after a crash nobody is invited to
    allow again what may have executed.
    """
    try:
        living = live(run.shelf, asked.cell)
        calls = [call for call in living.machine.pending if call.id in asked.allowed]

        async def all_of_them() -> Sequence[CallResult]:
            return (*asked.results, *(await make(calls) if make else ()))

        given = all_of_them if asked.allowed else None
        await living.resume(run, asked.generation, asked.answers, given)
    except CellError as error:
        raise EngineFailed(str(error)) from error
    return PausableCell(run, living)
