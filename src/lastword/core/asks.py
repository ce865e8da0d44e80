"""The machine of what waits for a person: a run's questions, and the calls of programs.

The law. An ask is open from one moment to its one end: it is answered, by the first who does, or it
is withdrawn. An answer names the generation it was seen at: the session's, if a run asks; the
number of its frontier, if a program does. To any other it is refused, and so it is once the run may
not act: whoever tells of an answer says whether it may, in the step of the fence's own lock. What a
run has open ends with it and with any run above it. What a program waits on outlives runs: it ends
as the program goes on, or with it. Its answers come by a message, which waits for its turn, so a
second one is refused meanwhile; if the message comes to nothing, the ask is as it was.

A fact that is heard twice changes nothing. Every field is an immutable value, and what cannot be
done raises before any field is touched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TypeAlias, assert_never

from lastword.core.cell import CellId, CellRecord, Frontier
from lastword.core.model import CallId, MessageId, RunId, SessionId
from lastword.core.pending import must_be_current, must_fit, number_of, pending_at
from lastword.core.value import value
from lastword.errors import (
    AlreadyAnswered,
    AnswerRefused,
    CellGone,
    Named,
    QuestionWithdrawn,
    StaleAnswer,
    UnknownQuestion,
)

_REMEMBERED = 200  # of those that are closed, so that a late answer hears why it is refused


UNHEARD = "(there was nobody to ask)"  # by whom an answer is that nobody gave


@value
class Answer:
    """What a person said to it."""

    allowed: bool
    by: str = ""  # empty: whoever sits where the run was started
    scope: str = ""  # what was allowed, or forbidden, for good, in words; empty: this once


@value
class AnswerSent:
    """The same, as somebody sends it who saw the question at a generation."""

    question: str
    allow: bool
    generation: int
    always: bool = False
    scope: str = ""  # how far that reaches: the id of what the question offers, or the narrowest
    by: str = ""


@value
class Ask:
    """A call that waits for a person."""

    id: str
    session: SessionId
    generation: int  # of the session; or the number of the frontier at which the program stands
    call: CallId
    tool: str
    subject: str = ""
    run: RunId = RunId("")  # that asks
    above: tuple[RunId, ...] = ()  # for which that one works; it ends with any of them
    cell: CellId = CellId("")  # or the program that does
    at: float = field(default=0.0, compare=False)


@value
class Opened:
    """A run asks, if it may."""

    ask: Ask
    current: bool = True


@value
class AnswerGiven:
    """Somebody answers what a run has asked, as they saw it at a generation."""

    id: str
    generation: int
    answer: Answer
    current: bool = True  # whether the run may still act


@value
class Dropped:
    """Whoever asked wants no answer any more."""

    id: str


@value
class RunOver:
    """A run has lost its session, or ended; and messages have had their outcome."""

    run: RunId
    messages: tuple[MessageId, ...] = ()


@value
class Stood:
    """Where a program stands, or how it ended."""

    session: SessionId
    record: CellRecord


@value
class ProgramsFound:
    """All programs of a session that have not ended, as its store has them."""

    session: SessionId
    records: tuple[CellRecord, ...]


@value
class Promised:
    """A message was accepted that answers calls of the frontier that its sender saw."""

    message: MessageId
    cell: CellId
    generation: int
    calls: tuple[CallId, ...]


AskEvent: TypeAlias = Opened | AnswerGiven | Dropped | RunOver | Stood | ProgramsFound | Promised


Closed: TypeAlias = Mapping[str, tuple[type[AnswerRefused], tuple[str, ...]]]
"""Those of runs that are over, by their ids: what a late answer is told."""


@value
class AskEnd:
    """Tell whoever waits for it, and whoever was shown it; None if it was withdrawn."""

    ask: Ask
    answer: Answer | None = None


@value
class WaitingProgram:
    """A program, as far as somebody can answer it."""

    session: SessionId
    cell: CellId
    version: int
    frontier: Frontier | None
    stands: bool  # there
    outcome: str = ""  # how it ended
    promised: MessageId | None = None  # the message that answers it where it stands

    @property
    def asks(self) -> tuple[Ask, ...]:
        """What it waits on."""
        at = number_of(self.frontier)
        return tuple(
            Ask(call.id, self.session, at, call.id, call.name, call.arguments, cell=self.cell)
            for call in pending_at(self.frontier)
        )


def _program(session: SessionId, record: CellRecord) -> WaitingProgram:
    frontier, ending = record.frontier, record.ending
    waits = replace(frontier, output="", dump=b"") if frontier else None
    outcome = ending.outcome if ending else ""
    stands = record.waits_at > 0
    return WaitingProgram(session, record.cell, record.version, waits, stands, outcome)


class AskMachine:
    """All that waits in one session, and in the sessions of the runs below it."""

    def __init__(self, closed: Closed | None = None) -> None:
        self.runs: Mapping[str, Ask] = {}
        self.programs: Mapping[CellId, WaitingProgram] = {}
        self.closed: Closed = closed or {}

    @property
    def open(self) -> tuple[Ask, ...]:
        """What can be answered now, as far as is known here."""
        stand = [one for one in self.programs.values() if one.stands and not one.promised]
        return (*self.runs.values(), *(ask for one in stand for ask in one.asks))

    def apply(self, event: AskEvent) -> list[AskEnd]:
        """Take in what happened; return what has come to its end. Raises AnswerRefused, or an error
        of a cell's, for what is not taken."""
        closed: list[AskEnd] = []
        match event:
            case Opened(ask, current):
                self._open(ask, current=current)
            case AnswerGiven(id_, generation, answer, current):
                closed = [self._answered(id_, generation, answer, current=current)]
            case Dropped(id_):
                closed = self._withdrawn(lambda ask: ask.id == id_)
            case RunOver(run, messages):
                self._give_back(messages)
                closed = self._withdrawn(lambda ask: run in (ask.run, *ask.above))
            case Stood(session, record):
                self._stood(session, record)
            case ProgramsFound(session, records):
                self._found(session, records)
            case Promised(message, cell, generation, calls):
                self._promised(message, cell, generation, calls)
            case _:
                assert_never(event)
        return closed

    # what runs ask

    def _open(self, ask: Ask, *, current: bool) -> None:
        if not current:
            raise QuestionWithdrawn(*_too_late(ask))
        if ask.id not in self.closed:
            self.runs = {**self.runs, ask.id: ask}

    def _answered(self, id: str, generation: int, answer: Answer, *, current: bool) -> AskEnd:
        ask = self.runs.get(id)
        if ask is None:
            kind, why = self.closed.get(id, (UnknownQuestion, (f"there is no question {id}",)))
            raise kind(*why)
        if generation != ask.generation:
            raise StaleAnswer(
                f"question {id} was asked at generation {ask.generation}, and this answer is "
                f"to one of generation {generation}; it was not taken"
            )
        if not current:
            raise QuestionWithdrawn(*_too_late(ask))
        why = f"question {id} has been answered; that answer holds, and this one was not taken"
        self._close(ask, AlreadyAnswered, (why,))
        return AskEnd(ask, answer)

    def _withdrawn(self, which: Callable[[Ask], bool]) -> list[AskEnd]:
        asks = [ask for ask in self.runs.values() if which(ask)]
        for ask in asks:
            self._close(ask, QuestionWithdrawn, _too_late(ask))
        return [AskEnd(ask) for ask in asks]

    def _close(self, ask: Ask, kind: type[AnswerRefused], why: tuple[str, ...]) -> None:
        self.runs = {id_: one for id_, one in self.runs.items() if id_ != ask.id}
        closed = {**self.closed, ask.id: (kind, why)}
        self.closed = dict(list(closed.items())[-_REMEMBERED:])

    # what programs wait on

    def _stood(self, session: SessionId, record: CellRecord) -> None:
        before = self.programs.get(record.cell)
        if before and record.version <= before.version:
            return
        now = _program(session, record)
        if before and now.stands and number_of(now.frontier) == number_of(before.frontier):
            now = replace(now, promised=before.promised)
        programs = {**self.programs, record.cell: now}
        ended = [cell for cell, one in programs.items() if one.outcome][:-_REMEMBERED]
        self.programs = {cell: one for cell, one in programs.items() if cell not in ended}

    def _found(self, session: SessionId, records: tuple[CellRecord, ...]) -> None:
        there = {record.cell for record in records}
        self.programs = {
            cell: one
            for cell, one in self.programs.items()
            if one.session != session or one.outcome or cell in there
        }
        for record in records:
            self._stood(session, record)

    def must_take(self, cell: CellId, generation: int, calls: tuple[CallId, ...]) -> None:
        """Raise unless these calls can be answered now, by who has seen that frontier."""
        program = self.programs.get(cell)
        if program is None or program.outcome:
            raise CellGone(cell, program.outcome if program else "or there never was one")
        stands = program.stands and program.promised is None
        must_be_current(cell, program.frontier, generation, stands=stands)
        must_fit(cell, program.frontier, calls)

    def _promised(
        self, message: MessageId, cell: CellId, generation: int, calls: tuple[CallId, ...]
    ) -> None:
        program = self.programs.get(cell)
        if program is None or program.promised != message:
            self.must_take(cell, generation, calls)
            promised = replace(self.programs[cell], promised=message)
            self.programs = {**self.programs, cell: promised}

    def _give_back(self, messages: tuple[MessageId, ...]) -> None:
        """Messages that have had their outcome bring nothing any more."""
        given_back = {
            cell: replace(program, promised=None)
            for cell, program in self.programs.items()
            if program.promised in messages
        }
        self.programs = {**self.programs, **given_back}


def _too_late(ask: Ask) -> tuple[str, ...]:
    return (
        f"question {ask.id} was withdrawn: run ",
        Named(ask.run),
        " was stopped, replaced or has ended, so the answer came too late and was not taken",
    )
