"""An engine whose model is told what to answer; which engine, this knows nothing of."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple, Protocol, TypeAlias

from lastword import Engine
from lastword.core.model import RunId
from lastword.testing.provider import Answer, Provider
from lastword.testing.provider.script import Part

Tool: TypeAlias = Callable[..., Any]
Served: TypeAlias = AbstractAsyncContextManager[Provider] | None  # None: one of its own


class Subject(Protocol):
    """What a story asks of an engine, whichever it is."""

    @property
    def engine(self) -> Engine: ...

    @property
    def steered(self) -> list[str]:
        """What it was told while it worked."""
        ...

    def answer(self, *parts: Part | str, paced: bool = False) -> Answer: ...

    def fail(self) -> None: ...

    def tool(self, tool: Tool) -> None: ...


class Opens(Protocol):
    """Opens an engine; its client asks again so often, if it was told to."""

    def __call__(self, *, retries: int = 0) -> AbstractAsyncContextManager[Scripted]: ...


class Written(NamedTuple):
    """A write of a framework's own, of a checkpoint say: when its code was reached, and over."""

    run: RunId
    what: str
    begun: float
    ended: float


class Scripted:
    """An engine whose provider plays the script."""

    def __init__(
        self,
        provider: Provider,
        engine: Engine,
        add: Callable[[Tool], object],
        *,
        in_tasks: bool = False,
    ) -> None:
        self.provider = provider
        self.engine = engine
        self.in_tasks = in_tasks  # its framework works in tasks of its own
        self.held = True  # a tool starts processes by the run; without an engine by itself
        self.writes: list[Written] = []
        self._add = add

    def tool(self, tool: Tool) -> None:
        self._add(tool)

    @property
    def steered(self) -> list[str]:
        return [self.provider.requests[-1].prompt]

    def answer(self, *parts: Part | str, paced: bool = False) -> Answer:
        return self.provider.answer(*parts, paced=paced)

    def fail(self) -> None:
        self.provider.fail(500, "scripted to fail")
