"""A question as it goes over the wire: what is to be read, and how it can be answered."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class LineOut(Struct):
    """A line to read; its mark says whether it stays (a space), goes, comes, or counts others."""

    mark: Literal[" ", "-", "+", "@"]
    text: str


class ChoiceOut(Struct):
    """One way to answer: what is sent back, and its words."""

    label: str
    allow: bool
    always: bool
    scope: str


class QuestionOut(Struct):
    """Whether a tool may be called."""

    id: str
    session: str
    generation: int
    run: str
    tool: str
    text: str
    subject: str
    call: str
    asked_at: float
    asks: str
    kind: Literal["command", "diff", "text"]
    summary: str
    lines: list[LineOut]
    notes: list[str]
    choices: list[ChoiceOut]
