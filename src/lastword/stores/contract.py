"""What a store is: a log for each session that refuses whoever has lost the right to write.

One call is one transaction. A write carries its session's generation, and a store that has seen
a higher one takes nothing of it: whoever moved the generation has the last word, also when the
writer does not know yet. In SQLite the single writer makes it so, in PostgreSQL the locked row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from lastword.core.model import Generation, Message, MessageId, Outcome, RunId, SessionId
from lastword.core.transcript import Entry


@dataclass(frozen=True, slots=True)
class Write:
    """What is to become durable together."""

    session: SessionId
    generation: Generation
    serial: int  # how many messages the session has numbered
    entries: tuple[Entry, ...]
    parent: SessionId | None = None  # of a child run's session: the session that goes on above it


@dataclass(frozen=True, slots=True)
class StoredSession:
    """What outlives everything, the session's own deletion included."""

    generation: Generation
    serial: int


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message that was accepted before."""

    message: Message
    run: RunId
    outcome: Outcome | None  # None: it has not ended


@runtime_checkable
class Store(Protocol):
    """What survives the process. Every method may raise `StoreError`."""

    async def load(self, session: SessionId) -> StoredSession | None:
        """Where the session stands, also if it was deleted; None if it never was."""
        ...

    async def commit(self, write: Write) -> None:
        """Make it durable, all or nothing. An older generation: `StaleWrite`."""
        ...

    async def entries(self, session: SessionId) -> tuple[Entry, ...]:
        """The session's log, in order."""
        ...

    async def message(self, session: SessionId, id: MessageId) -> StoredMessage | None:
        """A message of the session by its id, however long ago."""
        ...

    async def sessions(self) -> tuple[SessionId, ...]:
        """The sessions that have a log."""
        ...

    async def delete(self, session: SessionId) -> None:
        """Forget the log, and everything of the sessions below it.

        The session's own generation and serial stay, so that nothing starts over; the names of
        those below are made from them, and so are never used again.
        """
        ...

    async def close(self) -> None:
        """Let go of files and connections."""
        ...
