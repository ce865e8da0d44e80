"""Feeds one session's machine and carries out its orders.

Every move of the machine is made under the session's lock, from whatever thread, and its orders
are put in line in the same breath; the event loop carries them out in that order. What has to
become durable is added to the journal as it is carried out, so the log has the machine's order.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import assert_never

from lastword.core.events import (
    ClockReached,
    Ended,
    Event,
    SteeringTaken,
    StopAsked,
    StoreFailed,
)
from lastword.core.model import Generation, Message, MessageId, Outcome, Reason, RunId, SessionId
from lastword.core.orders import Accept, Cancel, Edit, End, Join, Order, Pause, Refuse, Start, Wake
from lastword.core.receipt import MessageReport, Receipt, Unconfirmed
from lastword.core.story import Fact, FeedEvent, Settled, Typing
from lastword.core.transcript import Began, Entry, Finished, Said
from lastword.errors import ImpossibleMove, StaleRun
from lastword.runtime.children import Child
from lastword.runtime.going import Going
from lastword.runtime.history import History
from lastword.runtime.hold import Hold
from lastword.runtime.journal import Journal
from lastword.runtime.ledger import Ledger
from lastword.runtime.news import News
from lastword.runtime.owned import Owned, kill_all
from lastword.runtime.run import Engine, Run
from lastword.runtime.seat import Seat
from lastword.runtime.shared import Shared
from lastword.runtime.shelf import Shelf
from lastword.runtime.speech import Speech
from lastword.runtime.step import Step
from lastword.runtime.stop import Settlement, old_processes, unconfirmed
from lastword.runtime.tasks import Tasks, described, kind_of
from lastword.runtime.telling import Telling, Told
from lastword.runtime.ticket import Ticket

log = logging.getLogger("lastword")


class Driver:
    """The part of a session that acts."""

    def __init__(
        self,
        seat: Seat,
        shared: Shared,
        engine: Engine,
        *,
        ancestors: tuple[SessionId, ...] = (),  # of a child's session: those above, root first
        parent: Going | None = None,  # that run, if its end is to be the child's end
        root: Seat | None = None,  # of a child's session: the person's
    ) -> None:
        self.id, self.ancestors = seat.id, ancestors
        self.lock, self.machine = seat.lock, seat.machine
        self.moves, self.feed = seat.moves, seat.feed
        self.shared = shared
        self.engine = engine
        self.threads, self.grace_of = shared.threads, shared.grace_of
        self.loop, self.thread = shared.loop, shared.thread
        above = ancestors[-1] if ancestors else None
        self.feed.claim = root.feed.claim if root else self.feed.claim
        self.journal = Journal(
            self.id, shared.store, self.machine, self._refuse, self._lost, above, shared.clock
        )
        self.cells = Shelf(self.id, self.journal, shared.processes, self.publish, seat.asks)
        self.telling = Telling(self.id, self.journal)
        self.news = News(self.machine, self.publish, self.journal, self.telling)
        self.history = History(self.id, shared.store, self.journal, shared.partial)
        self.duties = Tasks()  # what has to be done to the end: storing, committing
        self.settling = Tasks()
        self.tickets: dict[MessageId, list[Ticket]] = {}
        self.storing: dict[MessageId, asyncio.Task[None]] = {}
        self.settlements: list[Settlement] = []
        self.lost = False  # to another process
        self.kept, self.jobs = (root or seat).kept, (root or seat).jobs
        self._whose = (root or seat).whose
        self._parent, self.asks = parent, seat.asks
        self._runs, self.going = Tasks(), dict[RunId, Going]()
        self._timers: dict[asyncio.TimerHandle, None] = {}
        self.on_settled: Callable[[Receipt], object] = bool  # whoever keeps count of them

    def tell(self, event: Event) -> Step:
        """Tell the machine, and carry out what it orders."""
        step = self.moves.make(event)
        self.carry_out()
        return step

    def carry_out(self) -> None:
        """Carry out whatever was ordered and is still to be done, in order."""
        while step := self.moves.next():
            if step.ends_something or (self.cells.cells and step.is_a_stop):
                step.settlement = self._settlement(step.reason, step)
                step.settlement.cells = self.cells.freeze(step.freezes)
            told: Told = []
            for order in step.orders:
                self._carry_out(order, step, told)
            if step.is_a_stop:
                self.journal.stopped()
            if step.settlement:
                step.settlement.begin(told)
            elif told or (self.journal.behind and not any(s.stores for s in self.settlements)):
                self.telling.when_durable(told)
            self.news.look()

    def _carry_out(self, order: Order, step: Step, told: Told) -> None:  # noqa: C901, PLR0912 - one match
        match order:
            case Accept():
                self._accept(order, step)
            case Start(turn, generation):
                self._start(order)
                self._began(turn.run, generation, turn.messages)
            case Join(run, messages):
                turn = self.going[run].turn
                self.going[run].turn = replace(turn, messages=turn.messages + messages)
                self._began(run, step.generation, messages)
            case Cancel(run):
                if step.settlement:
                    step.settlement.goings.append(self.going[run])
            case End():
                self._end(order, step, told)
            case Pause(turn):
                if step.settlement:
                    step.settlement.messages += [MessageReport(m, "paused") for m in turn.messages]
            case Edit(message, run):
                self.journal.add(Said(message, run))
            case Wake(at):
                self._wake_at(at)
            case Refuse():
                pass  # whoever sent it is told
            case _:
                assert_never(order)

    def publish(self, fact: Fact) -> FeedEvent:
        """Something of the session's own, into the feed."""
        with self.lock:
            return self.feed.append(fact, self.machine.generation)

    def _record(self, *entries: Entry) -> None:
        for entry in entries:
            self.journal.add(entry)
            self.publish(entry)

    # a message

    def _accept(self, order: Accept, step: Step) -> None:
        message = order.message
        said = Said(message, order.run)
        self.journal.add_message(said)
        self.publish(said)
        self.asks.said(message)
        if message.attachments:
            with self.lock:
                self.feed.shed()
        self.shared.tally.accepted += 1
        [ticket] = self.tickets[message.id]
        ticket.run, ticket.placed = order.run, order.placement
        if step.settlement:
            ticket.tell_takeover(step.settlement.answer)
        log.info("accepted session=%s run=%s as=%s", self.id, order.run, order.placement)

    def _refuse(self, message: MessageId) -> None:
        self.tell(StoreFailed(message))
        self.asks.ended(RunId(""), (message,))
        for ticket in self.tickets.pop(message, []):
            ticket.tell_outcome(Outcome.REFUSED)

    def _lost(self) -> None:
        """Another process has the session: whatever is going here may do nothing more."""
        log.error("lost session=%s to another process", self.id)
        self.lost = True
        self.tell(StopAsked(Reason.LOST))
        if not self.ancestors:
            kill_all(self.kept)  # told in this step, before what was held still goes on
        if not self.settlements:
            self.close()

    def _wake_at(self, at: float) -> None:
        def wake() -> None:
            del self._timers[timer]
            self.tell(ClockReached(max(at, self.loop.time())))  # a coarse clock wakes early

        timer = self.loop.call_at(at, wake)
        self._timers[timer] = None

    # a run

    def _start(self, order: Start) -> None:
        run = order.turn.run
        above = self._parent.hold if self._parent else None
        sessions = (*self.ancestors, self.id)
        hold = Hold(self.machine, self.lock, self.feed, run, order.generation, above, sessions)
        self._whose.begins(hold, order.turn.by, above)
        clear = partial(old_processes, self.settlements, run)
        processes = Owned(self.shared.processes, hold, self.kept, self.jobs, clear, self.news)
        before, doubts = self.shared.before_tool, self.history.doubts
        ledger = Ledger(hold, self.journal, self.threads, before, processes, doubts)
        speech = Speech(run, self.journal, waits=self.shared.store.durable)
        going = Going(order.turn, hold, ledger, processes, self._parent, speech, self)
        sink = self.shared.sink
        if sink is not None and not self.ancestors:  # what a child says, its parent passes on
            going.speak_to(sink, self.shared.pace, self.threads)
        self.going[run] = going
        if self.shared.watchdog:
            self.shared.watchdog.run_started(run)
        going.main = self._runs.start(self._drive(going), name=f"run {run}")
        going.main.add_done_callback(partial(self._main_done, going))
        log.info("started session=%s run=%s generation=%d", self.id, run, order.generation)

    def _began(self, run: RunId, generation: Generation, messages: Iterable[Message]) -> None:
        ids = tuple(message.id for message in messages)
        self._record(Began(run, generation, ids))
        for ticket in [ticket for id_ in ids for ticket in self.tickets.get(id_, [])]:
            ticket.tell_started(run)

    async def _drive(self, going: Going) -> None:
        going.enter()
        run = Run(self, going, await self.history.for_a_run(lambda: going.hold.current))
        if not going.hold.current:
            return
        answer = self.engine(run)
        if not inspect.isawaitable(answer):
            raise TypeError(f"the engine must be an async function, and {self.engine!r} is not")
        await answer
        await going.all_said()
        with suppress(TimeoutError):
            async with asyncio.timeout(self.shared.deadline):
                await going.hold.ended("delivery")  # it comes before what the next run says

    def _main_done(self, going: Going, task: asyncio.Task[None]) -> None:
        run = going.hold.run
        error = "it was cancelled from outside" if task.cancelled() else task.exception()
        if self.shared.watchdog:
            self.shared.watchdog.run_ended(run)
        active = self.machine.active
        if active and active.run == run and not going.hold.current:
            with suppress(StaleRun):  # unless a stop from another thread was quicker
                self.tell(StopAsked(Reason.PARENT, run))  # its parent was stopped first
        if error and going.hold.current:
            going.error = error if isinstance(error, str) else described(error)
            going.kind = kind_of(error)
            cause = error if isinstance(error, BaseException) else None
            name = type(cause).__name__ if cause else "cancelled"
            log.error("run failed session=%s run=%s error=%s", self.id, run, name)
            log.debug("run failed session=%s run=%s", self.id, run, exc_info=cause)
        outcome = Outcome.FAILED if going.error else Outcome.COMPLETED
        self.tell(Ended(run, outcome, len(going.joined)))  # what it was not given is the next turn
        del self.going[run]
        going.processes.end()
        going.main = None  # its traceback holds all of this; let it go without the collector
        self._retire(going)

    def _retire(self, going: Going) -> None:
        """See off what a run that ended by itself left behind."""
        seen_to = any(going in settlement.goings for settlement in self.settlements)
        left = going.living or going.hold.under_way or going.children or going.processes.any
        if not seen_to and left:
            step = Step(ClockReached(0), [], self.machine.generation, self.loop.time())
            settlement = self._settlement(Reason.PARENT, step, silent=True)
            settlement.goings.append(going)
            settlement.begin([])

    def _end(self, order: End, step: Step, told: Told) -> None:
        turn, outcome = order.turn, order.outcome
        ids = tuple(message.id for message in turn.messages)
        self.asks.ended(turn.run, ids)  # first: what it asked is withdrawn before it ends
        error = self._close(self.going[turn.run], outcome) if order.started else ""
        held = order.held and not order.started
        kind = self.going[turn.run].kind if order.started else ""
        finished = Finished(
            turn.run, outcome, ids, order.started, order.rollback, error, held, kind=kind
        )
        self._record(*step.notes(order), finished)
        self.shared.tally.runs[outcome] += order.started
        log.info("ended session=%s run=%s outcome=%s", self.id, turn.run, outcome)
        if step.settlement:
            step.settlement.runs += [turn.run] if order.started else []
            dropped = self.going[turn.run].joined if order.started else turn.messages
            step.settlement.messages += [MessageReport(m, "dropped") for m in dropped]
        told += [(ticket, outcome, error) for id_ in ids for ticket in self.tickets.pop(id_, [])]

    def _close(self, going: Going, outcome: Outcome) -> str:
        """A run has lost the session: its calls are settled, its typing mark is taken down."""
        hold, run = going.hold, going.hold.run
        going.ended = outcome in (Outcome.COMPLETED, Outcome.FAILED)
        self.journal.add(*going.speech.settle())
        self._record(*going.ledger.settle())
        if hold.typing:
            hold.typing = False
            event = self.publish(Typing(run, on=False))
            if going.sink:
                going.sink.last_word(event, unless=partial(self._types_beside, going))
        return going.error

    def _types_beside(self, going: Going) -> bool:
        return any(g.hold.typing for g in self.going.values() if g is not going)

    # what a run asks for

    async def take_steering(self, going: Going) -> tuple[Message, ...]:
        going.hold.must_hold("taking of what was sent to steer it")
        try:
            step = self.tell(SteeringTaken(going.hold.run))
        except ImpossibleMove:  # a stop from another thread came in between
            going.hold.must_hold("taking of what was sent to steer it")
            raise
        going.joined += [
            m for order in step.orders if isinstance(order, Join) for m in order.messages
        ]
        if going.joined:
            await self.journal.committed()  # or it would be answered again after a crash
            going.hold.must_hold("taking of what was sent to steer it")
        joined, going.joined = going.joined, []
        return tuple(joined)

    async def start_child(
        self, going: Going, text: str, *, engine: Engine | None, keep: bool
    ) -> Child:
        if not going.hold.granted:
            await asyncio.sleep(0)  # a loop of refused starts must not stall the event loop
            going.hold.must_hold("start of a child run")
        await going.processes.clear()
        return await self.shared.start_child(self.id, going, text, engine, keep)

    # a stop

    def _settlement(self, reason: Reason, step: Step, *, silent: bool = False) -> Settlement:
        settlement = Settlement(
            self,
            reason,
            step.generation,
            fenced_at=self.shared.clock() - (self.loop.time() - step.at),
            at=step.at,
            deadline=self.shared.deadline,
            previous=self.settlements[-1] if self.settlements else None,
            silent=silent,
        )
        self.settlements.append(settlement)
        return settlement

    def settled(self, settlement: Settlement, receipt: Receipt) -> None:
        """A settlement is over."""
        self.settlements.remove(settlement)
        self.on_settled(receipt)
        if receipt.quiet and not settlement.answer.result().quiet:
            self.publish(Settled(replace(receipt, later=None)))
        if self.lost and not self.settlements:
            self.close()  # who watches it has seen all there is

    # what is still dying

    def end_processes_now(self, *, all_of_them: bool = False) -> None:
        """Those of stopped runs, although the loop may be stalled. Any thread may ask."""
        for run, going in tuple(self.going.items()):
            if all_of_them or run in self.machine.dying:
                going.end_processes_now()

    async def gone(self) -> None:
        while self.settlements:
            await asyncio.wait([settlement.done for settlement in self.settlements])

    @property
    def dying(self) -> list[Unconfirmed]:
        """What has been stopped and has not ended, by name. Any thread may ask."""
        return unconfirmed(self.settlements, self.going, self.machine.dying)

    def close(self) -> None:
        """Take nothing more, and tell watchers so. What is still dying is seen off all the same."""
        for timer in self._timers:
            timer.cancel()
        self.feed.close()
        self.journal.close()
        self.telling.close()

    def retire(self) -> None:
        """The session is let go: nothing of it is here any more."""
        self.journal.close()
        self.telling.close()

    def abandon(self) -> None:
        """The runtime ends: nothing of this will be waited for any longer."""
        for tasks in (self._runs, self.settling, self.duties):
            tasks.cancel()
        self.journal.abandon()
