"""What of a session is here only while there is something to do.

It is made together, and let go together once the store has all of it; what comes next finds the
rest there. Whoever waits for anything on the way to an act holds the session at work meanwhile, so
nothing that was let go ever acts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from lastword.core.events import Event
from lastword.core.model import MessageId
from lastword.errors import StoreError
from lastword.runtime.announcer import Announcer
from lastword.runtime.journal import Journal
from lastword.runtime.messages import Messages
from lastword.runtime.runs import Kin, Runs
from lastword.runtime.seat import Move, Seat
from lastword.runtime.session_cells import SessionCells
from lastword.runtime.shared import Shared
from lastword.runtime.stop import Stops
from lastword.runtime.tasks import ended
from lastword.runtime.ticket import Outcomes


class Work:
    """One session's."""

    def __init__(
        self,
        seat: Seat,
        shared: Shared,
        kin: Kin,
        tell: Callable[[Event], Move],
        *,
        lost: Callable[[], None],  # called when the session turns out to be another process's
        close: Callable[[], None],  # and when all of that has been said
    ) -> None:
        id_, home = seat.id, kin.root or seat
        above = kin.ancestors[-1] if kin.ancestors else None
        self.journal = journal = Journal(
            id_, shared.store, seat.machine, self._refuse, lost, above, shared.clock
        )
        self.messages = Messages(seat, shared, journal, tell)
        self.outcomes = Outcomes(id_, journal)
        self.announcer = Announcer(seat.machine, seat.publish, journal, self.outcomes)
        self.cells = SessionCells(
            id_, journal, shared.processes, seat.publish, seat.asks, seat.inbox.programs_stand
        )
        told = seat.publish, seat.feed
        self.stops = Stops(id_, shared, *told, home.kept, journal, self.outcomes, close)
        self.runs = Runs(
            seat,
            shared,
            kin,
            tell,
            journal=journal,
            announcer=self.announcer,
            cells=self.cells,
            stops=self.stops,
        )

    def _refuse(self, message: MessageId) -> None:
        self.messages.refuse(message)

    @property
    def done(self) -> bool:
        """Whether nothing of it goes on, is awaited, or is only known here."""
        goes_on = (
            self.runs.going
            or self.stops.pending
            or self.stops.kept
            or self.stops.tasks.living
            or self.cells.at_work
        )
        awaited = self.messages.awaited or self.outcomes.late
        return not (goes_on or awaited or self.journal.behind or self.journal.closed)

    async def flushed(self, seconds: float) -> None:
        """Return when all is durable, or cannot be, or so much time has passed."""
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(seconds):
                await self.journal.committed()
        await ended(self.messages.duties.living, seconds)

    def retire(self) -> None:
        """Nothing of this is to be stored or told any more."""
        self.journal.close()
        self.outcomes.close()

    def abandon(self) -> None:
        """The runtime ends: nothing of this will be waited for any longer."""
        self.runs.cancel()
        self.stops.tasks.cancel()
        self.messages.duties.cancel()
        self.journal.abandon()
