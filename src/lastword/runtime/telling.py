"""Outcomes are told when they are durable, not before: after a crash the log has the last word."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TypeAlias

from lastword.core.model import Outcome, SessionId
from lastword.runtime.journal import Journal
from lastword.runtime.ticket import Ticket

log = logging.getLogger("lastword")
Told: TypeAlias = list[tuple[Ticket, Outcome, str]]
_AGAIN = 1.0  # seconds until what could not be stored is tried again


class Telling:
    """One session's."""

    def __init__(self, session: SessionId, journal: Journal) -> None:
        self._session = session
        self._journal = journal
        self._late: Told = []  # those whose commit failed
        self._again: asyncio.TimerHandle | None = None
        self._closed = False

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
            tell_lost(late)
            return
        self._late = late
        if self._again is None:
            self._again = asyncio.get_running_loop().call_later(_AGAIN, self._try_again)

    def _try_again(self) -> None:
        self._again = None
        self.when_durable([])

    def close(self) -> None:
        """Nothing becomes durable from here on."""
        self._closed = True
        if self._again:
            self._again.cancel()
        late, self._late = self._late, []
        tell_lost(late)


def tell(told: Told) -> None:
    """Those who wait for an outcome learn it."""
    for ticket, outcome, why in told:
        ticket.tell_outcome(outcome, why)


def tell_lost(told: Told) -> None:
    """Say what whoever reads the log later will say."""
    for ticket, outcome, _ in told:
        ticket.tell_outcome(Outcome.LOST, f"that it was {outcome} could not be stored")
