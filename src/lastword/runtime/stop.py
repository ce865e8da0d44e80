"""What follows the fence: everything a stop or a takeover ended is seen off, and told of.

The generation has moved by the time a settlement exists, so nothing here is needed for silence.
It asks what was going to end, again every second; waits for the deliveries under way; answers at
the latest at its deadline, naming what has not ended; and goes on until it has. An answer that says
durable is in the log: in the fence's own commit where everything had ended by then, else in one of
its own, which the answer waits for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from lastword.core.model import Generation, Reason, RunId, SessionId
from lastword.core.receipt import (
    CellReport,
    ChildReport,
    MessageReport,
    Receipt,
    Refusal,
    Unconfirmed,
)
from lastword.core.story import Settled
from lastword.errors import StoreError
from lastword.runtime.active_run import ActiveRun
from lastword.runtime.feed import Feed, Publish
from lastword.runtime.journal import Journal
from lastword.runtime.owned import Kept
from lastword.runtime.shared import Shared
from lastword.runtime.tasks import Tasks, ended
from lastword.runtime.ticket import Outcomes, Told
from lastword.runtime.tracing import TraceContext

log = logging.getLogger("lastword")
_AGAIN = 1.0  # a polite `finally` has so many seconds before the cancel is delivered again
_LEAST = 0.25  # what the store is given, also if the loop was stalled until after the deadline
_THREADS = 0.25  # a tool's thread cannot be asked to end; it is waited for so long, then named
_PASSES, _BREATH = 16, 0.002  # turns of the loop, and seconds, that the fence's commit may wait


class Settling(Protocol):
    """What a settlement needs of its session."""

    id: SessionId
    journal: Journal
    outcomes: Outcomes
    tasks: Tasks
    shared: Shared
    kept: list[Kept]
    lost: bool
    publish: Publish
    feed: Feed

    def settled(self, settlement: Settlement, receipt: Receipt) -> None: ...


class Settlement:
    """One stop, from the fence to the last thing it ended."""

    def __init__(
        self,
        session: Settling,
        reason: Reason,
        generation: Generation,
        *,
        fenced_at: float,
        at: float,
        deadline: float,
        previous: Settlement | None,
        silent: bool = False,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.goings: list[ActiveRun] = []
        self.runs: list[RunId] = []
        self.messages: list[MessageReport] = []
        self.fence: asyncio.Future[bool] = loop.create_future()  # stored, or could not be
        self.answer: asyncio.Future[Receipt] = loop.create_future()
        self.done: asyncio.Future[Receipt] = loop.create_future()
        self._session = session
        self._reason = reason
        self._generation = generation
        self._fenced_at = fenced_at
        self._at = at
        self.deadline = at + deadline  # by the loop's clock
        self._previous = previous  # what it has not seen off is named by this one too
        self._silent = silent  # what a run that ended by itself left behind; nobody asked
        self._children: list[ChildReport] = []
        self._dying = [kept for kept in session.kept if kept.dying]  # by somebody's word before
        self.cells: tuple[CellReport, ...] = ()
        self.asked_in: TraceContext | None = None  # where it was asked for, to a tracer
        self.stores = True  # it is about to store the fence, and whatever comes until it does
        self._told: Told = []  # senders who learn an outcome from the fence's commit
        self._durable = False
        self._now = loop.time
        self._relays = Tasks()  # what is still leaving from other processes

    def begin(self, told: Told) -> None:
        """Cancel at once, children too; see it through in a task of the session's."""
        self._told = told
        for going in self.goings:
            going.cancel()
            for child in going.children:
                if not child.done:
                    self._children.append(child.report)
                child.end()
        self._session.tasks.start(self._settle(), name=f"stop {self._session.id}")

    async def _settle(self) -> None:
        unwound, gone = Tasks(), Tasks()
        for going in self.goings:
            unwound.start(going.unwound(), name="unwound")
            gone.start(going.gone(), name="gone")
        left = [kept.gone for kept in self._dying]
        for ends in (*left, *(partial(_ended, one) for one in self._left())):
            unwound.start(ends(), name="unwound")
            gone.start(ends(), name="gone")
        if self._previous:
            unwound.start(_wait_for(self._previous.answer), name="unwound")
            gone.start(_wait_for(self._previous.done), name="gone")
        try:
            await self._a_breath(gone)
            receipt = None if gone.living else self._account()
            self._durable = await self._commit()
            self.fence.set_result(self._durable)
            if receipt is None:
                await self._wait(unwound, self.deadline)
                await self._wait(gone, min(self._now() + _THREADS, self.deadline))
                receipt = self._account()
                self._durable = self._durable and await self._commit()
            self._tell(self.receipt() if self._session.lost else receipt)
            if gone.living:
                for going in self.goings:
                    going.deliveries.cancel()
                await self._wait(gone, float("inf"))
        finally:
            for tasks in (unwound, gone, self._relays):
                tasks.cancel()
            self._finish()

    def _left(self) -> list[asyncio.Task[None]]:
        """What is to leave from other processes, if a run was stopped that can have told it."""
        relays = tuple(self._session.feed.relays) if self.goings else ()
        return [self._relays.start(one.left(), name=one.name) for one in relays]

    async def _a_breath(self, ends: Tasks) -> None:
        """What ends as soon as it is asked to is in the fence's own commit, account and all."""
        until = self._now() + _BREATH
        for _ in range(_PASSES):
            if not ends.living or self._now() > until:
                return
            await asyncio.sleep(0)

    async def _wait(self, ends: Tasks, until: float) -> None:
        while ends.living and (left := until - self._now()) > 0:
            if not await ended(ends.living, min(_AGAIN, left)):
                for going in self.goings:
                    going.cancel()
        for _ in range(_PASSES if ends.living else 0):  # if all this time nothing could run here
            await asyncio.sleep(0)

    def _finish(self) -> None:
        receipt = replace(self.receipt(), later=None)
        if not self.fence.done():  # given up, as the runtime ends
            self.fence.set_result(False)
            self._store()
        if not self.answer.done():
            self.answer.set_result(receipt)
        self.done.set_result(receipt)
        self._previous = None
        self._session.settled(self, receipt)

    def _account(self) -> Receipt:
        """The receipt, as it is answered, and on its way into the log, where it is durable."""
        receipt = self.receipt()
        for going in self.goings:
            for note in going.hold.take_late():
                self._session.journal.add(note)
                self._session.publish(note)
        if not self._silent:
            self._session.journal.add(replace(receipt, durable=True, later=None))
        return receipt

    def _tell(self, receipt: Receipt) -> None:
        receipt = replace(receipt, durable=self._durable)
        self.answer.set_result(receipt)
        if self._silent:
            return
        session = self._session
        session.publish(replace(receipt, later=None))
        session.shared.counters.stopped(receipt)
        if tracing := session.shared.tracing:
            runs, ago = [going.trace.context for going in self.goings], self._now() - self._at
            tracing.stopped(receipt, ago, self.asked_in, runs)
        log.info(
            "stopped session=%s generation=%d runs=%d dropped=%d ms=%d",
            session.id,
            receipt.generation,
            len(receipt.runs),
            receipt.dropped,
            receipt.took * 1000,
        )

    def _store(self) -> None:
        """Put what is in the journal on its way; who learns of it is told when it is stored."""
        self.stores = False
        told, self._told = self._told, []
        self._session.outcomes.when_durable(told)

    async def _commit(self) -> bool:
        """Whether all that was written down so far is stored, in bounded time."""
        self._store()
        try:
            async with asyncio.timeout(max(self.deadline - self._now(), _LEAST)):
                await self._session.journal.committed()
        except StoreError:
            return False  # the fence stands all the same
        except TimeoutError:
            self._session.journal.give_up()
            return False
        return True

    def _chain(self) -> Iterator[Settlement]:
        """This settlement and those before it that are not over."""
        one: Settlement | None = self
        while one is not None:
            yield one
            one = one._previous  # noqa: SLF001 - of its own kind

    def includes(self, caller: ActiveRun | None) -> bool:
        """Whether whoever asks is part of what is being ended."""
        return caller is not None and any(
            caller.descends_from(settlement.goings) for settlement in self._chain()
        )

    @property
    def unconfirmed(self) -> list[Unconfirmed]:
        """What has not ended, by name; what earlier stops have not seen off included."""
        chain = tuple(self._chain())
        left = [one for of in chain for going in of.goings for one in going.unconfirmed]
        names = dict.fromkeys(name for of in chain for name in of._relays.names)  # noqa: SLF001
        return [*left, *(Unconfirmed("delivery", name) for name in names)]

    def receipt(self) -> Receipt:
        """What can be said at this moment."""
        listed = dict.fromkeys((*self._dying, *self._session.kept))
        left = (*self.unconfirmed, *(u for kept in listed for u in kept.unconfirmed))
        if self._session.lost:  # what waited there still does, or runs
            left += (Unconfirmed("session", "another process has taken it over"),)
        dying = {one.name for one in left if one.kind == "child"}
        children = (
            replace(c, fate="unconfirmed" if c.session in dying else "ended")
            if c.fate != "kept"
            else c
            for c in self._children
        )
        return Receipt(
            session=self._session.id,
            generation=self._generation,
            reason=self._reason,
            fenced_at=self._fenced_at,
            took=self._now() - self._at,
            runs=tuple(self.runs),
            isolated=tuple(g.hold.run for g in self.goings if g.wardens.isolated),
            dropped=sum(going.dropped for going in self.goings),
            refused=tuple(
                Refusal(what, round(max(at - self._at, 0.0), 6))
                for going in self.goings
                for what, at in going.hold.refused
            ),
            calls=tuple(made.report for going in self.goings for made in going.calls),
            answers=tuple(one for going in self.goings for one in going.answers),
            files=tuple(files for going in self.goings if (files := going.speech.files)),
            children=tuple(children),
            processes=(
                *(report for going in self.goings for report in going.process_reports),
                *(report for kept in listed for report in kept.reports),
            ),
            cells=self.cells,
            level=self._session.shared.processes.level or "",
            messages=() if self._session.lost else tuple(self.messages),
            unconfirmed=left,
            durable=self._durable,
            later=partial(asyncio.shield, self.done),
        )


