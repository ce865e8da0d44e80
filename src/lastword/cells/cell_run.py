"""A cell that has not ended, in the process that has it: its machine is fed, its orders are done.

Where the program runs, it works for a run, under that run's hold: its steps and its calls are
helpers of the run, and what comes of them counts while the run may act. Where it stands still, it
is its session's alone. What the machine wants stored is stored by the session.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, TypeAlias

from lastword.cells.calls import CellCalls
from lastword.cells.functions import Function
from lastword.cells.home import steps_of, turn_of
from lastword.cells.limits import ProgramLimits
from lastword.cells.observers import Observers
from lastword.cells.steps import AtFrontier, Step
from lastword.cells.translation import (
    Outcome,
    answers_of,
    decoded,
    misused,
    outcome_of,
)
from lastword.core.cell import (
    CallResult,
    CellPhase,
    CellRecord,
    Ending,
    Frontier,
    Observation,
    PendingGeneration,
    StoredCell,
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
    Raised,
    RuntimeLost,
    StartAsked,
    TerminateAsked,
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
from lastword.core.frontier import CellMachine
from lastword.core.pending import Results
from lastword.errors import CellGone, NotDelivered, StoreError, Superseded, WorkerDied
from lastword.runtime.asking import acting
from lastword.runtime.run import Run
from lastword.runtime.session_cells import SessionCells
from lastword.runtime.tasks import Tasks, described

log = logging.getLogger("lastword")
Make: TypeAlias = Callable[[], Awaitable[Sequence[CallResult]]]
_TRIES = 2  # workers that may die of one step, which has no effect until it has been taken


class CellRun:
    """One cell. For the event loop's thread."""

    def __init__(
        self,
        stored: StoredCell,
        shelf: SessionCells,
        functions: tuple[Function, ...] = (),
        machine: CellMachine | None = None,
    ) -> None:
        self.machine = machine or CellMachine.restore(stored.record)[0]
        self._about = stored  # its record apart, this is what is stored of it
        self._tools = decoded(stored.tools)
        self._shelf = shelf
        self._steps = steps_of(shelf.processes)
        self._limits: ProgramLimits | None = None
        self._values: Mapping[str, Any] = {}
        self._run: Run | None = None  # for which it works
        self._guard: asyncio.Task[Any] | None = None  # ends with that run
        self._late: StartProgram | Deliver | None = None  # it came too late for that run
        self._step: asyncio.Task[None] | None = None
        self._calls = CellCalls(functions, lambda result: self._tell(CallsEnded((result,))))
        self._tasks = Tasks(f"cell {stored.id}:", loud=True)
        self._news = asyncio.Event()
        self._resuming: asyncio.Future[None] | None = None
        self._make: Make | None = None  # what is to be delivered
        self._making = False  # that has begun
        self._why = ""  # the last delivery failed
        self._observers = Observers(self.machine, self._tell)
        self.printed = ""  # all of it, as far as this process has heard it

    @property
    def stored(self) -> StoredCell:
        """All that is to outlive the process, as it is now."""
        return replace(self._about, record=self.machine.record)

    # what is asked of it

    def start(self, run: Run, limits: ProgramLimits | None, values: Mapping[str, Any]) -> None:
        """Let the program run, from its beginning, for this run."""
        self._work_for(_guard(run, self.machine.cell), run)
        self._limits, self._values = limits, values
        self._tell(StartAsked())

    async def resume(
        self, run: Run, generation: int, results: Results, make: Make | None = None
    ) -> None:
        """Answer calls of the frontier of that number; the program goes on for this run.

        Returns when they have been taken. Raises at once if they do not fit. With `make`, the
        results are made by that, once it is stored that they are going to be: from then on the
        frontier is never given back, because nobody could tell what has executed.
        """
        guard = _guard(run, self.machine.cell)
        try:
            asked = CallsAnswered(PendingGeneration(generation), results, made=make is not None)
            orders = self.machine.apply(asked)
        except BaseException:
            guard.cancel()
            raise
        self._work_for(guard, run)
        self._make, self._making = make, False
        resuming = self._resuming = asyncio.get_running_loop().create_future()
        self._do(orders)
        await asyncio.shield(resuming)

    @asynccontextmanager
    async def observe(self, observer: str) -> AsyncGenerator[Observation]:
        """What is to be seen of it. If the block raises, what it was given was not delivered."""
        async with self._observers.look(observer) as observation:
            yield observation
        with suppress(StoreError):  # it is tried again with whatever is stored next
            await self._shelf.committed()

    async def terminate(self) -> Ending:
        """End it. Raises CellGone if it has ended."""
        with acting("the end of this cell"):
            self._tell(TerminateAsked())
        return await self.ended()

    def freeze(self) -> StoredCell | None:
        """In the step of a fence: nothing of it acts any more, and the session stores that."""
        frozen = None
        for order in self.machine.apply(Frozen()):
            if isinstance(order, StoreCell):
                frozen = replace(self._about, record=order.record)
                self._tasks.start(self._report(order.record.version), name="freeze")
            else:
                self._do([order])
        return frozen

    async def settled(self) -> Frontier | Ending:
        """Where it stands, or how it ended, as soon as it does either."""
        machine = self.machine
        while True:
            if machine.ending and not machine.awaited:
                return machine.ending
            if (
                machine.kind == "pausable"
                and machine.phase is CellPhase.PAUSED
                and machine.frontier
            ):
                return machine.frontier
            await self._news.wait()

    async def ended(self) -> Ending:
        """How it ended, as soon as it has."""
        while not self.machine.ending or self.machine.awaited:
            await self._news.wait()
        return self.machine.ending

    # the run that it works for

    def _work_for(self, guard: asyncio.Task[Any], run: Run) -> None:
        self._stand_down()
        self._run, self._guard = run, guard
        self._about = replace(self._about, run=run.id, by=run.by)
        self._shelf.put(self)  # from here on it is found with that run, and is theirs whose it is
        guard.add_done_callback(self._run_is_over)

    def _stand_down(self) -> None:
        guard, self._guard, self._run = self._guard, None, None
        if guard:
            guard.cancel()

    def _run_is_over(self, guard: asyncio.Task[Any]) -> None:
        """The run has ended, and not by a stop or a takeover: those freeze the cell first."""
        if guard is not self._guard or self.machine.ending:
            return
        self._run = self._guard = None
        late, self._late = self._late, None
        if self.machine.kind == "continuing":
            self._tell(TerminateAsked())  # nobody is left to make its calls
        elif late:
            self._not_begun(late)
        elif self.machine.phase is CellPhase.DELIVERING and not self._making:
            self._why = "the run that resumed it ended first"
            self._tell(DeliveryFailed(self.machine.generation))
        else:
            self._tell(RuntimeLost())

    def _begin(self, order: StartProgram | Deliver) -> None:
        if self._run is None:
            self._not_begun(order)
            return
        try:
            self._step = self._run.task(self._go(self._run, order), name=f"{self._name} runs")
        except Superseded:
            self._late = order  # by a stop, or by the run's own end: that is told in a moment

    def _not_begun(self, order: StartProgram | Deliver) -> None:
        """Nobody is there to run it for."""
        if isinstance(order, StartProgram):
            self._tell(RuntimeLost())
        else:
            self._why = "the run that resumed it ended first"
            self._tell(DeliveryFailed(order.generation))

    # the machine

    def _tell(self, event: CellEvent) -> None:
        self._do(self.machine.apply(event))

    def _do(self, orders: list[CellOrder]) -> None:  # noqa: C901, PLR0912 - one match, one arm an order
        for order in orders:
            match order:
                case StoreCell(record):
                    self._store(record)
                case Commit(record, values):
                    self._store(record, values)
                case StartProgram() | Deliver():
                    self._begin(order)
                case Stand():
                    self._stands()
                case Execute(calls):
                    if self._run:
                        self._calls.make(self._run, calls)
                case CancelCalls(calls):
                    self._calls.cancel(calls)
                case Kill():
                    if self._step and self._step is not asyncio.current_task():
                        self._step.cancel()
                case Resumed():
                    self._resumed(None)
                case NotResumed(generation):
                    self._resumed(NotDelivered(self.machine.cell, generation, self._why))
                    self._stands()
                case EndCell(ending):
                    self._over(ending)
                case Show():
                    pass  # whoever asked has it

    def _stands(self) -> None:
        if self.machine.kind == "pausable":
            self._stand_down()
        self._tell_all()

    def _over(self, ending: Ending) -> None:
        cell = self.machine.cell
        self._resumed(CellGone(cell, ending.outcome))
        self._stand_down()
        if self._shelf.open.get(cell) is self:
            self._shelf.leave(cell)
        log.info("cell ended session=%s cell=%s as=%s", self._about.session, cell, ending.outcome)
        self._tell_all()

    def _resumed(self, error: Exception | None) -> None:
        resuming, self._resuming = self._resuming, None
        if resuming is None or resuming.done():
            return
        if error is None:
            resuming.set_result(None)
        else:
            resuming.set_exception(error)
            resuming.exception()  # whoever resumed it may be gone

    def _tell_all(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    @property
    def _name(self) -> str:
        return f"cell {self.machine.cell}"

    # the store

    def _store(self, record: CellRecord, values: Values = ()) -> None:
        self._shelf.keep(replace(self._about, record=record), values)
        self._tasks.start(self._report(record.version), name=f"store {record.version}")

    async def _report(self, version: int) -> None:
        try:
            await self._shelf.committed()
        except StoreError as error:
            self._why = str(error)
            self._tell(CellNotStored(version))
        else:
            self._tell(CellStored(version))

    # the program

    async def _go(self, run: Run, order: StartProgram | Deliver) -> None:
        """One step of the program, and what came of it."""
        try:
            if isinstance(order, Deliver) and self._make:
                if frontier := self.machine.frontier:
                    self._steps.must_read(frontier.dump)  # before anything is done for it
                self._making = True
                order = replace(order, results=tuple(await self._make()))
            step = await self._stepped(order)
            event = outcome_of(step, self.machine.cell, self.machine.frontier, self._tools)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, the cell has to be told
            event = self._broken(order, error)
        if not run.current:
            return  # the session says what becomes of it
        self.printed += event.output if isinstance(event, Outcome) else ""
        if isinstance(order, Deliver) and isinstance(event, Outcome):
            self._tell(Delivered(order.generation))
        self._tell(event)

    async def _stepped(self, order: StartProgram | Deliver) -> Step:
        async with turn_of(self._shelf):
            for _ in range(_TRIES - 1):
                with suppress(WorkerDied):
                    return await self._stepped_once(order)
            return await self._stepped_once(order)

    async def _stepped_once(self, order: StartProgram | Deliver) -> Step:
        frontier = self.machine.frontier
        if isinstance(order, Deliver) and frontier:
            step = await self._steps.resume(frontier.dump, answers_of(order.results, frontier))
        else:
            step = await self._steps.start(
                self._about.source, tools=self._tools, values=self._values, limits=self._limits
            )
        while isinstance(step, AtFrontier) and (wrong := misused(step, self._tools)):
            more = await self._steps.resume(step.dump, wrong)
            step = replace(more, output=step.output + more.output)
        return step

    def _broken(
        self, order: StartProgram | Deliver, error: Exception
    ) -> DeliveryFailed | Raised | RuntimeLost:
        log.warning("cell not run cell=%s error=%s", self.machine.cell, type(error).__name__)
        if isinstance(order, Deliver) and not self._making:
            self._why = str(error)
            return DeliveryFailed(order.generation)
        if isinstance(order, Deliver):
            return RuntimeLost()
        return RuntimeLost() if isinstance(error, WorkerDied) else Raised(described(error))


def _guard(run: Run, cell: str) -> asyncio.Task[Any]:
    """What ends when the run does."""
    return run.task(asyncio.Event().wait(), name=f"cell {cell}")
