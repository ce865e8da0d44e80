"""The face that every kind of target has.

A story knows only this. So each is told once, for all kinds, and what a kind cannot do it says in
its faculties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lastword.check.plain import plain
from lastword.check.round import Round
from lastword.check.story import Faculty
from lastword.check.times import Times
from lastword.check.wire import WireLog


@dataclass(frozen=True, slots=True)
class Premises:
    """Where a target lives while it is judged: all of it is gone afterwards."""

    url: str  # of the model
    journal: Path
    folder: Path  # of this target alone
    mark: str  # in the environment of every process that it starts

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def scratch(self) -> Path:
        return self.folder / "tmp"

    @property
    def work(self) -> Path:
        return self.folder / "work"


class Dialogue(Protocol):
    """One conversation with a target."""

    asked: int  # how often it has asked before a tool
    hold: bool  # questions wait, and are not answered

    def say(self, run: str) -> Round: ...

    def stop(self, of: Round | None, times: int = 1) -> float:
        """Stop what goes on; the time at which that was sent."""
        ...

    def stop_and_say(self, of: Round | None, run: str) -> Round:
        """Both in one write."""
        ...

    def say_and_stop(self, run: str) -> Round:
        """Both in one write."""
        ...

    def stop_and_allow(self, of: Round) -> float:
        """A stop, and behind it, in the same write, the *yes* to what was asked."""
        ...


class Target(Protocol):
    """Something that can be told to stop."""

    kind: str
    name: str  # with its version, as it says itself
    faculties: frozenset[Faculty]
    carriers: Sequence[str]  # in what ways it can call a tool of ours: mcp, python
    weak: str  # why its verdicts are weak; nothing if they are not
    brings_tools: bool  # a conversation is begun with ours
    one_stream: bool  # all that a conversation says comes in one stream, whatever it answers
    strangers: bool  # it was started by somebody else, and is not started anew
    wire: WireLog

    def times(self, usual: Times) -> Times: ...

    async def open(self, premises: Premises) -> None: ...

    async def dialogue(self) -> Dialogue: ...

    async def again(self, dialogue: Dialogue) -> Dialogue | None:
        """The same conversation, in a target that was started anew; None if it keeps none."""
        ...

    async def kill(self) -> None:
        """As by kill -9."""
        ...

    async def close(self) -> None: ...


class CannotStart(Exception):
    """The target could not be started, or does not ask our model."""

    def __init__(self, why: str) -> None:
        super().__init__(plain(why))
