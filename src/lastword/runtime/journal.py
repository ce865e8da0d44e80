"""What a session is about to make durable, in order.

Entries are added in the same step as what they tell of; a commit takes all that are there, so
several callers share one transaction, and order is kept. What a failed commit left is tried
again with the next one, except messages: their senders are told, and they are taken out.
"""

from __future__ import annotations

import asyncio

from lastword.core.model import MessageId, SessionId
from lastword.core.session import SessionMachine
from lastword.core.transcript import Entry, Said
from lastword.errors import StoreError
from lastword.runtime.tasks import Tasks
from lastword.stores.contract import Store, Write


class Journal:
    """One session's way to its store."""

    def __init__(
        self,
        session: SessionId,
        store: Store,
        machine: SessionMachine,
        parent: SessionId | None = None,
    ) -> None:
        self.serial = 0
        self._machine = machine
        self._parent = parent
        self._session = session
        self._store = store
        self._pending: list[Entry] = []
        self._turn = asyncio.Lock()
        self._tasks = Tasks()
        self._next: asyncio.Task[None] | None = None  # a commit that has not begun

    def add(self, *entries: Entry) -> None:
        """To be committed next."""
        self._pending += entries

    @property
    def behind(self) -> bool:
        """Whether something is not durable yet."""
        return bool(self._pending) or self._turn.locked()

    async def commit(self) -> None:
        """Return once everything added so far is durable. Whoever waits may give up; it goes on."""
        if not self.behind:
            return
        if self._next is None:
            self._next = self._tasks.start(self._commit(), name=f"commit {self._session}")
        await asyncio.shield(self._next)

    async def _commit(self) -> None:
        async with self._turn:
            self._next = None  # what is added from here on is for the next one
            if not self._pending:
                return
            entries, self._pending = self._pending, []
            generation = self._machine.generation
            write = Write(self._session, generation, self.serial, tuple(entries), self._parent)
            try:
                await self._store.commit(write)
            except StoreError:
                self._pending = entries + self._pending
                raise
            except Exception as error:  # a store of somebody else's; its errors are not ours
                self._pending = entries + self._pending
                raise StoreError(f"the store failed: {error!r}") from error

    def forget(self, message: MessageId) -> None:
        """Take out a message that its sender was told is not accepted."""
        self._pending = [
            entry
            for entry in self._pending
            if not (isinstance(entry, Said) and entry.message.id == message)
        ]
