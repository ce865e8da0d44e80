"""A story: what happens, what breaks the promise in it, and the four ends that it may have.

An id is for ever: it is never given to something else, and what it asks never changes. A rule that
has to change gets a new id.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Level: TypeAlias = Literal["MUST", "SHOULD", "INFORM"]
Verdict: TypeAlias = Literal["kept", "broken", "cannot tell", "not asked"]
Faculty: TypeAlias = Literal[
    "text", "hears on", "tools", "shell", "asks", "one write", "two sessions", "kill"
]

EDITION = 1  # of the list of stories: which of them there are, and what each of them asks
KINDS = {"A": "acp", "G": "agui", "R": "responses", "V": "v1", "P": "python"}


class Broken(Exception):
    """What was seen, and a promise does not allow."""

    def __init__(self, why: str, parts: Sequence[str] = ()) -> None:
        super().__init__(why)
        self.parts = tuple(parts)


class InVain(Broken):
    """Broken by what did not come in time: on a machine on which it could have come."""


class Unclear(Exception):
    """The situation did not come about, or a witness failed: nothing is known."""


class NotAsked(Exception):
    """The target has no such faculty."""


@dataclass(frozen=True, slots=True)
class Story:
    """One way to be stopped."""

    id: str
    level: Level
    words: str  # what happens, for anybody
    rule: str  # what breaks it
    kinds: str  # letters of KINDS
    tell: Callable[[Any], Awaitable[None]]  # takes a Stage, which is above
    needs: frozenset[Faculty] = field(default_factory=lambda: frozenset[Faculty]({"text"}))
    by_chance: bool = False  # kept can be luck: it is run five times
    by_carrier: bool = False  # once for each way in which a tool of ours can be called
    is_long: bool = False  # it takes as long as five others

    @property
    def takes(self) -> int:
        """How long, as compared with others: the longest are begun first, so that none is alone at
        the end."""
        return (5 if self.by_chance or self.is_long else 1) * (2 if self.by_carrier else 1)

    def lacks(self, kind: str, faculties: frozenset[Faculty]) -> str:
        """Why this target cannot be asked; nothing if it can."""
        if kind not in {KINDS[letter] for letter in self.kinds}:
            return "not asked of a target of this kind"
        missing = sorted(self.needs - faculties)
        return f"the target has no {', '.join(missing)}" if missing else ""
