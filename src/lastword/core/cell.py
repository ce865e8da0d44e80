"""What is said of a cell, and what the store keeps of it.

A cell is a program that waits on calls. Where every path through it waits, it stands at a frontier,
and frontiers are numbered. Arguments, results and values are JSON texts, a dump is what only the
interpreter reads, and a call's id means that call in every cell of every session.
"""

from __future__ import annotations

from dataclasses import field, replace
from enum import Enum, StrEnum
from typing import Literal, NewType, TypeAlias

from lastword.core.model import CallId, SessionId
from lastword.core.value import value

CellId = NewType("CellId", str)
PendingGeneration = NewType("PendingGeneration", int)

# pausable: stands still at each frontier until somebody resumes it;
# continuing: its calls are made at once, and nobody else may answer them
Kind: TypeAlias = Literal["pausable", "continuing"]
Standing: TypeAlias = Literal["running", "paused", "resuming", "ending", "ended"]
Values: TypeAlias = tuple[tuple[str, str], ...]


class CellOutcome(StrEnum):
    """How a cell ended. Stored, never inferred."""

    COMPLETED = "completed"
    FAILED = "failed"
    TERMINATED = "terminated"
    FROZEN = "frozen"  # its session was stopped or taken over
    LOST = "lost"  # its interpreter died where nobody knows how far it had come


class CellPhase(Enum):
    """What a cell waits for, and where a restart finds it.

    starting     the store to have it, then it runs         lost, nothing executed
    running      its interpreter                            lost
    arriving     the store to have the new frontier         lost, or at the new frontier
    paused       somebody to resume it                      at that frontier
    beginning    the store to have it that a resume began   at that frontier, or lost
    delivering   the interpreter to take the results        lost
    returning    the store to have it that it did not       lost, or at that frontier
    ended        the store to have that                     ended, or as before

    A continuing cell is found lost, wherever it was.
    """

    NEW = "new"
    STARTING = "starting"
    RUNNING = "running"
    ARRIVING = "arriving"
    PAUSED = "paused"
    BEGINNING = "beginning"
    DELIVERING = "delivering"
    RETURNING = "returning"
    ENDED = "ended"

    @property
    def at_a_frontier(self) -> bool:
        """Whether the record says that it stands at one."""
        return self in {CellPhase.ARRIVING, CellPhase.PAUSED, CellPhase.RETURNING}

    @property
    def standing(self) -> Standing:
        """The same, as an observer is told it."""
        match self:
            case CellPhase.PAUSED:
                return "paused"
            case CellPhase.BEGINNING | CellPhase.DELIVERING | CellPhase.RETURNING:
                return "resuming"
            case CellPhase.ENDED:
                return "ended"
            case _:
                return "running"


@value
class PendingCall:
    """A call that the program made, and that has no result yet."""

    id: CallId
    name: str
    arguments: str = "{}"
    step: str = ""  # what the interpreter knows it by


@value
class CallResult:
    """What a call came to: what it returned, or, if it failed, what it raised."""

    call: CallId
    content: str
    failed: bool = False


@value
class Frontier:
    """Where a program stands: what it waits on, and what it printed since the frontier before."""

    generation: PendingGeneration
    pending: tuple[PendingCall, ...]
    output: str = ""
    dump: bytes = field(default=b"", repr=False)


@value
class Ending:
    """How a cell ended, and the calls of which nobody knows what came of them."""

    outcome: CellOutcome
    result: str = ""
    error: str = ""
    may_have_executed: tuple[PendingCall, ...] = ()


@value
class Observation:
    """What an observer is shown. `output` is the frontier's; `fresh`, what nobody was given yet."""

    generation: PendingGeneration  # of the last frontier; 0 before the first
    standing: Standing
    pending: tuple[PendingCall, ...]
    output: str
    fresh: tuple[str, ...]
    ending: Ending | None  # None, too, while nobody may be told of it yet


@value
class CellRecord:
    """All that outlives the process. Each replaces the one before it, whole."""

    cell: CellId
    kind: Kind
    version: int
    frontier: Frontier | None  # the last one
    paused: bool  # it stands there, and no resume of it was begun
    doubtful: tuple[PendingCall, ...]  # may have executed, if nothing later is known
    output: tuple[str, ...]  # what no observer was given
    values: Values  # remembered, and not committed before the cell completes
    ending: Ending | None

    @property
    def waits_at(self) -> int:
        """The number of the frontier at which somebody can answer it; 0 if there is none."""
        stands = self.paused and self.ending is None and self.kind == "pausable"
        return self.frontier.generation if stands and self.frontier else 0


@value
class StoredCell:
    """A cell, as far as it outlives the process: what it runs, and where it stands."""

    session: SessionId
    record: CellRecord
    source: str
    tools: str = ""  # JSON: what it may call, as whoever made it described it
    run: str = ""  # for which it last worked
    by: str | None = None  # whose that run was; None: whoever wrote this did not say

    @property
    def id(self) -> CellId:
        return self.record.cell

    @property
    def lean(self) -> StoredCell:
        """The same, without what only a cell needs that goes on."""
        record = self.record
        if record.ending is None or record.frontier is None:
            return self
        return replace(self, record=replace(record, frontier=replace(record.frontier, dump=b"")))
