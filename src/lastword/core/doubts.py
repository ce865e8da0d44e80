"""Calls of idempotent tools that may have executed: whoever repeats one is given its key again."""

from __future__ import annotations

from lastword.core.entries import Called, Entry, Result
from lastword.core.model import CallId, Status


class Doubts:
    """One session's, learned from its entries; the same entry twice teaches nothing new."""

    def __init__(self) -> None:
        self._called: dict[CallId, Called] = {}  # and not settled
        self._keys: dict[tuple[str, str], str] = {}

    def take(self, *entries: Entry) -> None:
        """Learn what was called, and what became of it."""
        for entry in entries:
            if isinstance(entry, Called) and entry.key:
                self._called[entry.call] = entry
                self.key(entry.name, entry.arguments)
            elif isinstance(entry, Result):
                called = self._called.pop(entry.call, None)
                doubtful = entry.status is Status.MAY_HAVE_EXECUTED or entry.error
                if called and doubtful:
                    self._keys[called.name, called.arguments] = called.key

    def key(self, name: str, arguments: str) -> str:
        """The key of such a call that is in doubt, for the one that repeats it; or none."""
        return self._keys.pop((name, arguments), "")
