"""What waits for a person: asked by a run at a generation, answered once, or withdrawn.

No I/O: whoever drives it says what happened and when, and carries the answer to who waits. The law:
an ask is open until its first end, and has one. An answer counts only for the generation it was
seen at, and only while its run may act. What comes later is refused, by what became of the ask.
"""

from __future__ import annotations

from lastword.core.model import Generation, RunId
from lastword.core.value import value
from lastword.errors import (
    AlreadyAnswered,
    AnswerRefused,
    QuestionWithdrawn,
    StaleAnswer,
    UnknownQuestion,
)

_REMEMBERED = 1000  # of those that are closed, so that a late answer hears why it is refused


@value
class Ask:
    """Something that a run may not do by itself."""

    id: str
    run: RunId
    generation: Generation


@value
class Answer:
    """What a person said to it."""

    allowed: bool
    by: str = ""  # empty: whoever sits where the run was started
    scope: str = ""  # what was allowed, or forbidden, for good, in words; empty: this once


class Asks:
    """Those of any number of runs."""

    def __init__(self) -> None:
        self._open: dict[str, Ask] = {}
        self._closed: dict[str, tuple[type[AnswerRefused], str]] = {}  # and why

    def __contains__(self, id: str) -> bool:
        return id in self._open

    def open(self, ask: Ask) -> None:
        """It waits from here on."""
        self._open[ask.id] = ask

    def answer(self, id: str, generation: int, *, current: bool) -> Ask:
        """It is answered, if this is the first answer, to what was seen, and its run may act.

        Raises `AnswerRefused` if not; then nothing has changed, but that an ask whose run may not
        act any more is withdrawn.
        """
        ask = self._open.get(id)
        if ask is None:
            kind, why = self._closed.get(id, (UnknownQuestion, f"there is no question {id}"))
            raise kind(why)
        if generation != ask.generation:
            raise StaleAnswer(
                f"question {id} was asked at generation {ask.generation}, and this answer is "
                f"to one of generation {generation}; it was not taken"
            )
        if not current:
            self.withdraw(id)
            raise QuestionWithdrawn(self._closed[id][1])
        why = f"question {id} has been answered; that answer holds, and this one was not taken"
        self._close(ask, AlreadyAnswered, why)
        return ask

    def withdraw(self, id: str) -> bool:
        """Nobody waits for it any more; whether somebody did."""
        ask = self._open.get(id)
        if ask is None:
            return False
        why = (
            f"question {id} was withdrawn: run {ask.run} was stopped, replaced or has "
            "ended, so the answer came too late and was not taken"
        )
        self._close(ask, QuestionWithdrawn, why)
        return True

    def _close(self, ask: Ask, kind: type[AnswerRefused], why: str) -> None:
        del self._open[ask.id]
        self._closed[ask.id] = kind, why
        if len(self._closed) > _REMEMBERED:
            del self._closed[next(iter(self._closed))]
