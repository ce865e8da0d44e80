"""The machine of one cell: where its program stands, and who may let it go on.

The law. A frontier stands when the store has it, not before, so whoever was shown one finds it
again after any death. A resume names the frontier that its caller saw. That it was begun is stored
before it is delivered, and the frontier is consumed when the interpreter has taken the results: a
resume that certainly did not arrive leaves the frontier as it was, and one of which nobody knows
leaves a cell that is lost, never one that could be resumed twice. Looking changes nothing.

A continuing cell's frontier is answered by the calls it hands out, as they end; a restart finds it
lost, because its calls went with the process. Every way to end leads to `_end`, and the first has
the last word: what the interpreter reports afterwards is not heard. `Phase` has the table.

Orders are returned in the order in which they are to be carried out. Every field is an immutable
value, and a move that cannot be made raises before any field is touched.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from lastword.core.cell import (
    CellId,
    CellOutcome,
    CellPhase,
    CellRecord,
    Ending,
    Frontier,
    Kind,
    Observation,
    PendingGeneration,
    Standing,
    Values,
)
from lastword.core.cell_events import (
    CallsAnswered,
    CallsEnded,
    CellEvent,
    CellNotStored,
    CellStored,
    Delivered,
    DeliveryFailed,
    Frozen,
    ObserveBegun,
    ObserveDelivered,
    ObserveFailed,
    Raised,
    Reached,
    Returned,
    RuntimeLost,
    StartAsked,
    TerminateAsked,
    UsedUp,
)
from lastword.core.cell_orders import (
    CancelCalls,
    CellOrder,
    Commit,
    Deliver,
    EndCell,
    Execute,
    Kill,
    NotResumed,
    Resumed,
    Show,
    Stand,
    StartProgram,
    StoreCell,
)
from lastword.core.outlet import Outlet
from lastword.core.pending import (
    Calls,
    Results,
    answered,
    following,
    merged,
    must_be_current,
    must_fit,
    new_in,
    number_of,
    pending_at,
)
from lastword.errors import CellGone, ImpossibleMove, NotPausable

Orders: TypeAlias = list[CellOrder]


class CellMachine:
    """The state of one cell."""

    def __init__(self, cell: CellId, kind: Kind) -> None:
        self.cell = cell
        self.kind: Kind = kind
        self.phase = CellPhase.NEW
        self.live = False  # whether there is an interpreter, and it stands where the cell does
        self.frontier: Frontier | None = None  # the last that stood
        self.arriving: Frontier | None = None  # the next, until the store has it
        self.results: Results = ()  # being delivered
        self.resolved: Calls = ()  # what they answer, until the next frontier stands
        self.made = False  # they are calls that are made for it, while they are being delivered
        self.going: Calls = ()  # handed out, and not ended yet
        self.ready: Results = ()  # of calls that were handed out; for the next frontier
        self.outlet = Outlet()
        self.values: Values = ()
        self.ending: Ending | None = None
        self.version = 0  # of the last record that was to be stored
        self.awaited = 0  # the version that the phase waits for
        self.unsaved = False  # whether output was given that the last record still has

    @classmethod
    def restore(cls, record: CellRecord) -> tuple[CellMachine, Orders]:
        """The machine as an earlier process left it, and what is to be done about it."""
        machine = cls(record.cell, record.kind)
        machine.version, machine.frontier = record.version, record.frontier
        machine.outlet, machine.values = Outlet(record.output), record.values
        if record.ending is not None:
            machine.phase, machine.ending = CellPhase.ENDED, record.ending
            return machine, []
        if record.paused:
            machine.phase = CellPhase.PAUSED
            return machine, []
        why = "the process that ran it died"
        return machine, machine._end(CellOutcome.LOST, error=why, doubtful=record.doubtful)

    @property
    def generation(self) -> PendingGeneration:
        """The current frontier's number; 0 before the first."""
        return number_of(self.frontier)

    @property
    def standing(self) -> Standing:
        """Where the cell is, as an observer is told it."""
        if self.ending:
            return "ending" if self.awaited else "ended"
        return self.phase.standing if self.kind == "pausable" else "running"

    @property
    def pending(self) -> Calls:
        """What the current frontier waits on, until it is consumed."""
        return () if self.phase.standing in {"running", "ended"} else pending_at(self.frontier)

    @property
    def record(self) -> CellRecord:
        """What the store has to keep of it from here on."""
        pausable = self.kind == "pausable"
        at, left = self.arriving or self.frontier, self.outlet.pieces
        paused = pausable and self.phase.at_a_frontier
        handed = (*self.going, *new_in(self.arriving, self.frontier))
        doubtful = self.resolved if pausable else handed
        doubtful = () if paused or self.ending else doubtful
        return CellRecord(
            self.cell, self.kind, self.version, at, paused, doubtful, left, self.values, self.ending
        )

    def apply(self, event: CellEvent) -> Orders:  # noqa: C901, PLR0911, PLR0912 - one match, one arm an event
        """Take in what happened; return what to do about it, in order."""
        match event:
            case StartAsked():
                return self._start()
            case CellStored(version):
                return self._stored(version, durable=True)
            case CellNotStored(version):
                return self._stored(version, durable=False)
            case CallsAnswered(generation, results, made):
                return self._resume(generation, results, made)
            case ObserveBegun(observer):
                return self._observe(observer)
            case ObserveDelivered(observer):
                return self._observed(observer, delivered=True)
            case ObserveFailed(observer):
                return self._observed(observer, delivered=False)
            case TerminateAsked():
                self._must_not_have_ended()
                return self._end(CellOutcome.TERMINATED)
            case _ if self.phase is CellPhase.ENDED:
                return []  # the end had the last word
            case Frozen():
                return self._end(CellOutcome.FROZEN)
            case Reached():
                return self._reached(event)
            case Returned(result, output, remembered):
                return self._completed(result, output, remembered)
            case Raised(error, output):
                self._must_run("failed")
                return self._failed(error, output)
            case UsedUp(limit, output):
                self._must_run("reached a limit")
                return self._failed(f"it reached its limit: {limit}", output)
            case RuntimeLost():
                return self._runtime_lost()
            case CallsEnded(results):
                return self._calls_ended(results)
            case Delivered(generation):
                return self._delivered(generation)
            case DeliveryFailed(generation):
                return self._delivery_failed(generation)
            case _:
                assert_never(event)

    # the program

    def _start(self) -> Orders:
        if self.phase is not CellPhase.NEW:
            raise ImpossibleMove(f"cell {self.cell} was started before")
        return self._store_for(CellPhase.STARTING)

    def _started(self) -> Orders:
        self.phase, self.live = CellPhase.RUNNING, True
        return [StartProgram()]

    def _must_run(self, what: str) -> None:
        if self.phase is not CellPhase.RUNNING:
            raise ImpossibleMove(
                f"cell {self.cell} is {self.phase.value}, so it cannot have {what}"
            )

    def _reached(self, event: Reached) -> Orders:
        self._must_run("reached a frontier")
        arriving = following(self.cell, self.frontier, self.resolved, event)
        if arriving is None:
            return self._failed("it waits on something that nobody can settle", event.output)
        self.arriving = arriving
        self.outlet = self.outlet.printed(event.output)
        self.values = merged(self.values, event.remembered)
        if self.kind == "continuing" and not event.made:
            return self._stand(arriving)  # what it waits on was stored before it was handed out
        return self._store_for(CellPhase.ARRIVING)

    def _stand(self, arrived: Frontier) -> Orders:
        new = new_in(arrived, self.frontier)
        self.phase, self.frontier, self.arriving = CellPhase.PAUSED, arrived, None
        self.resolved = ()
        if self.kind == "pausable":
            return [Stand(arrived)]
        self.going += new
        hand_out = [Execute(new)] if new else []
        return [Stand(arrived), *hand_out, *self._answer_what_ended()]

    def _completed(self, result: str, output: str, remembered: Values) -> Orders:
        self._must_run("completed")
        self.outlet = self.outlet.printed(output)
        self.values = merged(self.values, remembered)
        *orders, _ = self._end(CellOutcome.COMPLETED, result=result)
        return [*orders, Commit(self.record, self.values)]

    def _failed(self, error: str, output: str = "") -> Orders:
        self.outlet = self.outlet.printed(output)
        return self._end(CellOutcome.FAILED, error=error)

    def _runtime_lost(self) -> Orders:
        self.live = False
        if self.phase in {CellPhase.RUNNING, CellPhase.DELIVERING}:
            return self._lost("its interpreter died")
        return []  # it goes on from its dump

    def _lost(self, why: str) -> Orders:
        doubtful = self.resolved if self.kind == "pausable" else self.going
        return self._end(CellOutcome.LOST, error=why, doubtful=doubtful)

    # the store

    def _store(self) -> Orders:
        self.version, self.unsaved = self.version + 1, False
        return [StoreCell(self.record)]

    def _store_for(self, phase: CellPhase) -> Orders:
        self.phase = phase
        orders = self._store()
        self.awaited = self.version
        return orders

    def _stored(self, version: int, *, durable: bool) -> Orders:
        if version > self.version:
            raise ImpossibleMove(f"version {version} of cell {self.cell} was not to be stored")
        if version != self.awaited:
            return []  # nothing waits for it
        self.awaited = 0
        orders = self._stored_or_not(durable=durable)
        return [*orders, *(self._store() if self.unsaved and not self.awaited else [])]

    def _stored_or_not(self, *, durable: bool) -> Orders:  # noqa: PLR0911 - one match, one arm a phase
        match self.phase:
            case CellPhase.STARTING:
                return self._started() if durable else self._failed("it could not be stored")
            case CellPhase.ARRIVING if durable and self.arriving:
                return self._stand(self.arriving)
            case CellPhase.ARRIVING:
                return self._lost(f"frontier {self.generation + 1} could not be stored")
            case CellPhase.BEGINNING if durable:
                return self._deliver()
            case CellPhase.BEGINNING:
                return self._give_back()  # the store may have it all the same that one began
            case CellPhase.RETURNING:
                self.phase = CellPhase.PAUSED
                return [NotResumed(self.generation)]
            case _:
                return self._ended(durable=durable)

    # answers

    def _resume(self, generation: PendingGeneration, results: Results, made: bool) -> Orders:
        self._must_not_have_ended()
        if self.kind == "continuing":
            raise NotPausable(self.cell)
        must_be_current(self.cell, self.frontier, generation, stands=self.phase is CellPhase.PAUSED)
        must_fit(self.cell, self.frontier, [result.call for result in results])
        self._answer(results, made)
        return self._store_for(CellPhase.BEGINNING)

    def _answer(self, results: Results, made: bool = False) -> None:
        self.results, self.resolved = results, answered(self.pending, results)
        self.made = made

    def _deliver(self) -> Orders:
        self.phase = CellPhase.DELIVERING
        return [Deliver(self.generation, self.results, reload=not self.live)]

    def _must_deliver(self, generation: PendingGeneration) -> None:
        if self.phase is not CellPhase.DELIVERING or generation != self.generation:
            raise ImpossibleMove(f"nothing is being delivered to frontier {generation}")

    def _delivered(self, generation: PendingGeneration) -> Orders:
        self._must_deliver(generation)
        self.phase, self.live, self.results = CellPhase.RUNNING, True, ()
        return [Resumed(generation)] if self.kind == "pausable" else []

    def _delivery_failed(self, generation: PendingGeneration) -> Orders:
        self._must_deliver(generation)
        if self.kind == "continuing" and not self.live:  # a third one would not take them either
            return self._lost("its interpreter did not take the results of its calls")
        kill = self._kill()
        if self.kind == "continuing":
            return [*kill, *self._deliver()]
        return [*kill, *self._give_back()]

    def _give_back(self) -> Orders:
        self.results = self.resolved = ()
        return self._store_for(CellPhase.RETURNING)

    def _calls_ended(self, results: Results) -> Orders:
        ended = answered(self.going, results)
        if len(ended) < len(results):
            raise ImpossibleMove(f"not all of these calls of cell {self.cell} were under way")
        self.going = tuple(call for call in self.going if call not in ended)
        self.ready += results
        return self._answer_what_ended() if self.phase is CellPhase.PAUSED else []

    def _answer_what_ended(self) -> Orders:
        waits = {call.id for call in self.pending}
        wanted = tuple(result for result in self.ready if result.call in waits)
        self.ready = ()  # the program is not told what it does not wait for any more
        self._answer(wanted)
        return self._deliver() if wanted else []

    # observers

    def _observe(self, observer: str) -> Orders:
        if self.ending and self.ending.outcome is CellOutcome.FROZEN:
            raise CellGone(self.cell, self.ending.outcome)
        self.outlet = self.outlet.begun(self.cell, observer)
        output = self.frontier.output if self.frontier and self.pending else ""
        ending = None if self.awaited else self.ending
        at, fresh = self.generation, self.outlet.pieces
        seen = Observation(at, self.standing, self.pending, output, fresh, ending)
        return [Show(observer, seen)]

    def _observed(self, observer: str, *, delivered: bool) -> Orders:
        before = self.outlet
        self.outlet = before.over(self.cell, observer, delivered=delivered)
        self.unsaved = self.unsaved or self.outlet.pieces != before.pieces
        # what the phase waits for is stored by itself, so that it succeeds or fails by itself
        return self._store() if self.unsaved and not self.awaited else []

    # the end

    def _must_not_have_ended(self) -> None:
        if self.ending:
            raise CellGone(self.cell, "ending" if self.awaited else self.ending.outcome)

    def _kill(self) -> Orders:
        alive = self.live or self.phase is CellPhase.DELIVERING
        self.live = False
        return [Kill()] if alive else []

    def _end(
        self, outcome: CellOutcome, *, result: str = "", error: str = "", doubtful: Calls = ()
    ) -> Orders:
        orders = self._kill()
        if self.going:
            orders.append(CancelCalls(self.going))
        making = self.resolved if self.made and self.phase is CellPhase.DELIVERING else ()
        self.ending = Ending(outcome, result, error, doubtful or self.going or making)
        self.arriving, self.results, self.going, self.ready = None, (), (), ()
        return [*orders, *self._store_for(CellPhase.ENDED)]

    def _ended(self, *, durable: bool) -> Orders:
        ending = self.ending
        if ending and ending.outcome is CellOutcome.COMPLETED and not durable:
            why = "its values could not be stored, so none was committed"
            return self._end(CellOutcome.FAILED, error=why, doubtful=ending.may_have_executed)
        return [EndCell(ending, durable=durable)] if ending else []
