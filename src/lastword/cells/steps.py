"""What comes of running a cell's program a little further, and what it is told to go on."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal, TypeAlias

from lastword.core.value import value

LimitKind: TypeAlias = Literal[
    "time", "memory", "output", "calls", "depth", "source", "values", "dump"
]
FailedKind: TypeAlias = Literal["syntax", "typing", "raised", "value", "stuck"]


@value
class Ok:
    """A call was made, and gave this."""

    value: Any = None  # plain data


@value
class Err:
    """A call was not made, or failed: the program gets a RuntimeError with these words."""

    error: str


@value
class StepCall:
    """A call of a tool that the program waits for."""

    id: str  # one call of one cell, and never another
    name: str  # as the program calls it
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict[str, Any])


@value
class AtFrontier:
    """Every path through the program waits for calls. Nothing of it runs any more."""

    dump: bytes = field(
        repr=False
    )  # all that is needed to go on, in any worker, any number of times
    pending: tuple[StepCall, ...]
    output: str = ""  # printed since the frontier before


@value
class StepFinished:
    """The program has come to its end."""

    value: Any = None
    output: str = ""
    remembered: dict[str, Any] = field(default_factory=dict[str, Any])
    not_made: tuple[str, ...] = ()  # tools that it called without ever waiting for them


@value
class StepFailed:
    """The program cannot go on, and says why."""

    error: str
    kind: FailedKind
    output: str = ""


@value
class StepLimit:
    """The program was ended, because it used more than it may."""

    kind: LimitKind
    error: str
    output: str = ""


Step: TypeAlias = AtFrontier | StepFinished | StepFailed | StepLimit
