"""A question of a run's: whether a tool may be called, as a person sees it.

It says who asks, and at which generation, so that no answer can be taken for another question's.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from lastword.core.brief import without_middle
from lastword.core.changes import Change
from lastword.core.model import Generation, RunId, SessionId
from lastword.core.value import value

News: TypeAlias = Literal["opened", "answered", "withdrawn"]
ScopeKind: TypeAlias = Literal[
    "command", "program", "file", "folder", "reading", "address", "host", "call"
]
_WORDS: dict[ScopeKind, str] = {
    "command": "this exact command",
    "program": "`{0} *`",
    "file": "any change of {0}",
    "folder": "any change below {0}/",
    "reading": "{1} of {0}",
    "address": "this exact address",
    "host": "any address at {0}",
    "call": "this exact call",
}


@value
class Scope:
    """One way to mean *always*."""

    id: Literal["this", "wider"]
    kind: ScopeKind
    tool: str
    value: str  # the command, the path, the directory, the host

    @property
    def words(self) -> str:
        """The same for people."""
        return _WORDS[self.kind].format(without_middle(self.value), self.tool)


@value
class Question:
    """Whether a tool may be called."""

    id: str
    session: SessionId
    generation: Generation
    run: RunId
    tool: str  # as the rules call it
    text: str  # the arguments, as the person is shown them
    subject: str = ""  # what the rules look at: the command line, the path
    call: str = ""  # its id in the ledger
    scopes: tuple[Scope, ...] = ()  # how far *always* may reach, the narrow first
    change: Change | None = None  # what it would do to a file, if that is known
    at: float = 0.0  # when it was asked, in seconds since 1970
    why: str = ""  # no rule allows it: the reason
    above: tuple[SessionId, ...] = ()  # the sessions for which that one works, the person's first

    def meant(self, scope: str) -> Scope | None:
        """How far an *always* reaches: as the scope of that id, or the narrowest; None if it cannot
        be said for good. Raises ValueError if no such scope is offered."""
        if scope and scope not in {one.id for one in self.scopes}:
            raise ValueError(f"question {self.id} offers no scope {scope!r}; nothing was done")
        return next((one for one in self.scopes if scope in ("", one.id)), None)
