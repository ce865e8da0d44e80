"""One call of a tool: written down before it begins, made at most once, settled once.

It is made in one of three ways. Awaiting `call()` makes it here. A framework that has code of its
own around the tool, and of others, makes a *late* one: its body says itself when the tool's own
code is reached (`under_way`), as often as it is. And one that is carried out where nobody here can
see it (in another process, by a client) begins with `begin` and is ended by `end`.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from lastword.core.doubts import Doubts
from lastword.core.entries import Nature
from lastword.core.model import CallId, RunId, SessionId, Status
from lastword.core.receipt import ToolReport
from lastword.processes.isolated import Prepared, prepared
from lastword.runtime.checks import must_not_generate
from lastword.runtime.executor import Part
from lastword.runtime.hold import Effect
from lastword.runtime.rendering import LONGEST, rendered

R = TypeVar("R")
KEY = "idempotency_key"  # the parameter in which a tool asks for it
_OTHERS = inspect.Parameter.VAR_KEYWORD


class Starts(Protocol):
    """What a call asks of whoever starts the run's processes."""

    async def clear(self) -> None: ...
    async def call(self, work: Prepared) -> Any: ...  # noqa: ANN401 - whatever the tool gives


class Books(Protocol):
    """Where a call is written down, and asks whether it may be made."""

    run: RunId
    sessions: tuple[SessionId, ...]
    processes: Starts

    def new_id(self) -> CallId: ...
    async def make(self, made: Call[R]) -> R: ...
    async def ready(self, made: Call[Any]) -> None: ...
    async def begin(self, made: Call[Any]) -> None: ...
    def check_in(self, made: Call[Any]) -> None: ...
    def under_way(self, made: Call[Any]) -> AbstractContextManager[Part]: ...
    def end(self, made: Call[Any], came_of: object, *, error: bool) -> None: ...
    def put_off(self, made: Call[Any]) -> None: ...
    def lose_sight(self, made: Call[Any], content: str, *, error: bool) -> None: ...
    def skip(self, made: Call[Any], why: str) -> None: ...


class Call(Generic[R]):
    """One intended call of a tool. Awaiting `call()` makes it, at most once."""

    def __init__(
        self,
        ledger: Books,
        name: str,
        tool: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        isolated: bool,
        nature: Nature,
        late: bool = False,
    ) -> None:
        self.id = ledger.new_id()
        self.run = ledger.run
        self.sessions = ledger.sessions  # the run's, and those above it, the person's first
        self.name = name
        self.status = Status.INTENDED
        self.made = False
        self.isolated = isolated  # in a process of its own, which a stop kills
        self.nature: Nature = nature  # an inner one is not what the session's model asked for
        self.late = late  # its body says when the tool's first line is reached
        self.render: Callable[[object], str] = rendered  # a result, as the transcript keeps it
        self.explain: Callable[[Exception], str] = repr  # an error, as the transcript keeps it
        self.puts_off: tuple[type[Exception], ...] = ()  # with which a tool says: not yet
        self.executed = False  # a part of it ended, and not by saying: not yet
        self.raised = ""  # the name of what the tool raised
        self.allowed = False  # what is asked before a tool was asked
        self.key = ""  # what an idempotent tool's other side knows the call by
        self.effect = Effect("tool", self.name)
        self.tool = tool
        self._ledger = ledger
        self._args = args
        self._kwargs = kwargs
        self._work: Prepared | None = None  # as its process is given it

    @cached_property
    def arguments(self) -> str:
        """The arguments by name, as the transcript keeps them."""
        try:
            bound = inspect.signature(self.tool).bind(*self._args, **self._kwargs)
        except (TypeError, ValueError):  # no signature to be had, or the call itself is wrong
            return rendered({str(n): v for n, v in enumerate(self._args)} | self._kwargs)
        return rendered(_flat(bound))

    @property
    def report(self) -> ToolReport:
        return ToolReport(self.id, self.name, self.status)

    def take_key(self, doubts: Doubts) -> None:
        """Be the same call as the one that this repeats, if that one is in doubt."""
        whole = len(self.arguments) <= LONGEST  # of what was cut, nobody can tell
        self.be_known_by((whole and doubts.key(self.name, self.arguments)) or os.urandom(16).hex())

    def be_known_by(self, key: str) -> None:
        """Have the tool be given this key, if it asks for one."""
        theirs = self._kwargs.get(KEY, self.key) != self.key  # the caller has given one
        self.key = key
        if KEY in _parameters(self.tool) and not theirs:
            self._kwargs = {**self._kwargs, KEY: key}

    async def prepare(self) -> None:
        """For a process of its own: put together what it is given, or it never begins."""
        self._work = await prepared(self.tool, self._args, self._kwargs, self.name)

    def first_line(self) -> object:
        """The tool's first line, if the run may still act; the check is in the same step."""
        if self.late:
            return self.tool(*self._args, **self._kwargs)
        self._ledger.check_in(self)
        if self._work is None:
            return self.tool(*self._args, **self._kwargs)
        return self._ledger.processes.call(self._work)

    @contextmanager
    def under_way(self) -> Generator[Part]:
        """Around the tool's own code, in a late call's body; the check is in that very step."""
        with self._ledger.under_way(self) as part:
            yield part

    async def ready(self) -> None:
        """Ask and write down what comes before a tool, for who has yet to begin it."""
        await self._ledger.ready(self)

    async def begin(self) -> None:
        """Return when it is durable and checked, and so may be carried out elsewhere.

        From here on it may have executed, until `end` says what came of it. No stop waits for it,
        because nobody here can see its end; what can be seen is `under_way`.
        """
        await self._ledger.begin(self)

    def end(self, came_of: object, *, error: bool = False) -> None:
        """It was carried out elsewhere, and this came of it: what it gave, or an exception."""
        self._ledger.end(self, came_of, error=error)

    def lose_sight(self, content: str = "", *, error: bool = False) -> None:
        """It was begun elsewhere, and nobody will know what came of it."""
        self._ledger.lose_sight(self, content, error=error)

    def put_off(self) -> None:
        """It is not made yet."""
        self._ledger.put_off(self)

    def skip(self, why: str) -> None:
        """Do not make it."""
        self._ledger.skip(self, why)

    async def __call__(self, body: Callable[[], Awaitable[R] | R] | None = None) -> R:
        """Make the call. Raises `Superseded`, without making it, once the run lost its session.

        `body` is what does it, if it was asked for by somebody who did not know yet.
        """
        if body is not None:
            must_not_generate(body)
            self.tool = body
        return await self._ledger.make(self)


def _parameters(tool: Callable[..., Any]) -> Iterable[str]:
    try:
        return inspect.signature(tool).parameters
    except (TypeError, ValueError):  # it has no signature to be had
        return ()


def _flat(bound: inspect.BoundArguments) -> dict[str, Any]:
    """The arguments by the names they were given by: those of `**others` among the rest."""
    kinds = bound.signature.parameters
    named = {n: v for n, v in bound.arguments.items() if kinds[n].kind is not _OTHERS}
    for name in bound.arguments.keys() - named.keys():
        others: dict[str, Any] = bound.arguments[name]
        # one that goes by the name of another, which is positional only, stays apart
        named |= {name: others} if others.keys() & named.keys() else others
    return named
