"""Cells from outside of any run, by their session and their id: for a person, a server, a shell."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from secrets import token_hex

from lastword.cells.cell import live
from lastword.cells.cell_run import CellRun
from lastword.cells.translation import Answers, results_of
from lastword.core.cell import CellId, Ending, Frontier, Observation, StoredCell
from lastword.core.model import CallId
from lastword.core.resume import Resume
from lastword.errors import CellGone, NotPausable, UnknownCell
from lastword.runtime.asking import act
from lastword.runtime.runtime import Runtime
from lastword.runtime.session import Session
from lastword.runtime.ticket import Ticket


async def paused(runtime: Runtime) -> tuple[StoredCell, ...]:
    """The cells of all sessions that stand at a frontier, and that nobody has begun to resume."""
    return tuple(cell for cell in await runtime.cells() if cell.record.paused)


@asynccontextmanager
async def observe(session: Session, cell: str, observer: str = "") -> AsyncGenerator[Observation]:
    """Where a cell stands, or how it ended. See `PausableCell.observe`.

    Raises UnknownCell, ObserverBusy, and CellGone for a cell that was frozen.
    """
    async with (await _known(session, cell)).observe(observer or token_hex(4)) as seen:
        yield seen


@act
async def resume(
    session: Session,
    cell: str,
    generation: int,
    results: Answers = (),
    *,
    allow: Collection[str] = (),
    by: str = "",
) -> Ticket:
    """Answer calls of a paused cell, by the number of the frontier at which they were seen.

    `allow` are calls that have no result yet, and may be made: by the agent whose cell it is.

    That is a message of the session, which waits for its turn and takes over from nobody; the
    answers are delivered when its run starts, for which the runtime's engine has to be one made
    with `cells.engine`. Whether they were, the ticket's outcome says. Raises AlreadyRunning,
    StaleGeneration, FutureGeneration, WrongCalls, NotPausable, CellGone or UnknownCell if it was
    not accepted. Then nothing was done.
    """
    living = await _known(session, cell)
    if living.machine.kind != "pausable":
        raise NotPausable(cell)
    if ending := living.machine.ending:
        raise CellGone(cell, ending.outcome)
    asked = Resume(CellId(cell), generation, results_of(results), tuple(map(CallId, allow)))
    session.shelf.must_take(asked.cell, generation, asked.calls)
    # accepted in the step that begins here: whoever resumes it next finds that it was
    return await session.send(asked.text, by=by, attachments=(asked.attached,), on_message="queue")


@act
async def terminate(session: Session, cell: str) -> Ending:
    """End a cell: nothing of it is committed. Raises CellGone if it has ended, or UnknownCell."""
    return await (await _known(session, cell)).terminate()


async def wait(session: Session, cell: str) -> Frontier | Ending:
    """Where a cell stands, or how it ended, as soon as it does either. Raises UnknownCell."""
    return await (await _known(session, cell)).settled()


async def _known(session: Session, cell: str) -> CellRun:
    with session.held():
        await session.loaded()
        shelf, id_ = session.shelf, CellId(cell)
        if id_ in shelf.open:
            return live(shelf, id_)
        found = next((stored for stored in await session.cells() if stored.id == cell), None)
        if found is None:
            raise UnknownCell(cell, session.id)
        if id_ in shelf.open:  # it was not there yet
            return live(shelf, id_)
        if found.record.ending is None:
            raise CellGone(cell, "another process has it")
        seen = shelf.seen.setdefault(id_, CellRun(found, shelf))
        return seen if isinstance(seen, CellRun) else CellRun(found, shelf)
