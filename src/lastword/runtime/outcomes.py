"""Outcomes are told when they are durable, not before: after a crash the log has the last word."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TypeAlias

from lastword.core.model import Outcome, SessionId
from lastword.errors import StoreError
from lastword.runtime.journal import AGAIN, Journal
from lastword.runtime.ticket import Ticket

log = logging.getLogger("lastword")
Told: TypeAlias = list[tuple[Ticket, Outcome, str]]


class Outcomes:
    """One session's."""

    def __init__(self, session: SessionId, journal: Journal) -> None:
        self._session = session
        self._journal = journal
        self._late: Told = []  # those whose commit failed
        self._again: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def late(self) -> bool:
        """Whether somebody is still to be told."""
        return bool(self._late or self._again)

    def when_durable(self, told: Told) -> None:
        """Commit what is in the journal, and tell these once that has succeeded."""
        self._journal.commit().add_done_callback(partial(self._committed, told))

    def _committed(self, told: Told, commit: asyncio.Future[None]) -> None:
        error = asyncio.CancelledError() if commit.cancelled() else commit.exception()
        late, self._late = [*self._late, *told], []
        if error is None:
            tell(late)
            return
        why = type(error.__cause__ or error).__name__  # its text may quote what was said
        log.error("not durable session=%s error=%s", self._session, why)
        if self._closed or self._journal.closed:
            self._give_up(late)
            return
        self._late = late
        if self._again is None:
            self._again = asyncio.get_running_loop().call_later(AGAIN, self._try_again)

    def _try_again(self) -> None:
        self._again = None
        self.when_durable([])

    def close(self) -> None:
        """Nothing becomes durable from here on."""
        self._closed = True
        if self._again:
            self._again.cancel()
        late, self._late = self._late, []
        self._give_up(late)

    def _give_up(self, told: Told) -> None:
        """Say what whoever has the log says of it: what had begun is lost; the rest may yet run."""
        for ticket, outcome, _ in told:
            why = f"that message {ticket.message.id} was {outcome} could not be stored"
            if outcome is Outcome.LOST:
                why = f"another process has session {self._session} by now"
            if ticket.begun:
                ticket.tell_outcome(Outcome.LOST, why)
            else:
                ticket.tell_unknown(StoreError(f"{why}; it still waits in session {self._session}"))


def tell(told: Told) -> None:
    """Those who wait for an outcome learn it."""
    for ticket, outcome, why in told:
        ticket.tell_outcome(outcome, why)
