"""The runs of a session: started, driven to their end, and what is left of one seen off.

What a `Run` asks of its session it asks here, and of nothing else of it.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from lastword.core.entries import Entry
from lastword.core.events import Ended, Event, SteeringTaken, StopAsked
from lastword.core.model import CallId, Message, Outcome, Reason, RunId, SessionId, Turn
from lastword.core.orders import Join, Start
from lastword.core.receipt import Unconfirmed
from lastword.core.story import Typing
from lastword.errors import ImpossibleMove, StaleRun
from lastword.runtime.active_run import ActiveRun, Failure
from lastword.runtime.announcer import Announcer
from lastword.runtime.children import Child
from lastword.runtime.history import History
from lastword.runtime.hold import Hold
from lastword.runtime.journal import Journal
from lastword.runtime.ledger import Ledger
from lastword.runtime.owned import Owned
from lastword.runtime.run import Engine, Run
from lastword.runtime.seat import Move, Seat
from lastword.runtime.session_cells import SessionCells
from lastword.runtime.shared import Shared
from lastword.runtime.speech import Speech
from lastword.runtime.stop import Stops
from lastword.runtime.tasks import Tasks, described, kind_of
from lastword.runtime.trace import AskedIn, RunTrace
from lastword.runtime.tracing import TracedRun

log = logging.getLogger("lastword")


class Kin(NamedTuple):
    """Of a child's session: those above it. A person's has none."""

    ancestors: tuple[SessionId, ...] = ()  # their sessions, root first
    parent: ActiveRun | None = None  # the run that started it, if its end is to be the child's end
    root: Seat | None = None  # the person's
    engine: Engine | None = None  # its own


class Runs:
    """Those of one session that are going."""

    def __init__(
        self,
        seat: Seat,
        shared: Shared,
        kin: Kin,
        tell: Callable[[Event], Move],
        *,
        journal: Journal,
        announcer: Announcer,
        cells: SessionCells,
        stops: Stops,
    ) -> None:
        self.id, self.ancestors = seat.id, kin.ancestors
        self.threads, self.grace_of = shared.threads, shared.grace_of
        self.shuts = seat.inbox.shuts
        self.journal, self.publish, self.asks = journal, seat.publish, seat.asks
        self.history = History(seat.id, shared.store, journal, shared.told.partial)
        self.announcer = announcer
        self.cells = cells
        self.going: dict[RunId, ActiveRun] = {}
        self._seat = seat
        self._shared = shared
        self._engine = kin.engine or shared.engine
        self._kin = kin
        self._tell = tell
        self._stops = stops
        self._tasks = Tasks()

    # from its start to its end

    def start(self, order: Start, asked: Sequence[AskedIn]) -> None:
        """A turn's run begins, whose messages were sent there."""
        run, seat, shared = order.turn.run, self._seat, self._shared
        parent = self._kin.parent
        above = parent.hold if parent else None
        sessions = (*self.ancestors, self.id)
        hold = Hold(seat.machine, seat.lock, seat.feed, run, order.generation, above, sessions)
        speech = Speech(run, self.journal, waits=shared.store.durable)
        trace = self._traced(order, asked)
        going = ActiveRun(order.turn, hold, parent, speech, self, trace)
        if shared.sink and not self.ancestors:  # what a child says, its parent passes on
            going.speak_to(shared.sink, self.threads)
        self.going[run] = going
        if shared.watchdog:
            shared.watchdog.run_started(run)
        going.main = self._tasks.start(self._drive(going), name=f"run {run}")
        going.main.add_done_callback(partial(self._main_done, going))
        log.info("started session=%s run=%s generation=%d", self.id, run, order.generation)

    def _traced(self, order: Start, asked: Sequence[AskedIn]) -> RunTrace:
        above, shared = self.ancestors[-1] if self.ancestors else None, self._shared
        policy = asked[0].policy if asked else ""
        what = TracedRun(self.id, order.turn.run, order.generation, above, policy)
        span = None
        if shared.tracing:
            within, *others = [one.context for one in asked] or [None]
            span = shared.tracing.begin(what, within, [one for one in others if one is not None])
        return RunTrace(span, shared.counters, shared.loop.time, what)

    def join(self, order: Join, asked: Sequence[AskedIn]) -> None:
        """A run takes up what was sent to steer it."""
        going = self.going[order.run]
        going.trace.joined(asked)
        turn, also = going.turn, (order.run,) * len(order.messages)  # it stays whose it was
        going.turn = Turn(turn.run, turn.messages + order.messages, turn.also + also)

    async def _drive(self, going: ActiveRun) -> None:
        going.enter()
        run = Run(self, going, await self.history.for_a_run(lambda: going.hold.current))
        if not going.hold.current:
            return
        answer = self._engine(run)
        if not inspect.isawaitable(answer):
            raise TypeError(f"the engine must be an async function, and {self._engine!r} is not")
        try:
            await answer
        except BaseException:  # a cancellation of its own among them
            with suppress(Exception):  # it failed first
                if going.hold.current:
                    await going.all_said()
            raise
        await going.all_said()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._shared.told.deadline):
                await going.hold.ended("delivery")  # it comes before what the next run says

    def _main_done(self, going: ActiveRun, task: asyncio.Task[None]) -> None:
        run = going.hold.run
        error = "it was cancelled from outside" if task.cancelled() else task.exception()
        if self._shared.watchdog:
            self._shared.watchdog.run_ended(run)
        active = self._seat.machine.active
        if active and active.run == run and not going.hold.current:
            with suppress(StaleRun):  # unless a stop from another thread was quicker
                self._tell(StopAsked(Reason.PARENT, run))  # its parent was stopped first
        if error and going.hold.current:
            told = error if isinstance(error, str) else described(error)
            going.failure = Failure(told, kind_of(error))
            cause = error if isinstance(error, BaseException) else None
            name = type(cause).__name__ if cause else "cancelled"
            log.error("run failed session=%s run=%s error=%s", self.id, run, name)
            log.debug("run failed session=%s run=%s", self.id, run, exc_info=cause)
        outcome = Outcome.FAILED if going.failure.error else Outcome.COMPLETED
        self._tell(Ended(run, outcome, len(going.joined)))  # what it was not given: the next turn
        del self.going[run]
        going.end_processes()
        going.main = None  # its traceback holds all of this; let it go without the collector
        self._retire(going)

    def _retire(self, going: ActiveRun) -> None:
        """See off what a run that ended by itself left behind."""
        left = going.living or going.hold.under_way or going.children or going.has_processes
        if left and not self._stops.see(going):
            generation, now = self._seat.machine.generation, self._shared.loop.time()
            settlement = self._stops.fenced(Reason.PARENT, generation, now, silent=True)
            settlement.goings.append(going)
            settlement.begin([])

    def lose(self, run: RunId, outcome: Outcome) -> ActiveRun:
        """A run has lost the session: its calls are settled, its typing mark is taken down."""
        going = self.going[run]
        going.ended = outcome in (Outcome.COMPLETED, Outcome.FAILED)
        settled = going.ledger.settle() if going.calls else []
        unshown = going.speech.settle() if going.speech.pieces else []
        self.journal.add(*unshown, *settled)
        for result in settled:
            self._seat.publish(result)
        going.trace.over(outcome, going.failure.kind)
        if going.hold.typing:
            going.hold.typing = False
            event = self._seat.publish(Typing(run, on=False))
            if going.sink:
                going.sink.last_word(event, unless=partial(self._types_beside, going))
        return going

    def _types_beside(self, going: ActiveRun) -> bool:
        return any(g.hold.typing for g in self.going.values() if g is not going)

    # what a run asks for

    def ledger_of(self, run: ActiveRun) -> Ledger:
        """What it calls."""
        before, doubts = self._shared.before_tool, self.history.doubts
        return Ledger(run, run.processes, self.journal, self.threads, before, doubts)

    def processes_of(self, run: ActiveRun) -> Owned:
        """What it starts."""
        home = self._kin.root or self._seat
        return Owned(
            self._shared.processes,
            run,
            home.kept,
            home.jobs,
            partial(self._stops.old_processes, run.hold.run),
            self.announcer,
        )

    async def take_steering(self, going: ActiveRun) -> tuple[Message, ...]:
        """What was sent to steer it, which it is given once."""
        going.hold.must_hold("taking of what was sent to steer it")
        try:
            move = self._tell(SteeringTaken(going.hold.run))
        except ImpossibleMove:  # a stop from another thread came in between
            going.hold.must_hold("taking of what was sent to steer it")
            raise
        going.joined += [
            m for order in move.orders if isinstance(order, Join) for m in order.messages
        ]
        if going.joined:
            await self.journal.committed()  # or it would be answered again after a crash
            going.hold.must_hold("taking of what was sent to steer it")
        joined, going.joined = going.joined, []
        return tuple(joined)

    async def start_child(
        self, going: ActiveRun, text: str, *, engine: Engine | None, keep: bool
    ) -> Child:
        """A run under this one."""
        if not going.hold.granted:
            await asyncio.sleep(0)  # a loop of refused starts must not stall the event loop
            going.hold.must_hold("start of a child run")
        await going.processes.clear()
        return await self._shared.start_child(self.id, going, text, engine, keep)

    # how they stand

    @property
    def typing(self) -> bool:
        """Whether one of them shows that it is at it."""
        return any(going.hold.typing for going in self.going.values())

    @property
    def unshown(self) -> list[Entry]:
        """What they are about to say. Ask under the session's lock."""
        return [entry for going in self.going.values() for entry in going.speech.unshown]

    @property
    def dying(self) -> tuple[Unconfirmed, ...]:
        """What has been stopped and has not ended, by name. Any thread may ask."""
        stopped = self._seat.machine.dying
        return self._stops.unconfirmed(
            one for run, one in tuple(self.going.items()) if run in stopped
        )

    @property
    def begun(self) -> dict[CallId, float]:
        """The calls that are being made for the run that holds the session, and since when."""
        active = self._seat.machine.active
        going = self.going.get(active.run) if active else None
        return going.ledger.begun if going and going.calls else {}

    def end_processes_now(self, *, all_of_them: bool = False) -> None:
        """Those of stopped runs, although the loop may be stalled. Any thread may ask."""
        for run, going in tuple(self.going.items()):
            if all_of_them or run in self._seat.machine.dying:
                going.end_processes_now()

    def cancel(self) -> None:
        """The runtime ends: none of them will be waited for."""
        self._tasks.cancel()
