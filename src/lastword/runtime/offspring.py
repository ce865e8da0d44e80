"""A child's session, from the side of the run that started it."""

from __future__ import annotations

import asyncio

from lastword.core.events import StopAsked
from lastword.core.model import Reason, RunId, SessionId
from lastword.core.receipt import ProcessReport, Receipt, Unconfirmed
from lastword.core.seen import seen
from lastword.core.transcript import Text
from lastword.runtime.driver import Driver
from lastword.runtime.journal import ask


class Descendant:
    """What its parent's stop asks of it, and what its parent's receipt says of it."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._dropped = 0
        self._doubts: list[Unconfirmed] = []  # what was given up, and may have arrived
        self._processes: list[ProcessReport] = []
        driver.on_settled = self._settled

    @property
    def id(self) -> SessionId:
        return self._driver.id

    def _settled(self, receipt: Receipt) -> None:
        self._dropped += receipt.dropped
        self._doubts += [one for one in receipt.unconfirmed if one.kind == "delivery"]
        self._processes += _its_own(receipt)

    def end_with_parent(self) -> None:
        self._driver.tell(StopAsked(Reason.PARENT))

    async def unwound(self) -> None:
        while left := [s.answer for s in self._driver.settlements if not s.answer.done()]:
            await asyncio.wait(left)

    async def gone(self) -> None:
        await self._driver.gone()

    @property
    def unconfirmed(self) -> list[Unconfirmed]:
        return [*(one for s in self._driver.settlements for one in s.unconfirmed), *self._doubts]

    @property
    def dropped(self) -> int:
        return self._dropped + sum(s.receipt().dropped for s in self._driver.settlements)

    @property
    def processes(self) -> tuple[ProcessReport, ...]:
        now = (report for s in self._driver.settlements for report in _its_own(s.receipt()))
        return (*self._processes, *now)

    @property
    def has_processes(self) -> bool:
        return any(going.has_processes for s in self._driver.settlements for going in s.goings)

    @property
    def alive(self) -> bool:
        dying = (going for s in tuple(self._driver.settlements) for going in s.goings)
        return any(going.alive for going in (*self._driver.going.values(), *dying))

    def end_processes_now(self) -> None:
        self._driver.end_processes_now(all_of_them=True)

    async def processes_gone(self) -> None:
        for settlement in tuple(self._driver.settlements):
            for going in settlement.goings:
                await going.processes_gone()

    async def text_of(self, run: RunId) -> str:
        """What a run said."""
        await self._driver.journal.committed()
        entries = seen(await ask(self._driver.shared.store.entries(self.id)))
        return "".join(e.text for e in entries if isinstance(e, Text) and e.run == run)


def _its_own(receipt: Receipt) -> list[ProcessReport]:
    return [report for report in receipt.processes if report.fate != "kept"]  # those are the root's
