"""Programs that wait for a person: what they wait on, in the words of a question, and the answer.

Such a program has outlived the run that began it, so its calls are no open questions of a run. They
are counted in the order in which they are shown, and answered by that number.
"""

from __future__ import annotations

from lastword import cells
from lastword.agent.left import left_question
from lastword.agent.permission import Questions
from lastword.core.asks import Ask
from lastword.core.cell import PendingCall
from lastword.core.question import Question
from lastword.runtime.session import Session
from lastword.runtime.ticket import Ticket
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
    ask = numbers[told.strip()]
    await answer(session, ask, allow=verb == "allow", by=by)
    return f"{'Allowed' if verb == 'allow' else 'Denied'}: {in_line(ask.tool)}"


async def answer(session: Session, ask: Ask, *, allow: bool, by: str = "") -> Ticket:
    """Say whether a call that a program waits on may be made, as it was seen. Raises CellError if
    somebody was quicker, or the program waits no more."""
    allowed, refused = ([ask.call], {}) if allow else ([], {ask.call: DENIED})
    return await cells.resume(session, ask.cell, ask.generation, refused, allow=allowed, by=by)


def waiting(session: Session) -> list[Ask]:
    """The calls that programs of a session wait on, in the order they are shown."""
    return [ask for ask in session.asks if ask.cell]


async def as_question(session: Session, call: PendingCall, known: Questions | None) -> Question:
    """A call in the words of a question, as far as is known here what it would do."""
    if known is None:
        return left_question(session.id, call)
    await known.look(session.id, [call])
    return known.left(session.id, call)


async def _shown(session: Session, known: Questions | None) -> str:
    lines: list[str] = []
    for number, ask in enumerate(waiting(session), 1):
        call = PendingCall(ask.call, ask.tool, ask.subject)
        first, *more = question_lines(await as_question(session, call, known))
        lines += [f"{number}. {first}", *more]
    return "\n".join([*lines, "  /programs allow N, or /programs deny N"] if lines else _NONE)


_NONE = ["No program waits."]
