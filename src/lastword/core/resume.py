"""Answers to a program, as a message brings them: so they are as durable as any message."""

from __future__ import annotations

import json

from lastword.core.asks import Promised
from lastword.core.cell import CallResult, CellId
from lastword.core.model import Attachment, CallId, Message
from lastword.core.value import value

_MALFORMED = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)
ANSWERS = "text/vnd.lastword.answers+json"


@value
class Resume:
    """What a message asks for."""

    cell: CellId
    generation: int
    results: tuple[CallResult, ...]
    allowed: tuple[CallId, ...] = ()  # calls that are to be made now
    by: str = ""  # who answers

    @property
    def calls(self) -> tuple[CallId, ...]:
        """Those that it answers."""
        return (*(result.call for result in self.results), *self.allowed)

    @property
    def answers(self) -> tuple[CallResult, ...]:
        """One for each of its calls, to see whether they fit."""
        return (*self.results, *(CallResult(call, "null") for call in self.allowed))

    @property
    def text(self) -> str:
        """What it is, to whoever reads the conversation."""
        calls = ", ".join(self.calls)
        return f"[Answers to the program {self.cell}, which waited for them: {calls}]"

    @property
    def attached(self) -> Attachment:
        """All of it."""
        results = [[one.call, one.content, one.failed] for one in self.results]
        plain = {"cell": self.cell, "generation": self.generation, "results": results}
        plain |= {"allowed": self.allowed}
        return Attachment(ANSWERS, json.dumps(plain, ensure_ascii=False), name="answers")


def resume_in(message: Message) -> Resume | None:
    """What a message asks for, if it is a resume. Whoever may send one may resume."""
    for one in message.attachments:
        if one.media_type == ANSWERS:
            try:
                plain = json.loads(one.data)
                results = [CallResult(CallId(i), c, bool(f)) for i, c, f in plain["results"]]
                for result in results:
                    json.loads(result.content)
                ids = (plain["cell"], *(i for i, _, _ in plain["results"]), *plain["allowed"])
                if not all(isinstance(id_, str) for id_ in ids):
                    return None
                return Resume(
                    CellId(plain["cell"]),
                    int(plain["generation"]),
                    tuple(results),
                    tuple(map(CallId, plain["allowed"])),
                    message.by,
                )
            except _MALFORMED:
                return None  # somebody else's idea of one
    return None


def promise_in(message: Message) -> Promised | None:
    """The same, for what waits for it."""
    asked = resume_in(message)
    return asked and Promised(message.id, asked.cell, asked.generation, asked.calls)
