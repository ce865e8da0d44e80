"""A run in progress, from the side of whoever may have to end it.

Whatever the run started is here by name, so that a stop can ask all of it to end, wait for it, and
say what has not ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cached_property
from itertools import count
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from lastword.core.model import Message, SessionId, Turn
from lastword.core.receipt import AnswerReport, ProcessReport, Unconfirmed, in_doubt
from lastword.core.story import FeedEvent
from lastword.core.value import value
from lastword.runtime.asking import running
from lastword.runtime.asks import ToldIn
from lastword.runtime.call import Call
from lastword.runtime.children import ChildRun
from lastword.runtime.executor import NO_CALL, calling
from lastword.runtime.fence import Fence
from lastword.runtime.gathering import Gathering
from lastword.runtime.hold import LASTING, Effect, Hold
from lastword.runtime.ledger import Ledger
from lastword.runtime.owned import Owned, Wardens
from lastword.runtime.speech import Speech
from lastword.runtime.tasks import Tasks
from lastword.runtime.threads import DaemonThreads
from lastword.runtime.trace import RunTrace

Hears: TypeAlias = Literal["words", "effects"]


@value
class Listener:
    """A runtime's sink, and what is told to it."""

    sink: Callable[..., object]
    pace: float = 0.0  # seconds between two deliveries, at least
    hears: Hears = "words"  # what runs say; or also what they call and ask


class Failure(NamedTuple):
    """Why a run failed; nothing, if it did not."""

    error: str = ""
    kind: str = ""  # what of it the model may be told


class RunHome(ToldIn, Protocol):
    """The session of a run, as far as the run has something of it."""

    shuts: set[Callable[[], object]]  # called in the instant in which the right to act moves

    def ledger_of(self, run: ActiveRun) -> Ledger:
        """Its calls, when the first is made."""
        ...

    def processes_of(self, run: ActiveRun) -> Owned:
        """Its processes, when the first is started."""
        ...


