"""What a cell's machine is told. Each is a fact, or something that somebody asked for."""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from lastword.core.cell import CallResult, PendingCall, PendingGeneration, Values
from lastword.core.model import CallId
from lastword.core.value import value


@value
class StartAsked:
    """Somebody wants the program to run. Comes first."""


@value
class CellStored:
    """The store has this version of the record, with everything that was to be stored with it."""

    version: int


@value
class CellNotStored:
    """The store did not take this version, or nobody knows whether it did."""

    version: int


@value
class Reached:
    """Every path waits. `made` are the calls since the last frontier, `waits` all it waits on."""

    made: tuple[PendingCall, ...]
    waits: frozenset[CallId]
    output: str = ""
    dump: bytes = field(default=b"", repr=False)
    remembered: Values = ()


@value
class Returned:
    """The program returned."""

    result: str
    output: str = ""
    remembered: Values = ()


@value
class Raised:
    """The program raised."""

    error: str
    output: str = ""


@value
class UsedUp:
    """The program used up what it was allowed; `limit` says what and how much."""

    limit: str
    output: str = ""


@value
class RuntimeLost:
    """The interpreter died, or was let go."""


@value
class CallsAnswered:
    """Somebody answers calls of the frontier they saw."""

    generation: PendingGeneration
    results: tuple[CallResult, ...]
    made: bool = (
        False  # they are made once this is stored: if it ends first, they may have executed
    )


@value
class CallsEnded:
    """Calls of a continuing cell have come to their results."""

    results: tuple[CallResult, ...]


@value
class Delivered:
    """The interpreter has taken the results, and runs on."""

    generation: PendingGeneration


@value
class DeliveryFailed:
    """The interpreter has certainly not taken the results. Where that is in doubt, it was lost."""

    generation: PendingGeneration


@value
class ObserveBegun:
    """Somebody wants to see where the cell stands."""

    observer: str


@value
class ObserveDelivered:
    """The observer has what it was shown."""

    observer: str


@value
class ObserveFailed:
    """The observer went before it had it."""

    observer: str


@value
class TerminateAsked:
    """Somebody wants the cell to end."""


@value
class Frozen:
    """The session was stopped or taken over: nothing that the cell waits on is made any more."""


CellEvent: TypeAlias = (
    StartAsked
    | CellStored
    | CellNotStored
    | Reached
    | Returned
    | Raised
    | UsedUp
    | RuntimeLost
    | CallsAnswered
    | CallsEnded
    | Delivered
    | DeliveryFailed
    | ObserveBegun
    | ObserveDelivered
    | ObserveFailed
    | TerminateAsked
    | Frozen
)
