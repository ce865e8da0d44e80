"""A lease: one owner's right to act, which it renews by moving a count that others watch.

The holder may act until some time after it *asked* to move its count. A watcher may take what the
holder has once it has *seen* the count unmoved for longer than that, by a clock of its own. What
was asked for was asked for before it could be seen, so by then the holder has stopped. No two
clocks are ever compared, only how fast they go: for the length of a lease, they may differ by the
margins.

A lease that has run out is no death: as long as nobody took anything, its holder renews it and
goes on. So whoever renews late has to look, in that same transaction, what was taken meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from lastword.core.value import value

NEVER = float("-inf")
Owner: TypeAlias = int  # an epoch: a number that is never given twice


@value
class Terms:
    """How long a lease is good for, in seconds, and what follows from that."""

    length: float

    @property
    def margin(self) -> float:
        """What the holder stops before its time, and a watcher waits beyond it."""
        return self.length / 10

    @property
    def beat(self) -> float:
        """How often it is renewed, and looked at."""
        return self.length / 5

    @property
    def gap(self) -> float:
        """How long a watcher may not have looked, and still believe what it remembers."""
        return self.length / 2


class Lease:
    """What its holder knows of it. Times are the holder's."""

    __slots__ = ("ended", "terms", "until")

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.until = NEVER  # and not in that instant any more
        self.ended = False  # for good

    def good(self, now: float) -> bool:
        """Whether what leaves may leave."""
        return now < self.until

    def must_look(self, now: float) -> bool:
        """Whether somebody may have taken something; `now` is within the transaction that renews.

        From there on nobody can who has not seen the new count, and waited for that one.
        """
        return now >= self.until

    def answered(self, asked: float) -> None:
        """The count was moved, as was asked for at that time."""
        if not self.ended:
            self.until = max(self.until, asked + self.terms.length - self.terms.margin)

    def end(self) -> None:
        """Its owner gives up everything: nothing leaves from here on."""
        self.ended, self.until = True, NEVER


@value
class _Seen:
    count: int
    at: float


class Watch:
    """What somebody knows of the others' leases. Times are those of who watches."""

    __slots__ = ("_looked", "_seen", "_terms")

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._seen: dict[Owner, _Seen] = {}
        self._looked = NEVER

    def answered(self, now: float, counts: Mapping[Owner, tuple[int, Terms]]) -> frozenset[Owner]:
        """The counts as they stood, at the latest, at that time; those owners that are dead by it.

        Who could not look for a while does not know whether they could have moved them, and counts
        anew.
        """
        if now - self._looked > self._terms.gap:
            self._seen.clear()
        self._looked = now
        before = self._seen
        self._seen = {
            owner: seen
            if (seen := before.get(owner)) is not None and seen.count == count
            else _Seen(count, now)
            for owner, (count, _) in counts.items()
        }
        return frozenset(
            owner
            for owner, (_, terms) in counts.items()
            if now - self._seen[owner].at >= terms.length + terms.margin
        )
