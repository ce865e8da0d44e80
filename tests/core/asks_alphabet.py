"""Everything that can happen to what waits for a person: two runs, one below the other, and a
program with two frontiers.

Who judges remembers what was told, and nothing of how the machine keeps it. A run is fenced some
time before its session says that it ended; whoever tells of an ask or an answer says whether the
run may act.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

from lastword.core import asks
from lastword.core.cell import (
    CellId,
    CellOutcome,
    CellRecord,
    Ending,
    Frontier,
    PendingCall,
    PendingGeneration,
)
from lastword.core.model import CallId, MessageId, RunId, SessionId
from lastword.errors import (
    AlreadyAnswered,
    AlreadyRunning,
    CellGone,
    FutureGeneration,
    LastwordError,
    QuestionWithdrawn,
    StaleAnswer,
    StaleGeneration,
    UnknownQuestion,
    WrongCalls,
)
from tests.core.explorer import Alphabet, Broken, Explored, Law, explore, must

SESSION, CELL = SessionId("s"), CellId("c")
ABOVE, BELOW = RunId("s#1"), RunId("s#1/1#1")
ASKS = {"q1": (ABOVE, 3, ()), "q2": (BELOW, 1, (ABOVE,))}  # the run, its generation, those above
WAITS = {1: ("a", "b"), 2: ("b", "c")}  # a frontier, and what it waits on
MESSAGES = (MessageId("m1"), MessageId("m2"))
BOUNDS = {"runs": ("fence", "ask"), "programs": ("program",), "both": ("fence", "ask", "resume")}
_VERSIONS = 5


@dataclass(frozen=True)
class Fenced:
    """A run may not act from here on; the machine hears of that when it is told that it ended."""

    run: RunId


@dataclass(frozen=True)
class Ghost:
    """What a bystander knows."""

    fenced: frozenset[RunId] = frozenset()
    ends: tuple[tuple[str, bool], ...] = ()  # of asks, in order, and whether it was an answer
    open: frozenset[str] = frozenset()  # of runs
    version: int = 0
    frontier: int = 0
    stands: bool = False
    ended: bool = False
    promised: MessageId | None = None
    over: frozenset[MessageId] = field(default=frozenset())  # they have had their outcome

    def may_act(self, id: str) -> bool:
        run, _, above = ASKS[id]
        return not self.fenced & {run, *above}

    @property
    def answerable(self) -> set[str]:
        waits = WAITS[self.frontier] if self.stands and not self.promised else ()
        return {*self.open, *waits}


def _record(version: int, frontier: int, *, stands: bool, ended: bool = False) -> CellRecord:
    calls = tuple(PendingCall(CallId(call), "tool") for call in WAITS.get(frontier, ()))
    at = Frontier(PendingGeneration(frontier), calls) if frontier else None
    ending = Ending(CellOutcome.FROZEN) if ended else None
    return CellRecord(CELL, "pausable", version, at, stands, (), (), (), ending)


def _next(module: Any, kinds: tuple[str, ...], ghost: Ghost) -> Iterator[Any]:
    if "fence" in kinds:
        yield from (Fenced(run) for run in (ABOVE, BELOW) if run not in ghost.fenced)
        yield from (module.RunOver(run) for run in (ABOVE, BELOW) if run in ghost.fenced)
    if "ask" in kinds:
        yield from _of_runs(module, ghost)
    if "program" in kinds or "resume" in kinds:
        yield from _of_programs(module, ghost, every="program" in kinds)


def _of_runs(module: Any, ghost: Ghost) -> Iterator[Any]:
    for id_, (run, generation, above) in ASKS.items():
        ask = module.Ask(id_, SESSION, generation, CallId(id_), "tool", run=run, above=above)
        yield module.Opened(ask, ghost.may_act(id_))
        for seen in (generation, generation - 1):
            yield module.AnswerGiven(id_, seen, module.Answer(True, "ann"), ghost.may_act(id_))
        yield module.Dropped(id_)


def _of_programs(module: Any, ghost: Ghost, *, every: bool) -> Iterator[Any]:
    version = ghost.version + 1
    if version <= _VERSIONS and not ghost.ended:
        yield module.Stood(SESSION, _record(version, ghost.frontier, stands=False))
        yield module.Stood(SESSION, _record(version, ghost.frontier, stands=False, ended=True))
        for frontier in (ghost.frontier or 1, ghost.frontier + 1):
            if frontier in WAITS:
                yield module.Stood(SESSION, _record(version, frontier, stands=True))
    if ghost.version and every:  # what was told before
        yield module.Stood(SESSION, _record(ghost.version - 1, 1, stands=True))
        yield module.ProgramsFound(SESSION, ())
    for message in MESSAGES:
        if message not in ghost.over:
            for generation in (1, 2, 3) if every else (1,):
                for calls in (("a",), ("b", "b"), ()) if every else (("a",),):
                    yield module.Promised(message, CELL, generation, calls)
        yield module.RunOver(RunId("s#9"), (message,))


def _forbidden(_: Any, event: Any, ghost: Ghost) -> type[LastwordError] | None:
    match type(event).__name__:
        case "Opened":
            return None if event.current else QuestionWithdrawn
        case "AnswerGiven":
            return _not_taken(event, ghost)
        case "Promised":
            return _not_resumed(event, ghost)
        case _:
            return None


def _not_taken(event: Any, ghost: Ghost) -> type[LastwordError] | None:
    if event.id not in ghost.open:
        how = dict(ghost.ends).get(event.id)
        return UnknownQuestion if how is None else AlreadyAnswered if how else QuestionWithdrawn
    if event.generation != ASKS[event.id][1]:
        return StaleAnswer
    return None if ghost.may_act(event.id) else QuestionWithdrawn


def _not_resumed(event: Any, ghost: Ghost) -> type[LastwordError] | None:
    if ghost.promised == event.message:
        return None  # heard twice
    if ghost.ended or not ghost.version:
        return CellGone
    if event.generation != ghost.frontier:
        return StaleGeneration if event.generation < ghost.frontier else FutureGeneration
    if not ghost.stands or ghost.promised:
        return AlreadyRunning
    fits = event.calls and set(event.calls) <= set(WAITS[ghost.frontier])
    return None if fits and len(set(event.calls)) == len(event.calls) else WrongCalls


def _told(event: Any, ghost: Ghost) -> Ghost:  # noqa: PLR0911 - one match
    """What is known with this event, beside the ends of asks."""
    match type(event).__name__:
        case "Fenced":
            return replace(ghost, fenced=ghost.fenced | {event.run})
        case "Opened":
            new = event.ask.id not in dict(ghost.ends)
            return replace(ghost, open=ghost.open | {event.ask.id}) if new else ghost
        case "RunOver":
            over = ghost.over | set(event.messages)
            promised = None if ghost.promised in over else ghost.promised
            return replace(ghost, over=over, promised=promised)
        case "Promised":
            return replace(ghost, promised=event.message)
        case "ProgramsFound":
            nothing = replace(ghost, version=0, frontier=0, stands=False, promised=None)
            return ghost if ghost.ended else nothing
        case "Stood":
            record = event.record
            if record.version <= ghost.version:
                return ghost
            at = record.frontier.generation if record.frontier else 0
            as_before = record.paused and at == ghost.frontier
            return replace(
                ghost,
                version=record.version,
                frontier=at,
                stands=record.paused,
                ended=record.ending is not None,
                promised=ghost.promised if as_before else None,
            )
        case _:
            return ghost


def _judge(_: Any, event: Any, after: Any, orders: list[Any], ghost: Ghost) -> Ghost:
    known = _told(event, ghost)
    ended: set[str] = {order.ask.id for order in orders}
    kind = type(event).__name__
    must(ended <= ghost.open, "only what was open comes to its end")
    match kind:
        case "AnswerGiven":
            must(ended == {event.id}, "an answer ends what it answers, and nothing else")
            must(orders[0].answer == event.answer, "whoever waits is given that answer")
        case "Dropped":
            must(
                ended == set(ghost.open) & {event.id},
                "what is given up is withdrawn, if it was open",
            )
        case "RunOver":
            gone = {i for i in ghost.open if event.run in (ASKS[i][0], *ASKS[i][2])}
            must(ended == gone, "what a run has open ends with it, and with the run above it")
        case _:
            must(not ended, "nothing else ends what a run asks")
    must(kind == "AnswerGiven" or all(o.answer is None for o in orders), "an answer is a person's")
    known = replace(
        known,
        open=known.open - ended,
        ends=(*known.ends, *((id_, kind == "AnswerGiven") for id_ in sorted(ended))),
    )
    open_ = {ask.id for ask in after.open}
    must(open_ == known.answerable, f"{known.answerable} can be answered, and not {open_}")
    if kind != "AnswerGiven":
        again: Any = copy.copy(after)
        try:
            must(again.apply(event) == [], "a fact heard twice ends nothing")
        except LastwordError as error:
            raise Broken("a fact heard twice is not refused") from error
        same = bool(again.__dict__ == after.__dict__)
        must(same, "a fact heard twice changes nothing")
    return known


def _key(machine: Any, ghost: Ghost) -> Hashable:
    closed = frozenset((id_, kind) for id_, (kind, _) in machine.closed.items())
    programs: frozenset[Any] = frozenset(machine.programs.values())
    return frozenset(machine.runs), closed, programs, ghost


def explore_asks(bounds: str, module: ModuleType = asks) -> Explored:
    """Try everything within bounds that have a name."""
    kinds = BOUNDS[bounds]

    real: Any = module.AskMachine

    class Machine(real):
        def apply(self, event: Any, /) -> list[Any]:
            ended: list[Any] = [] if isinstance(event, Fenced) else real.apply(self, event)
            return ended

    alphabet: Alphabet[Any, Any, Ghost] = Alphabet(
        bounds, lambda _, ghost: _next(module, kinds, ghost)
    )
    law: Law[Any, Any, Ghost] = Law(Ghost(), _judge, _key, _forbidden)
    return explore(Machine(), alphabet, law)
