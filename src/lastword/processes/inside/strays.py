"""Who came to the zygote because the warden that kept them has gone, and whose they may be.

No I/O. Orphans come before their warden can be seen to have gone. So of a warden that was reaped
they came since the look before the last; those who were there already are another's, and an
unkillable one of them costs nobody else anything, but for a warden that went in the same moment.
Whoever comes later may be a child of one of them that has died meanwhile, so every warden that
still waits waits for them, too. Of a warden that is dead and cannot be reaped, since somebody
traces it, nobody knows when it died: it is suspected of all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable


class Strays:
    """By process number, as long as they have not been reaped."""

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._fresh: set[int] = set()  # of those, who came at the last look
        self._awaited: dict[int, set[int]] = {}  # by warden: who has to go before it is told

    def __len__(self) -> int:
        return len(self._known)

    def reaped(self, pid: int) -> None:
        """Its number may be another's from here on."""
        self._known.discard(pid)
        self._fresh.discard(pid)
        for theirs in self._awaited.values():
            theirs.discard(pid)

    def look(self, present: set[int], gone: Iterable[int], dead: Iterable[int] = ()) -> bool:
        """Those who are here, with the wardens that were reaped before, and those that are dead
        and could not be; whether somebody came."""
        came = present - self._known
        recent = came | self._fresh
        for theirs in self._awaited.values():
            theirs.update(came)
        self._awaited |= {warden: set(recent) for warden in gone}
        self._awaited |= {warden: set(present) for warden in dead}
        self._fresh, self._known = came, set(present)
        return bool(came)

    def settled(self, beyond: Collection[int]) -> list[tuple[int, list[int]]]:
        """The wardens of which nobody is left but who cannot be ended, and those; told once."""
        found = [(w, sorted(t)) for w, t in self._awaited.items() if t.issubset(beyond)]
        for warden, _ in found:
            del self._awaited[warden]
        return found
