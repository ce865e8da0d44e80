"""A way to the other owners of a store: what one asks of whoever has a session, and is answered.

Nobody depends on it for what is stored, or for what leaves: that is the claim's and the lease's. It
is how a stop gets to the process that has the run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from lastword.core.model import SessionId

Answer: TypeAlias = Callable[[str], None]
"""Give the answer, once, from any thread."""
OnAsked: TypeAlias = Callable[[SessionId, str, Answer], None]
"""Told what is asked of this owner, in the store's own thread, before its lease is renewed."""


class Reach(Protocol):
    """An opened store's. What is asked and answered is text."""

    on_asked: OnAsked

    async def ask(self, session: SessionId, asked: str, within: float | None) -> str | None:
        """The answer of whoever has the session; None if nobody has who lives, or we do. It waits
        for as long as that owner lives and does not answer; or for so many seconds, and takes back
        what was asked: `StoreError`."""
        ...


def nobody_asked(session: SessionId, asked: str, answer: Answer) -> None:
    """As long as nobody here answers."""
