"""One session in this process: its machine is told what happens, and its orders are carried out.

Every move of the machine is made under the session's lock, from whatever thread, and its orders
are put in line in the same breath; the event loop carries them out in that order. What has to
become durable is added to the journal as it is carried out, so the log has the machine's order.

Most of what it takes (its `Work`) is there while there is something to do. Whoever waits for
anything on the way to an act holds it at work meanwhile. A stop from another thread needs none: it
is made at the seat, under the lock under which the session is let go, and is found first next.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import assert_never

from lastword.core.asks import AnswerSent
from lastword.core.entries import Said
from lastword.core.events import ClockReached, Event, Instead, StopAsked
from lastword.core.model import Policy, Reason, SessionId
from lastword.core.orders import (
    Accept,
    Cancel,
    Edit,
    End,
    Freeze,
    Join,
    Order,
    Pause,
    Refuse,
    Start,
    Wake,
)
from lastword.core.receipt import MessageReport, Receipt
from lastword.errors import Named, OwnedElsewhere, StoreError, Undurable, UnknownSession
from lastword.runtime.alarms import Alarms
from lastword.runtime.announcer import queue_of
from lastword.runtime.asking import acting
from lastword.runtime.elsewhere import had
from lastword.runtime.feed import Feed
from lastword.runtime.loading import load
from lastword.runtime.owned import kill_all
from lastword.runtime.protocol import Changing, Doings, Here, Now, Sent
from lastword.runtime.record import Reader
from lastword.runtime.runs import Kin
from lastword.runtime.seat import Move, Seat
from lastword.runtime.shared import Shared
from lastword.runtime.stopping import fence, stop_soon
from lastword.runtime.tasks import unless_closed
from lastword.runtime.ticket import Stopping, Ticket, Told, tell_taken_over
from lastword.runtime.work import Work

log = logging.getLogger("lastword")
_TAKEN = "another process, which has taken it over"
_NOBODY = Kin()


class Conversation:
    """The counterpart of a `Session`, where it acts: lock, machine, orders and tickets."""

    def __init__(
        self,
        seat: Seat,
        shared: Shared,
        must_be_open: Callable[[], object],  # the runtime; raises if it is not
        *,
        begins: Callable[[Conversation], bool],  # told under the lock, by any thread
        kin: Kin = _NOBODY,
        new: bool = False,  # its name was never used: there is nothing to load
    ) -> None:
        self.seat = seat
        self.shared = shared
        seat.feed.whose = self
        if kin.root:
            seat.feed.claim = kin.root.feed.claim
        self.kin = kin
        self.closed = False
        self.deleted = False
        self.asked = 0  # how often something was asked of it
        self.below = 0  # child runs, which the store has together with it
        self.releasing: asyncio.Task[None] | None = None  # to whoever asks next, in any process
        self._new = seat.inbox.known = new
        self._begins = begins
        self._runtime_must_be_open = must_be_open
        self._work: Work | None = None
        self._holders = 0
        self._loading: asyncio.Task[None] | None = None
        self._alarms = Alarms(shared.loop, lambda at: self.tell(ClockReached(at)))

    # here, or only in the store

    @property
    def id(self) -> SessionId:
        return self.seat.id

    @property
    def feed(self) -> Feed:
        return self.seat.feed

    @property
    def at_work(self) -> Work | None:
        """The part of it that acts, if there is one now."""
        return self._work

    @property
    def work(self) -> Work:
        """The same, made if there is none. Any thread may ask."""
        if work := self._work:
            return work
        with self.seat.lock:
            if self._work is None:
                self._work = Work(
                    self.seat, self.shared, self.kin, self.tell, lost=self._lost, close=self.close
                )
                if not self._begins(self):
                    self.close()
            return self._work

    @contextmanager
    def held(self) -> Generator[Work]:
        """Its work, which is the session's until this ends. For the event loop's thread."""
        self.asked += 1
        self._holders += 1
        try:
            yield self.work
        finally:
            self._holders -= 1

    async def have(self) -> None:
        self.must_be_open()
        with self.held():
            await self.loaded()

    async def loaded(self) -> None:
        """Know what the store knows. Hold it meanwhile."""
        while not self.seat.inbox.known:
            with acting(f"taking of session {self.id}"):  # from others, and to settle what is left
                loading = self.load()
            await unless_closed(loading)

    def load(self) -> asyncio.Task[None]:
        """Have the store asked, once."""
        done = self._loading if self._loading and self._loading.done() else None
        if self._loading is None or (done and (done.cancelled() or done.exception())):
            self._loading = self.work.messages.duties.start(self._load_now(), name="load")
        return self._loading

    async def _load_now(self) -> None:
        if self.releasing:  # it is given back before it is had again, and not after
            await asyncio.wait([self.releasing])
        child = bool(self.kin.ancestors)
        above = await load(self.seat, self.shared, self.work, child=child)
        if above and not child:
            self.kin = Kin((above,))
        self.carry_out()

    def let_go(self) -> bool:
        """Leave memory, if nothing here is needed: whatever comes next finds it in the store."""
        work, machine = self._work, self.seat.machine
        if work and work.stops.lost:
            return not work.stops.pending  # who holds it is told; who asks anew gets another
        if work is None or self._holders or self.below or self.closed or not work.done:
            return False
        if not self.idle or machine.steering or machine.dying or machine.storing:
            return False
        if not self.seat.inbox.forget():
            return False  # a stop from another thread was quicker
        self._work = self._loading = None
        self._alarms.cancel()
        work.retire()
        self.seat.feed.trim()
        return True

    def put_away(self) -> None:
        """It stays, and nothing is said in it: keep no more of it than that takes."""
        if self._work and not self._work.runs.going:
            self._work.runs.history.forget()
            self.seat.feed.trim()

    @property
    def idle(self) -> bool:
        return not self.seat.machine.busy and not self.seat.machine.waiting

    @property
    def lost(self) -> bool:
        """Whether another process has it."""
        return self._work is not None and self._work.stops.lost

    @property
    def over(self) -> bool:
        """Whether it was a child run's, which has ended: its log can be read, and no more."""
        return not self._new and self._work is not None and bool(self.kin.ancestors)

    def is_below(self, id: SessionId) -> bool:
        """Whether it is a child's, at any depth, of that session."""
        return id in self.kin.ancestors

    def must_be_open(self) -> None:
        """Raise if nothing can be asked of it any more."""
        self._runtime_must_be_open()
        if self.lost:
            raise OwnedElsewhere(self.id, _TAKEN)
        if self.closed or self.over:
            raise UnknownSession(
                "session ",
                Named(self.id),
                " has ended: it was deleted (ask the runtime for it anew), or it was a child "
                "run's (which can be read, and no more)",
            )

    @property
    def beyond(self) -> str:
        """Why nothing that goes on under its name can be stopped through this one."""
        if self._work and self._work.stops.pending:
            return ""
        if self.deleted:
            return "it was deleted; ask the runtime for it anew"
        return f"it belongs to {_TAKEN}; stop it there" if self.lost else ""

    # what is asked of it

    def now(self) -> Now:
        machine, above = self.seat.machine, self.kin.ancestors
        return Now(
            generation=machine.generation,
            active=machine.active.run if machine.active else None,
            busy=machine.busy,
            known=self.seat.inbox.known,
            above=above[-1] if above else None,
            over="deleted" if self.deleted else "lost" if self.lost else None,
        )

    def doings(self) -> Doings:
        seat, work = self.seat, self._work
        named = (job for job in seat.jobs if not job.kept and job.alive)
        return Doings(
            queue=queue_of(seat.machine),
            ending=work.runs.dying if work else (),
            spans=work.announcer.spans if work else (),
            processes=(*seat.kept, *named),
            programs=work.cells.standing if work else (),
            asks=seat.asks.open(self.id),
            questions=seat.asks.questions(self.id),
            begun=work.runs.begun if work else {},
        )

    @property
    def record(self) -> Reader:
        return Reader(self)

    @property
    def here(self) -> Here:
        return Here(self.seat.jobs, lambda: self.work.cells)

    async def send(
        self, sent: tuple[Sent, ...], on_message: Policy | None, instead: Instead | None = None
    ) -> tuple[Ticket, ...]:
        with self.held() as work:
            try:
                self.must_be_open()
                load, shared = self.loaded, self.shared
                took = await (had(load, shared, sent, on_message) if shared.store.reach else load())
                known = await work.messages.known(sent)
            except OwnedElsewhere:
                raise
            except StoreError as error:
                why = f"session {self.id} could not be read, so nothing was accepted: {error}"
                raise Undurable(why) from error
            new = tuple(one for one in sent if one.id not in known)
            if new:
                self.must_be_open()
            placed = work.messages.accept(new, on_message, instead) if new else []
            tell_taken_over(placed, took)
            return await work.messages.acknowledged(sent, known, placed)

    def stop(self, asked: StopAsked) -> Stopping:
        if threading.get_ident() != self.shared.thread:
            raise RuntimeError("stop() is for the event loop's thread; from others, stop_soon()")
        return self.fence(asked)()

    def fence(self, asked: StopAsked, *, only_here: bool = False) -> Callable[[], Stopping]:
        """Stop; what is returned, called, carries out the rest and gives the answer."""
        if asked.reason is Reason.SHUTDOWN and self._loading:
            self._loading.cancel()  # what has not been read stays as it is
        return fence(self, asked, only_here=only_here)

    def stop_soon(self, asked: StopAsked) -> concurrent.futures.Future[Receipt]:
        return stop_soon(self, asked)

    async def change(self, asked: Changing) -> None:
        self.must_be_open()
        with self.held() as work:
            await self.loaded()
            self.must_be_open()
            self.tell(asked)
            try:
                await work.journal.committed()
            except StoreError as error:
                done = f"this was done in session {self.id}, but is not stored yet"
                raise StoreError(f"{done}; it will be tried again: {error}") from error

    async def answer(self, said: AnswerSent) -> None:
        self.seat.asks.take(said, self.id)

    # what its machine is told, and orders

    def tell(self, event: Event) -> Move:
        """Tell the machine, and carry out what it orders."""
        move = self.seat.inbox.make(event)
        self.carry_out()
        return move

    def carry_out(self) -> None:
        """Carry out whatever was ordered and is still to be done, in order."""
        work, machine = self.work, self.seat.machine
        while move := self.seat.inbox.next():
            if move.ends_something:
                stop = move.settlement = work.stops.fenced(move.reason, move.generation, move.at)
                stop.asked_in = move.asked_in
                stop.cells = work.cells.freeze(move.freezes) if work.cells.open else ()
            told: Told = []
            for order in move.orders:
                self._carry_out(order, move, work, told)
            if move.is_a_stop:
                work.journal.stopped()
            if move.settlement:
                move.settlement.begin(told)
            elif told or (work.journal.behind and not any(s.stores for s in work.stops.pending)):
                work.outcomes.when_durable(told)
            if (machine.steering, machine.waiting) != work.announcer.told:
                work.announcer.look()

    def _carry_out(self, order: Order, move: Move, work: Work, told: Told) -> None:  # noqa: C901, PLR0912 - one match
        match order:
            case Accept():
                work.messages.accepted(order, move)
            case Start(turn, generation):
                work.runs.start(order, work.messages.asked_in(turn.messages))
                work.messages.began(turn.run, generation, turn.messages)
            case Join(run, messages):
                work.runs.join(order, work.messages.asked_in(messages))
                work.messages.began(run, move.generation, messages)
            case Cancel(run):
                if move.settlement:
                    move.settlement.goings.append(work.runs.going[run])
            case End():
                self._end(order, move, work, told)
            case Pause(turn):
                if move.settlement:
                    move.settlement.messages += [MessageReport(m, "paused") for m in turn.messages]
            case Edit(message, run):
                work.journal.add(Said(message, run))
            case Wake(at):
                self._alarms.set(at)
            case Refuse() | Freeze():
                pass  # whoever sent it is told; what stood was frozen first
            case _:
                assert_never(order)

    def _end(self, order: End, move: Move, work: Work, told: Told) -> None:
        turn, outcome, asks = order.turn, order.outcome, self.seat.asks
        if asks.machine.runs or asks.machine.programs:
            asks.ended(turn.run, [m.id for m in turn.messages])  # first: withdrawn before its end
        going = work.runs.lose(turn.run, outcome) if order.started else None
        error, kind = going.failure if going else ("", "")
        tickets = work.messages.ended(order, move, error, kind)
        if move.settlement:
            move.settlement.runs += [turn.run] if going else []
            dropped = going.joined if going else turn.messages
            move.settlement.messages += [MessageReport(m, "dropped") for m in dropped]
        told += [(ticket, outcome, error) for ticket in tickets]

    # its end

    def lose(self) -> None:
        """It turned out to be another process's by now."""
        if self._work:
            self._work.journal.lose()

    def _lost(self) -> None:
        log.error("lost session=%s to another process", self.id)
        self.work.stops.lost = True
        self.tell(StopAsked(Reason.LOST))
        if not self.kin.ancestors:
            kill_all(self.seat.kept)  # told in this step, before what was held still goes on
        if not self.work.stops.pending:
            self.close()

    def close(self) -> None:
        """Take nothing more, and tell watchers so. What is still dying is seen off all the same."""
        self._alarms.cancel()
        self.seat.feed.close()
        if self._work:
            self._work.retire()
