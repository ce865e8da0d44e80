"""Calls of idempotent tools that may have executed: whoever repeats one is given its key again."""

from __future__ import annotations

from lastword.core.entries import Called, Entry, Result
from lastword.core.model import CallId, Status

_MOST = 1000  # are remembered, the newest


class Doubts:
    """One session's, learned from its entries."""

    def __init__(self) -> None:
        self._called: dict[CallId, Called] = {}  # and not settled
        self._keys: dict[tuple[str, str, str], None] = {}  # by name, arguments and key, in order

    def take(self, *entries: Entry) -> None:
        """Learn what was called, and what became of it."""
        for entry in entries:
            if isinstance(entry, Called) and entry.key:
                self._called[entry.call] = entry
                self._keys.pop(_known_by(entry), None)
            elif isinstance(entry, Result) and (called := self._called.pop(entry.call, None)):
                self._settle(called, entry)

    def _settle(self, called: Called, result: Result) -> None:
        if result.status is Status.COMPLETED and not result.error:
            return
        self._keys[_known_by(called)] = None
        if len(self._keys) > _MOST:
            del self._keys[next(iter(self._keys))]

    def key(self, name: str, arguments: str) -> str:
        """The key of such a call that is in doubt, the oldest first; or none."""
        found = [key for n, a, key in self._keys if (n, a) == (name, arguments)]
        if found:
            del self._keys[name, arguments, found[0]]
        return found[0] if found else ""


def _known_by(called: Called) -> tuple[str, str, str]:
    return called.name, called.arguments, called.key
