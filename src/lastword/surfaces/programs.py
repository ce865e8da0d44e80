"""Programs that wait for a person: what they wait on, in the words of a question, and the answer.

Such a program has outlived the run that began it, so its calls are no open questions of a run. They
are counted in the order in which they are shown, and answered by that number.
"""

from __future__ import annotations

from lastword import cells
from lastword.agent.left import left_question
from lastword.agent.permission import Questions
from lastword.core.cell import PendingCall, StoredCell
from lastword.core.question import Question
from lastword.runtime.session import Session
from lastword.surfaces.marking import in_line
from lastword.surfaces.words import question_lines

USAGE = "allow N · deny N"
DENIED = cells.Err("the person did not allow it")


async def do(session: Session, words: str, *, known: Questions | None, by: str = "") -> str:
    """List them, or answer one, and say what came of it. Raises ValueError, or an error of
    lastword's, that says why nothing was done."""
    if not words:
        return await _shown(session, known)
    verb, _, told = words.partition(" ")
    numbers = {str(number): one for number, one in enumerate(waiting(session), 1)}
    if verb not in ("allow", "deny") or told.strip() not in numbers:
        raise ValueError("say which: /programs allow N, or /programs deny N, as /programs counts")
    cell, call = numbers[told.strip()]
    if verb == "allow":
        await cells.resume(session, cell.id, waits_at(cell), allow=[call.id], by=by)
        return f"Allowed: {in_line(call.name)}"
    await cells.resume(session, cell.id, waits_at(cell), {call.id: DENIED}, by=by)
    return f"Denied: {in_line(call.name)}"


def waits_at(cell: StoredCell) -> int:
    """The frontier at which a person can answer it; 0 if there is none."""
    record = cell.record
    stands = record.paused and record.ending is None and record.kind == "pausable"
    return record.frontier.generation if stands and record.frontier else 0


def waiting(session: Session) -> list[tuple[StoredCell, PendingCall]]:
    """The calls that programs of a session wait on, in the order they are shown."""
    stand = [one for one in session.programs if waits_at(one)]
    frontiers = [(cell, cell.record.frontier) for cell in stand]
    return [(cell, call) for cell, at in frontiers if at for call in at.pending]


async def as_question(session: Session, call: PendingCall, known: Questions | None) -> Question:
    """A call in the words of a question, as far as is known here what it would do."""
    if known is None:
        return left_question(session.id, call)
    await known.look(session.id, [call])
    return known.left(session.id, call)


async def _shown(session: Session, known: Questions | None) -> str:
    lines: list[str] = []
    for number, (_, call) in enumerate(waiting(session), 1):
        first, *more = question_lines(await as_question(session, call, known))
        lines += [f"{number}. {first}", *more]
    return "\n".join([*lines, "  /programs allow N, or /programs deny N"] if lines else _NONE)


_NONE = ["No program waits."]
