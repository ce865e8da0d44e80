"""Programs that wait for a person, at a terminal: what they wait on, and how it is answered.

Such a program has outlived the run that began it, so its calls are no open questions of a run. They
are shown in the same words, and answered by number, by a line that says what is meant.
"""

from __future__ import annotations

from collections.abc import Callable

from lastword import cells
from lastword.cli.chat.question import question_lines
from lastword.core.cell import PendingCall, StoredCell
from lastword.core.question import Question
from lastword.runtime.session import Session

WAITS = "? A program waits for you; /programs shows what for."
_NO = "the person did not allow it"
_HOW = "  /programs allow N, or /programs deny N"


def waiting(session: Session) -> list[tuple[StoredCell, PendingCall]]:
    """The calls that programs of a session wait on, in the order they are shown."""
    stand = [one.stored for one in session.shelf.cells if one.stored.record.paused]
    frontiers = [(cell, cell.record.frontier) for cell in stand]
    return [(cell, call) for cell, at in frontiers if at for call in at.pending]


def shown(session: Session, worded: Callable[[PendingCall], Question]) -> str:
    """All of them, in the words of a question."""
    every = [(number, call) for number, (_, call) in enumerate(waiting(session), 1)]
    if not every:
        return "No program waits."
    lines = [f"{number}. {line}" if first else line
             for number, call in every
             for first, line in _numbered(question_lines(worded(call)))]  # fmt: skip
    return "\n".join([*lines, _HOW])


async def answered(session: Session, words: str, by: str) -> str:
    """Answer one of them by its number; what is to be said of that."""
    verb, _, told = words.partition(" ")
    numbers = {str(n): one for n, one in enumerate(waiting(session), 1)}
    if verb not in ("allow", "deny") or told.strip() not in numbers:
        raise ValueError("say which: /programs allow N, or /programs deny N, as /programs counts")
    cell, call = numbers[told.strip()]
    at = cell.record.frontier.generation if cell.record.frontier else 0
    if verb == "allow":
        await cells.resume(session, cell.id, at, allow=[call.id], by=by)
        return f"Allowed: {call.name}"
    await cells.resume(session, cell.id, at, {call.id: cells.Err(_NO)}, by=by)
    return f"Denied: {call.name}"


def _numbered(lines: list[str]) -> list[tuple[bool, str]]:
    return [(number == 0, line) for number, line in enumerate(lines)]