class ActiveRun:
    """Everything that has to be gone before a run is."""

    def __init__(
        self,
        turn: Turn,
        hold: Hold,
        parent: ActiveRun | None,
        speech: Speech,
        home: RunHome,
        trace: RunTrace,
    ) -> None:
        self.home = home
        self.trace = trace  # it, as it is counted and traced
        self.turn = turn
        self.hold = hold
        self.parent = parent
        self.calls: list[Call[Any]] = []  # that it set out to make
        self.wardens = Wardens()
        self.main: asyncio.Task[None] | None = None
        self.helpers = Tasks(f"run {hold.run}:", loud=True)
        self.deliveries = Tasks(f"run {hold.run}:")
        self.speech = speech
        self.sink: Fence | Gathering | None = None
        self._hears: Hears = "words"
        self._passing: asyncio.Task[None] | None = None  # the last that was told to the sink
        self.children: list[ChildRun] = []
        self._numbers = count(1)  # by which they are named
        self.joined: list[Message] = []  # what was sent to steer it and it has not been given
        self.failure = Failure()
        self.ended = False  # by itself: it has lost its session to nobody
        self.given: object = None  # what its engine was given, once it was
        self.answers: list[AnswerReport] = []  # what people said to what it asked

    @cached_property
    def ledger(self) -> Ledger:
        return self.home.ledger_of(self)

    @cached_property
    def processes(self) -> Owned:
        return self.home.processes_of(self)

    def next_child(self) -> SessionId:
        """The name of the session of another run under it; none is given twice."""
        return SessionId(f"{self.hold.run}/{next(self._numbers)}")

    @property
    def by(self) -> str:
        """Whose it is: a child's is theirs who asked for the one above."""
        return self.parent.by if self.parent else self.turn.by

    def speak_to(self, who: Listener, threads: DaemonThreads) -> None:
        """What it says goes there; maybe also what it calls and asks."""
        speech, pace = self.speech, who.pace
        fence = Fence(self.hold, self.deliveries, threads, who.sink, pace=pace, speech=speech)
        self.sink = Gathering(fence, self.hold, self.helpers) if pace else fence
        self._hears = who.hears

    def tell(self, event: FeedEvent) -> None:
        """A sink that hears effects is told of a call or a question in the feed, when its turn has
        come. The run goes on, and what it says next waits for that (`told`)."""
        if self.sink is not None and self._hears == "effects":
            effect = self.sink.line_up()
            passing = self._pass_on(self.sink, event, effect, self._passing)
            self._passing = self.helpers.start(passing, name=effect.name)

    @staticmethod
    async def _pass_on(
        sink: Fence | Gathering,
        event: FeedEvent,
        effect: Effect,
        before: asyncio.Task[None] | None,
    ) -> None:
        if before is not None:
            await asyncio.wait([before])
        await sink.pass_on(event, effect)

    async def told(self) -> None:
        """Return when its sink has heard of what was called and asked so far."""
        if self._passing is not None and not self._passing.done():
            await asyncio.wait([self._passing])

    async def all_said(self) -> None:
        """Return when what it has said has left: what waits for a disk or a sink's pace, too."""
        if self.speech.streams is not None:
            await self.speech.streams.left()
        await self.told()
        if isinstance(self.sink, Gathering):
            await self.sink.said()

    def enter(self) -> None:
        """From here on, whatever is done in this task or is started by it is done in its name."""
        running.set(self)
        calling.set(NO_CALL)  # whoever sent the message may have done so in a call of its own
        self.trace.enter()

    def descends_from(self, others: list[ActiveRun]) -> bool:
        """Whether it is one of them, or a child of one of them, at any depth."""
        return self in others or (self.parent is not None and self.parent.descends_from(others))

    @property
    def chain(self) -> tuple[ActiveRun, ...]:
        """It, and the runs that it works for; one that has ended, and was outlived, is none."""
        above = self.parent
        return (self, *(above.chain if above and above.hold.current else ()))

    @property
    def lives(self) -> tuple[tuple[SessionId, str], ...]:
        """Its session and those above it, as they are now: each with an epoch, which is another one
        if it was deleted and made again under its name."""
        above = self.parent.lives if self.parent else ()
        return (self.hold.sessions[-1], self.hold.epoch), *above

    def cancel(self) -> None:
        """Ask the run, its helpers and its processes to end. Its deliveries may complete."""
        self.end_processes()
        if self.main:
            self.main.cancel()
        self.helpers.cancel()

    @property
    def over(self) -> bool:
        """Whether it ended by itself, and nothing is left that it could be asked for."""
        return self.ended and not self.hold.current and not self.alive

    @property
    def alive(self) -> bool:
        """Whether something of it, or of its children, could still ask for something."""
        return bool(self.living) or self.hold.busy or any(child.alive for child in self.children)

    @property
    def living(self) -> tuple[asyncio.Task[Any], ...]:
        main = (self.main,) if self.main and not self.main.done() else ()
        return (*main, *self.helpers.living, *self.deliveries.living)

    async def unwound(self) -> None:
        """Return when all that can be asked to end, or can complete, has."""
        while living := self.living:
            await asyncio.wait(living)
        if self.wardens:
            await self.processes.gone()
        for child in self.children:
            await child.unwound()

    async def gone(self) -> None:
        """Return when nothing of it is left, threads of its tools included."""
        await self.unwound()
        await self.hold.ended(*LASTING)
        for child in self.children:
            await child.gone()

    @property
    def unconfirmed(self) -> list[Unconfirmed]:
        """What of it has not ended, by name."""
        under_way = [effect for effect in self.hold.under_way if not effect.covered]
        left = [Unconfirmed("tool", e.name) for e in under_way if e.kind == "tool"]
        left += [Unconfirmed("write", e.name) for e in under_way if e.kind == "write"]
        sinks = [e.name for e in under_way if e.kind == "delivery"]
        sinks += self.deliveries.names
        left += [Unconfirmed("delivery", name) for name in dict.fromkeys(sinks)]
        left += [in_doubt(name) for name in dict.fromkeys(self.hold.doubtful)]
        if self.main and not self.main.done():
            left.append(Unconfirmed("run", self.hold.run))
        left += [Unconfirmed("task", name) for name in self.helpers.names]
        left += self.processes.unconfirmed if self.wardens else ()
        for child in self.children:
            left += child.unconfirmed
        return left

    @property
    def has_processes(self) -> bool:
        """Whether one may be left, of its own or of its children."""
        alive = any(not warden.over for warden in self.wardens)
        return alive or any(child.has_processes for child in self.children)

    def end_processes(self) -> None:
        """Its own, and no more are started. Nothing is waited for."""
        self.wardens.closed = True
        if self.wardens:
            self.processes.end()

    def end_processes_now(self) -> None:
        """Its own and its children's, although the event loop may be stalled."""
        if self.wardens:
            self.processes.end_from_any_thread()
        for child in tuple(self.children):
            child.end_processes_now()

    async def processes_gone(self) -> None:
        """Return when none is left."""
        if self.wardens:
            await self.processes.gone()
        for child in self.children:
            await child.processes_gone()

    @property
    def process_reports(self) -> tuple[ProcessReport, ...]:
        """What became of its processes, and of its children's."""
        below = (report for child in self.children for report in child.processes)
        return (*(self.processes.reports if self.wardens else ()), *below)

    @property
    def dropped(self) -> int:
        return self.hold.dropped + sum(child.dropped for child in self.children)


def run_here() -> ActiveRun | None:
    """The run in whose name this is done; it may have ended. None outside of all runs."""
    here = running.get()
    return here if isinstance(here, ActiveRun) else None
