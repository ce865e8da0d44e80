"""Calls that programs wait on and a person has to allow, as that person is shown them.

A program outlives its run, and so may what it waits for. What was shown is kept by the call, so
that an allowed call is made only if it is still what was shown.
"""

from __future__ import annotations

from lastword.core.asks import Answer
from lastword.core.cell import PendingCall
from lastword.core.changes import Change
from lastword.core.model import Generation, RunId, SessionId
from lastword.core.question import Question
from lastword.core.value import value

_REMEMBERED = 1000


@value
class Grant:
    """A person has allowed a call before it was made."""

    shown: Question | None  # what they saw, if that is known here
    answer: Answer


def left_question(
    session: str,
    call: PendingCall,
    tool: str = "",
    text: str = "",
    subject: str = "",
    change: Change | None = None,
) -> Question:
    """A call that a program waits on, as something to be answered: this once, for no run."""
    return Question(
        id=call.id,
        session=SessionId(session),
        generation=Generation(0),
        run=RunId(""),
        tool=tool or call.name,
        text=text or call.arguments,
        subject=subject or call.arguments,
        call=call.id,
        change=change,
    )


class LeftCalls:
    """Those of all programs; the oldest are forgotten."""

    def __init__(self) -> None:
        self._shown: dict[str, Question] = {}
        self._granted: dict[str, Grant] = {}  # by the call of the ledger's that makes it

    def keep(self, question: Question) -> Question:
        """It is what a person sees from here on."""
        self._shown.pop(question.call, None)
        self._shown[question.call] = question
        if len(self._shown) > _REMEMBERED:
            del self._shown[next(iter(self._shown))]
        return question

    def shown(self, call: str) -> Question | None:
        """What a person sees of a call, if that is known here."""
        return self._shown.get(call)

    def take(self, call: str) -> Question | None:
        """The same, once: it is being made."""
        return self._shown.pop(call, None)

    def grant(self, call: str, grant: Grant) -> None:
        """It was allowed meanwhile, and is about to be made by that call."""
        self._granted[call] = grant

    def granted(self, call: str) -> Grant | None:
        """The same, once."""
        return self._granted.pop(call, None)
