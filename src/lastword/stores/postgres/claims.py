"""What this store owns, as it remembers it: each session with the claim of its last load.

All of it is changed on the store's own event loop, in one step with what it follows from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from lastword.core.model import SessionId
from lastword.stores.lease import Claim, Tenure


@dataclass(slots=True, eq=False)
class Held:
    """A session, as it was loaded or first written here."""

    name: SessionId
    key: int
    root: int  # the key of the topmost above it, or its own
    writes: int  # how often it was written: what the next write follows upon
    claim: Claim


class Claims:
    """Of one opened store. They are kept after they ended, until the session is let go."""

    def __init__(self, tenure: Tenure) -> None:
        self._tenure = tenure
        self._held: dict[SessionId, Held] = {}
        self._numbers: dict[int, int] = {}  # of each root: the claim that its row has, if ours

    def get(self, session: SessionId) -> Held | None:
        """What there is of it, though the claim may have ended."""
        return self._held.get(session)

    def number(self, root: int) -> int:
        """The claim that a root's row has, as far as it is ours; else one that none has."""
        return self._numbers.get(root, -1)

    def new(self) -> Claim:
        """One that nothing is known of yet."""
        return Claim(self._tenure)

    def take(self, session: SessionId, key: int, root: int, number: int, writes: int) -> Held:
        """It is ours from here on; whoever had it here before goes on with nothing."""
        if before := self._held.get(session):
            before.claim.end()
        self._numbers[root] = number
        self._held[session] = held = Held(session, key, root, writes, self.new())
        return held

    def lose(self, session: SessionId) -> None:
        """Another has it."""
        if held := self._held.get(session):
            held.claim.end()

    def lose_all(self) -> tuple[SessionId, ...]:
        """All that was ours is anybody's; what that was."""
        lost = [held for held in self._held.values() if not held.claim.ended]
        for held in lost:
            held.claim.end()
        self._numbers.clear()
        return tuple(held.name for held in lost)

    def let_go(self, root: int) -> None:
        """A session and those below it are nobody's."""
        self._numbers.pop(root, None)
        for name in [held.name for held in self._held.values() if held.root == root]:
            self._held.pop(name).claim.end()

    def any_of(self, root: int) -> bool:
        """Whether there is anything here of a session, or of those below it."""
        return any(held.root == root for held in self._held.values())

    def forget(self, session: SessionId) -> None:
        """It is gone."""
        if held := self._held.pop(session, None):
            held.claim.end()

    def lost(self, among: Collection[SessionId]) -> Iterator[SessionId]:
        """Those of them whose claim has ended."""
        for session in among:
            if (held := self._held.get(session)) and held.claim.ended:
                yield session

    def __contains__(self, session: SessionId) -> bool:
        return session in self._held
