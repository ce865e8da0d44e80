"""What a run set out to do, and how it ended.

A call is written down before it begins and settled once. The intent is durable before the tool's
first line runs, and the check comes after that wait, in the same step as the tool's first line: a
call is either refused, or recorded as begun before it can have done anything.

A framework has code of its own, and of others, between the order and that line. A call of its is
*late*: its body says itself when the line is reached, as often as it is.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Generic, TypeAlias, TypeVar, cast

from lastword.core.doubts import Doubts
from lastword.core.model import CallId, Status
from lastword.core.receipt import ToolReport
from lastword.core.story import Begun, FeedEvent
from lastword.core.transcript import Called, Entry, Native, Nature, Result
from lastword.errors import ImpossibleMove
from lastword.processes.isolated import Prepared, prepared
from lastword.runtime.checks import (
    Unbegun,
    encodable,
    must_not_be_generated,
    must_not_generate,
)
from lastword.runtime.executor import Calling, Part, calling, covering
from lastword.runtime.fence import call, is_async, name_of
from lastword.runtime.hold import Effect, Hold
from lastword.runtime.journal import Journal
from lastword.runtime.owned import Owned
from lastword.runtime.rendering import LONGEST, cut, rendered
from lastword.runtime.threads import DaemonThreads

R = TypeVar("R")
KEY = "idempotency_key"  # the parameter in which a tool asks for it
_CALLED = "it was called; after that: "
_OTHERS = inspect.Parameter.VAR_KEYWORD
BeforeTool: TypeAlias = "Callable[[Call[Any]], Awaitable[None] | None]"


class Call(Generic[R]):
    """One intended call of a tool. Awaiting `call()` makes it, at most once."""

    def __init__(
        self,
        ledger: Ledger,
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
        self.nature: Nature = nature
        self.late = late  # its body says when the tool's first line is reached
        self.render: Callable[[object], str] = rendered  # a result, as the transcript keeps it
        self.explain: Callable[[Exception], str] = repr  # an error, as the transcript keeps it
        self.puts_off: tuple[type[Exception], ...] = ()  # with which a tool says: not yet
        self.executed = False  # a part of it ended, and not by saying: not yet
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
        self.key = (whole and doubts.key(self.name, self.arguments)) or os.urandom(16).hex()
        if KEY in _parameters(self.tool):
            self._kwargs = {KEY: self.key, **self._kwargs}

    async def prepare(self) -> None:
        """For a process of its own: put together what it is given, or it never begins."""
        self._work = await prepared(self.tool, self._args, self._kwargs, self.name)

    def begin(self) -> object:
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
        """For who carries it out elsewhere: ask and write down what comes before a tool."""
        await self._ledger.ready(self)

    def answered(self, answer: object) -> None:
        """It was carried out elsewhere, and this came of it."""
        self._ledger.carried_out(self, answer)

    def put_off(self) -> None:
        """It is not made yet."""
        self._ledger.put_off(self)

    def skip(self, why: str) -> None:
        """Do not make it."""
        self._ledger.skip(self, why)

    async def __call__(self) -> R:
        """Make the call. Raises `Superseded`, without making it, once the run lost its session."""
        return await self._ledger.make(self)


class Ledger:
    """The calls of one run."""

    __slots__ = (
        "_before",
        "_calls",
        "_doubts",
        "_hold",
        "_journal",
        "_tell",
        "_threads",
        "processes",
        "run",
        "sessions",
    )

    def __init__(
        self,
        hold: Hold,
        journal: Journal,
        threads: DaemonThreads,
        before: BeforeTool | None,
        processes: Owned,
        doubts: Doubts,
        tell: Callable[[FeedEvent], None],  # the run's sink
    ) -> None:
        self._doubts = doubts
        self._tell = tell
        self._hold = hold
        self._journal = journal
        self._threads = threads
        self._before = before
        self.processes = processes
        self._calls: list[Call[Any]] = []
        self.run = hold.run
        self.sessions = hold.sessions

    def new_id(self) -> CallId:
        return CallId(f"{self._hold.run}.{len(self._calls) + 1}")

    def intend(  # noqa: PLR0913 - each is one thing to say of a call, with a default
        self,
        tool: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str = "",
        *,
        isolated: bool = False,
        nature: Nature = "",
        arguments: str | None = None,
        native: Native | None = None,
        late: bool = False,
    ) -> Call[Any]:
        """Write down that a tool is to be called; its arguments, maybe, as a model gave them."""
        must_not_generate(tool)
        called_as = name or name_of(tool)
        intended: Call[Any] = Call(
            self, called_as, tool, args, kwargs, isolated=isolated, nature=nature, late=late
        )
        if self._hold.granted:
            self._calls.append(intended)
            if arguments is not None:
                intended.arguments = arguments
            if nature == "idempotent":
                intended.take_key(self._doubts)
            called = Called(
                self._hold.run,
                intended.id,
                intended.name,
                intended.arguments,
                nature,
                native,
                intended.key,
            )
            self._doubts.take(called)
            self._journal.add(called)
            if event := self._hold.publish(called):
                self._tell(event)
        else:
            intended.status = Status.NOT_STARTED
            self._hold.drop(f"call of {intended.name}")
        return intended

    @property
    def reports(self) -> tuple[ToolReport, ...]:
        return tuple(made.report for made in self._calls)

    @property
    def begun(self) -> dict[CallId, float]:
        """The calls that are being made, and since when."""
        return {
            made.id: made.effect.event.at
            for made in self._calls
            if made.status is Status.INTENDED and made.effect.begun and made.effect.event
        }

    def settle(self) -> list[Entry]:
        """The run has lost its session: what never began never will, and the rest is unknown."""
        entries: list[Entry] = []
        for made in self._calls:
            if made.status is Status.INTENDED:
                begun = made.effect.begun
                made.status = Status.MAY_HAVE_EXECUTED if begun else Status.NOT_STARTED
                entries.append(Result(self._hold.run, made.id, made.status))
        if entries:
            self._doubts.take(*entries)
        return entries

    async def make(self, made: Call[R]) -> R:
        """Check, write down, check again in the step that calls, and settle."""
        await self.ready(made)
        result = await self._run(made)
        self._hold.must_hold(f"use of the result of {made.name}")
        return result

    async def ready(self, made: Call[Any]) -> None:
        """Check, ask whoever is to be asked, and write down: what comes before a tool."""
        if not self._hold.granted:
            await asyncio.sleep(0)  # a loop of refused calls must not stall the event loop
            self._hold.must_hold(f"this call of {made.name}")
        if made.made or made.status is not Status.INTENDED:
            raise ImpossibleMove(f"call {made.id} of {made.name} was made before; intend another")
        made.made = True
        calling.set(Calling(made.name, made.id, made.run))
        try:
            if self._before is not None and not made.allowed:
                asked = self._before(made)
                if inspect.isawaitable(asked):
                    await asked
            made.allowed = True
            await self.processes.clear()
            await self._journal.committed()
            await self._hold.steady()
        except Exception as error:
            self._close(made, Status.NOT_STARTED, repr(error), error=True)
            raise

    def skip(self, made: Call[Any], why: str) -> None:
        """It is not to be made, or not again, and the model is told why."""
        if not made.made:
            made.made = True
            if made.effect.begun:
                self._close(made, Status.COMPLETED, f"{_CALLED}{why}", error=True)
            else:
                self._close(made, Status.NOT_STARTED, why, error=True)

    def carried_out(self, made: Call[Any], answer: object) -> None:
        """Elsewhere; this is what came of it."""
        error = isinstance(answer, Exception)
        content = made.explain(answer) if isinstance(answer, Exception) else made.render(answer)
        self._close(made, Status.COMPLETED, cut(content), error=error)

    def put_off(self, made: Call[Any]) -> None:
        """Nobody has carried it out so far; what was begun and ended stays begun."""
        if not made.executed:
            self._hold.put_off(made.effect)
        made.made = False

    def check_in(self, made: Call[Any]) -> None:
        """The last check before the tool's own code; from here on it may have executed."""
        first = None if made.effect.begun else Begun(self._hold.run, made.id, made.name)
        if not self._hold.begin(made.effect, first):
            self._hold.must_hold(f"this call of {made.name}")
            raise ImpossibleMove(f"call {made.id} of {made.name} was given up before it began")

    @contextmanager
    def under_way(self, made: Call[Any]) -> Generator[Part]:
        """Around a part of a late call, which is under way for as long as any part of it is."""
        self.check_in(made)
        part = Part()
        try:
            with covering():
                yield part
        except made.puts_off:
            part.over = False  # the tool itself says that it has done nothing yet
            raise
        finally:
            made.executed = made.executed or part.over
            self._hold.finish(made.effect)

    async def _run(self, made: Call[R]) -> R:
        try:
            result = await self._begun(made)
            must_not_be_generated(result, made.name)
        except asyncio.CancelledError:
            given_up = self._hold.give_up(made.effect)
            self._close(made, Status.NOT_STARTED if given_up else Status.MAY_HAVE_EXECUTED)
            raise
        except Unbegun as error:
            self._close(made, Status.MAY_HAVE_EXECUTED, str(error), error=True)
            raise
        except made.puts_off:
            self.put_off(made)
            raise
        except Exception as error:
            called = made.effect.begun  # a tool that raised was called
            status = Status.COMPLETED if called else Status.NOT_STARTED
            self._close(made, status, cut(made.explain(error)), error=True)
            raise
        self._close(made, Status.COMPLETED, cut(made.render(result)))
        return result

    async def _begun(self, made: Call[Any]) -> Any:  # noqa: ANN401 - as the tool gives
        if made.late:
            return await cast("Awaitable[Any]", made.begin())
        if made.isolated:
            await made.prepare()
        in_thread = not made.isolated and not is_async(made.tool)
        threads = self._threads if in_thread else None
        return await call(made.begin, made.effect, self._hold, threads)

    def _close(
        self, made: Call[Any], status: Status, content: str = "", *, error: bool = False
    ) -> None:
        content = encodable(content)
        if made.status is not Status.INTENDED or not self._hold.current:
            return  # settled, or about to be: the stop has the last word on what is known
        made.status = status
        result = Result(self._hold.run, made.id, status, content, error)
        self._hold.publish(result)
        self._doubts.take(result)
        self._journal.add(result)


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
