"""One message to a target, and all that came of it, in the order in which it came.

`answered` is the target's own word that it is over. What was heard before it is on one side of a
line, what is heard after on the other; no clock is asked which.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lastword.check.times import now


@dataclass(eq=False, slots=True)
class Round:
    """A message that names its run, and what was heard of it."""

    run: str
    sent_at: float = field(default_factory=now)
    heard: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    thoughts: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    stop_at: float | None = None
    answered_at: float | None = None
    outcome: str = ""
    refused: bool = False  # by an error
    gone: bool = False  # it has said nothing: it has died, or has hung up
    answers: int = 0
    named: list[str] = field(default_factory=list[str])  # what the answer says still goes on
    key: str = ""  # what the target calls it
    stops: int = 0  # of it, that have an answer of their own
    refusals: list[str] = field(default_factory=list[str])  # of those, by an error
    nowhere: str = ""  # a stop went to an address that may be wrong
    _line: tuple[int, int] = (0, 0)

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.heard)

    @property
    def mark(self) -> str:
        """What each word of this run begins with."""
        return f"w{self.run}n"

    def hear(self, text: str) -> None:
        self.heard.append((now(), text))

    def think(self, text: str) -> None:
        self.thoughts.append((now(), text))

    def answer(self, outcome: str, *, refused: bool = False, gone: bool = False) -> None:
        """The target's own word that this is over. A second one is counted, and changes nothing."""
        self.answers += 1
        if self.answered_at is None:
            self.answered_at, self.outcome, self.refused = now(), outcome, refused
            self.gone = gone
            self._line = (len(self.heard), len(self.thoughts))

    @property
    def stop_refused(self) -> str:
        """By what: a stop that is refused is not answered. Of several, one has to be taken."""
        return self.refusals[0] if self.stops and len(self.refusals) >= self.stops else ""

    def late(self) -> list[str]:
        """What was heard after the answer."""
        return [] if self.answered_at is None else [t for _, t in self.heard[self._line[0] :]]

    def late_thoughts(self) -> list[str]:
        return [] if self.answered_at is None else [t for _, t in self.thoughts[self._line[1] :]]
