"""What a provider is told to answer, and when each piece of it may leave.

A chunk is a piece as the script has it: each string of a `Say` or a `Think`, a call's name, each
piece of its arguments. What the format puts around a part travels with its first and its last
chunk. The end of an answer is a step of its own, so that a test can hold a stream open behind
everything that was said.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from lastword.testing.provider.bell import Bell

Finish: TypeAlias = Literal["stop", "length"]


@dataclass(init=False, slots=True)
class Say:
    """Text, in these chunks."""

    chunks: tuple[str, ...]

    def __init__(self, *chunks: str) -> None:
        self.chunks = chunks or ("",)

    @property
    def text(self) -> str:
        return "".join(self.chunks)


@dataclass(init=False, slots=True)
class Think:
    """Thinking, in these chunks; without any, thinking that is not shown."""

    chunks: tuple[str, ...]

    def __init__(self, *chunks: str) -> None:
        self.chunks = chunks

    @property
    def text(self) -> str:
        return "".join(self.chunks)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. `raw` is sent instead of the arguments, whatever it is."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    raw: str | None = field(default=None, kw_only=True)
    id: str = field(default="", kw_only=True)
    pieces: int = field(default=1, kw_only=True)

    @property
    def text(self) -> str:
        return json.dumps(dict(self.arguments)) if self.raw is None else self.raw

    @property
    def chunks(self) -> tuple[str, ...]:
        """The arguments, piece by piece; the name is a chunk before them."""
        text, size = self.text, math.ceil(len(self.text) / self.pieces) or 1
        return tuple(text[at : at + size] for at in range(0, len(text), size)) or ("",)


Part: TypeAlias = Say | Think | Call


@dataclass(frozen=True, slots=True)
class Failure:
    """An error, in the words of the format that is spoken.

    `param` and `code` are OpenAI's: what part of the request is meant, and what is wrong with it.
    """

    status: int
    message: str
    retry_after: float | None = None
    param: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Silence:
    """The request is taken, and nothing follows."""


Ending: TypeAlias = Literal["end", "cut"] | Failure


class Answer:
    """One answer: its parts in order, how it ends, and who says when each chunk may leave."""

    def __init__(
        self,
        *parts: Part | str,
        finish: Finish = "stop",
        ending: Ending = "end",
        paced: bool = False,
        every: float = 0.0,
    ) -> None:
        self.parts: Sequence[Part] = [Say(one) if isinstance(one, str) else one for one in parts]
        self.finish: Finish = finish
        self.ending: Ending = ending
        self.paced = paced
        self.over = False
        self._every = every
        self._allowed = 0.0 if paced else math.inf
        self._begun = self._gone = 0
        self._bell = Bell()

    @property
    def calls(self) -> list[Call]:
        return [part for part in self.parts if isinstance(part, Call)]

    @property
    def numbered(self) -> list[tuple[int, Part]]:
        """The parts, each with how many calls come before it."""
        before = [
            sum(isinstance(one, Call) for one in self.parts[:at]) for at in range(len(self.parts))
        ]
        return list(zip(before, self.parts, strict=True))

    @property
    def said(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Say))

    @property
    def thought(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Think))

    def step(self, n: int = 1) -> None:
        """Let so many more go, whenever somebody asks for them."""
        self._allowed += n
        self._bell.ring()

    async def release(self, n: int = 1) -> None:
        """Let so many more go, and wait until they have, or until there are no more."""
        self.step(n)
        goal = self._allowed
        await self._bell.until(lambda: self.over or self._gone >= goal)

    def free(self) -> None:
        """Let everything go."""
        self._allowed = math.inf
        self._bell.ring()

    async def turn(self) -> None:
        """For the server: wait until the next chunk may leave."""
        await asyncio.sleep(self._every)
        await self._bell.until(lambda: self._begun < self._allowed)
        self._begun += 1

    def left(self) -> None:
        """For the server: it has."""
        self._gone += 1
        self._bell.ring()

    def end(self) -> None:
        """For the server: nothing more will."""
        self.over = True
        self._bell.ring()


Reply: TypeAlias = Answer | Failure | Silence


def reply(what: Reply | Part | str) -> Reply:
    """What a function answered, as an answer."""
    return what if isinstance(what, Answer | Failure | Silence) else Answer(what)