async def _wait_for(future: asyncio.Future[Receipt]) -> None:
    await asyncio.wait([future])


async def _ended(task: asyncio.Task[None]) -> None:
    await asyncio.wait([task])


async def _until_gone(left: list[tuple[float, ActiveRun]]) -> None:
    for deadline, going in left:
        with suppress(TimeoutError):
            async with asyncio.timeout_at(deadline):
                await going.processes_gone()


class Stops:
    """The stops of one session that are not over, and what runs that ended have left behind."""

    def __init__(
        self,
        session: SessionId,
        shared: Shared,
        publish: Publish,
        feed: Feed,
        kept: list[Kept],
        journal: Journal,
        outcomes: Outcomes,
        close: Callable[[], None],
    ) -> None:
        self.id = session
        self.feed = feed
        self.journal = journal
        self.outcomes = outcomes
        self.shared = shared
        self.kept = kept
        self.publish = publish
        self.tasks = Tasks()
        self.pending: list[Settlement] = []
        self.lost = False  # to another process
        self.on_settled: Callable[[Receipt], object] = bool  # whoever keeps count of them
        self._close = close  # called when it is lost, and all has been said

    def fenced(
        self, reason: Reason, generation: Generation, at: float, *, silent: bool = False
    ) -> Settlement:
        """Something has lost the session: what is to see it off."""
        settlement = Settlement(
            self,
            reason,
            generation,
            fenced_at=self.shared.clock() - (self.shared.loop.time() - at),
            at=at,
            deadline=self.shared.told.deadline,
            previous=self.pending[-1] if self.pending else None,
            silent=silent,
        )
        self.pending.append(settlement)
        return settlement

    def settled(self, settlement: Settlement, receipt: Receipt) -> None:
        """A settlement is over."""
        self.pending.remove(settlement)
        self.on_settled(receipt)
        if not receipt.ending and settlement.answer.result().ending:
            self.publish(Settled(replace(receipt, later=None)))
        if self.lost and not self.pending:
            self._close()  # who watches it has seen all there is

    async def gone(self) -> None:
        """Return when all are over."""
        while self.pending:
            await asyncio.wait([settlement.done for settlement in self.pending])

    def see(self, going: ActiveRun) -> bool:
        """Whether one of them sees this run off."""
        return any(going in settlement.goings for settlement in self.pending)

    def old_processes(self, run: RunId) -> Coroutine[Any, Any, None] | None:
        """What an earlier run's processes are waited for with; None if there are none."""
        left = [
            (settlement.deadline, going)
            for settlement in self.pending
            for going in settlement.goings
            if going.hold.run != run and going.has_processes
        ]
        return _until_gone(left) if left else None

    def unconfirmed(self, others: Iterable[ActiveRun]) -> tuple[Unconfirmed, ...]:
        """What of theirs, and of others that were stopped, has not ended. Any thread may ask."""
        goings = [one for settlement in tuple(self.pending) for one in settlement.goings]
        goings += [one for one in others if one not in goings]
        return tuple(left for one in goings for left in one.unconfirmed)


def of_all(receipts: list[Receipt], kept: tuple[Kept, ...]) -> Receipt:
    """One receipt for a session that was deleted and those below it: nothing was kept."""
    processes = {p.pid: p for receipt in receipts for p in receipt.processes}
    processes |= {one.pid: one.fate_if_ended for one in kept}
    left = [one for receipt in receipts for one in receipt.unconfirmed]
    left += [
        Unconfirmed("process", f"{p.pid} {p.command}")
        for p in processes.values()
        if p.fate == "unconfirmed"
    ]
    return replace(
        receipts[0], unconfirmed=tuple(dict.fromkeys(left)), processes=tuple(processes.values())
    )
