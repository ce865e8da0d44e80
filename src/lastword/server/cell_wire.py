"""Programs on the wire.

A resume names the frontier that was seen, and what waits is told in the shape of a question.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from lastword.core.cell import CellOutcome, Kind, Standing
from lastword.server.question_wire import ChoiceOut, LineOut


class CallAnswer(Struct, forbid_unknown_fields=True):
    """What a call came to: a value, as plain data, or what it raised."""

    value: Any = UNSET
    error: Annotated[str, Meta(max_length=1_000_000)] | UnsetType = UNSET


class ResumeIn(Struct, forbid_unknown_fields=True):
    """Answers to calls that a cell waits on, seen at the frontier of that number.

    `allow` are calls that have no answer yet, and that the agent whose cell it is may make now.
    """

    generation: Annotated[int, Meta(ge=0)]
    results: dict[str, CallAnswer] = {}
    allow: Annotated[list[str], Meta(max_length=1000)] = []


class PendingOut(Struct):
    """A call that a cell waits on; its arguments are JSON."""

    call: str
    name: str
    arguments: str


class WaitingOut(PendingOut):
    """The same while it waits: what a person reads, in the shape of a question."""

    tool: str
    asks: str
    kind: Literal["command", "diff", "text"]
    summary: str
    lines: list[LineOut]
    notes: list[str]
    choices: list[ChoiceOut]


class CellEnding(Struct):
    """How a cell ended; the result is JSON."""

    outcome: CellOutcome
    result: str
    error: str
    may_have_executed: list[PendingOut]


class CellOut(Struct):
    """A cell: a program over tools that pauses where it waits for a call."""

    id: str
    session: str
    run: str
    kind: Kind
    standing: str
    generation: int
    pending: list[WaitingOut]
    ending: CellEnding | None
    source: str


class Cells(Struct):
    """In the order they were begun."""

    cells: list[CellOut]


class FrontierOut(Struct):
    """The frontier of a cell, and what it printed: since the last frontier, and not yet shown."""

    cell: str
    generation: int
    standing: Standing
    pending: list[WaitingOut]
    output: str
    fresh: str
    ending: CellEnding | None
