"""What a model is shown of a session, kept up with its log: only what is new is read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lastword.core.doubts import Doubts
from lastword.core.entries import Entry
from lastword.core.model import SessionId
from lastword.core.shown import Partial
from lastword.core.transcript import Past, Suspects, Transcript
from lastword.runtime.journal import Journal, ask
from lastword.stores.contract import Store

_AT_ONCE = 500  # entries that are taken in in one step


class History:
    """One session's."""

    def __init__(
        self, session: SessionId, store: Store, journal: Journal, partial: Partial
    ) -> None:
        self._session = session
        self._store = store
        self._journal = journal
        self._partial: Partial = partial
        self._transcript = Transcript(partial)
        self.doubts = Doubts()
        self._taught = False
        self._read = 0
        self._turn = asyncio.Lock()  # two readers would add the same entries twice

    def forget(self) -> None:
        """Know nothing of what is shown until it is asked for again."""
        if not self._turn.locked():
            self._transcript, self._read = Transcript(self._partial), 0

    async def shown(self) -> Past:
        """All that is durable by now."""
        await self._journal.committed()
        return await self._durable()

    async def for_a_run(self, wanted: Callable[[], bool]) -> Past:
        """The same; a store in trouble only delays it, for as long as the run is wanted."""
        await self._journal.committed_at_last(wanted)
        return await self._durable()

    @property
    def declined(self) -> bool:
        """Whether a provider did not take what it was asked last; as of what was read."""
        return self._transcript.declined

    @property
    def suspects(self) -> Suspects:
        """The runs of which something may be what it did not take."""
        return self._transcript.suspects

    async def _durable(self) -> Past:
        async with self._turn:
            new = await ask(self._store.entries(self._session, self._read))
            for start in range(0, len(new), _AT_ONCE):
                if start:
                    await asyncio.sleep(0)  # a long log must not stall the event loop
                self._take(new[start : start + _AT_ONCE])
            self._taught = True  # and not before: a read that failed has taught nothing
            return self._transcript.shown()

    def _take(self, entries: tuple[Entry, ...]) -> None:
        self._read += len(entries)
        self._transcript.add(*entries)
        if not self._taught:  # by what an earlier process did; its own calls it knows
            self.doubts.take(*entries)
