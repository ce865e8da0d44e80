"""A child's session, from the side of the run that started it.

It ends in the same instant, unless it was kept; a stop of the parent waits for it, and counts what
it had.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lastword.core.entries import Text
from lastword.core.events import Event, StopAsked
from lastword.core.model import Reason, RunId, SessionId
from lastword.core.receipt import ProcessReport, Receipt, Unconfirmed
from lastword.core.seen import seen
from lastword.runtime.journal import ask
from lastword.runtime.work import Work
from lastword.stores.contract import Store


class Descendant:
    """What its parent's stop asks of it, and what its parent's receipt says of it."""

    def __init__(
        self, session: SessionId, work: Work, tell: Callable[[Event], object], store: Store
    ) -> None:
        self.id = session
        self._stops, self._runs, self._journal = work.stops, work.runs, work.journal
        self._tell = tell
        self._store = store
        self._dropped = 0
        self._doubts: list[Unconfirmed] = []  # what was given up, and may have arrived
        self._processes: list[ProcessReport] = []
        work.stops.on_settled = self._settled

    def _settled(self, receipt: Receipt) -> None:
        self._dropped += receipt.dropped
        self._doubts += [one for one in receipt.unconfirmed if one.kind == "delivery"]
        self._processes += _its_own(receipt)

    def end_with_parent(self) -> None:
        self._tell(StopAsked(Reason.PARENT))

    async def unwound(self) -> None:
        while left := [s.answer for s in self._stops.pending if not s.answer.done()]:
            await asyncio.wait(left)

    async def gone(self) -> None:
        await self._stops.gone()

    @property
    def unconfirmed(self) -> list[Unconfirmed]:
        return [*(one for s in self._stops.pending for one in s.unconfirmed), *self._doubts]

    @property
    def dropped(self) -> int:
        return self._dropped + sum(s.receipt().dropped for s in self._stops.pending)

    @property
    def processes(self) -> tuple[ProcessReport, ...]:
        now = (report for s in self._stops.pending for report in _its_own(s.receipt()))
        return (*self._processes, *now)

    @property
    def has_processes(self) -> bool:
        return any(going.has_processes for s in self._stops.pending for going in s.goings)

    @property
    def alive(self) -> bool:
        dying = (going for s in tuple(self._stops.pending) for going in s.goings)
        return any(going.alive for going in (*self._runs.going.values(), *dying))

    def end_processes_now(self) -> None:
        self._runs.end_processes_now(all_of_them=True)

    async def processes_gone(self) -> None:
        for settlement in tuple(self._stops.pending):
            for going in settlement.goings:
                await going.processes_gone()

    async def text_of(self, run: RunId) -> str:
        """What a run said."""
        await self._journal.committed()
        entries = seen(await ask(self._store.entries(self.id)))
        return "".join(e.text for e in entries if isinstance(e, Text) and e.run == run)


def _its_own(receipt: Receipt) -> list[ProcessReport]:
    return [report for report in receipt.processes if report.fate != "kept"]  # those are the root's
