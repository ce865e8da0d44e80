"""What a run set out to do, and how it ended.

A call is written down before it begins and settled once. The intent is durable before the tool's
first line runs, and the check comes after that wait, in the same step as the tool's first line: a
call is either refused, or recorded as begun before it can have done anything.

What a stop finds undone is settled by what is known: not started, or ended, in a thread of which
the event loop has not heard yet, or it may have executed.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias, TypeVar, cast

from lastword.core.doubts import Doubts
from lastword.core.entries import Called, Entry, Native, Nature, Result
from lastword.core.model import CallId, Status
from lastword.core.story import Begun, FeedEvent
from lastword.errors import ImpossibleMove
from lastword.runtime.call import Call, Starts
from lastword.runtime.checks import (
    Unbegun,
    encodable,
    must_not_be_generated,
    must_not_generate,
)
from lastword.runtime.executor import Calling, Part, calling, covering
from lastword.runtime.fence import call, is_async, name_of
from lastword.runtime.hold import Hold, KnownEnd
from lastword.runtime.journal import EntryLog
from lastword.runtime.rendering import cut
from lastword.runtime.threads import DaemonThreads
from lastword.runtime.trace import RunTrace

R = TypeVar("R")
_CALLED = "it was called; after that: "
BeforeTool: TypeAlias = Callable[[Call[Any]], Awaitable[None] | None]


class Caller(Protocol):
    """The run whose calls they are."""

    hold: Hold
    trace: RunTrace
    calls: list[Call[Any]]

    def tell(self, event: FeedEvent) -> None: ...


class Ledger:
    """The calls of one run. It is made with the first of them."""

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
        "trace",
    )

    def __init__(
        self,
        run: Caller,
        processes: Starts,
        journal: EntryLog,
        threads: DaemonThreads,
        before: BeforeTool | None,
        doubts: Doubts,
    ) -> None:
        self._doubts = doubts
        self._tell = run.tell
        self._hold = run.hold
        self._journal = journal
        self._threads = threads
        self._before = before
        self.processes = processes
        self.trace = run.trace
        self._calls = run.calls
        self.run = run.hold.run
        self.sessions = run.hold.sessions

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
    def begun(self) -> dict[CallId, float]:
        """The calls that are being made, and since when."""
        return {
            made.id: made.effect.event.at
            for made in self._calls
            if made.status is Status.INTENDED and made.effect.begun and made.effect.event
        }

    def settle(self) -> list[Entry]:
        """The run has lost its session: what never began never will, and the rest is unknown."""
        open_ = [made for made in self._calls if made.status is Status.INTENDED]
        entries: list[Entry] = [self._settled(made) for made in open_]
        if entries:
            self._doubts.take(*entries)
        return entries

    def _settled(self, made: Call[Any]) -> Result:
        """What is known of it. A thread may have ended, and the loop not have heard of it yet."""
        ended = made.effect.ended
        told = _told(made, ended) if ended else None
        failed = False
        if ended and told is not None:
            made.status, failed = Status.COMPLETED, ended.error is not None
            made.raised = type(ended.error).__name__ if failed else ""
        else:
            begun = made.effect.begun
            made.status = Status.MAY_HAVE_EXECUTED if begun else Status.NOT_STARTED
        self.trace.call_settled(made, error=failed)
        return Result(self._hold.run, made.id, made.status, encodable(told or ""), failed)

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
        self.trace.call_made(made)
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

    async def begin(self, made: Call[Any]) -> None:
        """Have it carried out elsewhere: it has begun, and nobody here sees it end."""
        if not made.made:
            await self.ready(made)
        self.check_in(made)
        self._hold.finish(made.effect)

    def end(self, made: Call[Any], came_of: object, *, error: bool = False) -> None:
        """It was carried out elsewhere; this is what came of it."""
        if made.status is Status.INTENDED and not made.effect.begun:
            raise ImpossibleMove(f"call {made.id} of {made.name} cannot end: it has not begun")
        if isinstance(came_of, Exception):
            made.raised = type(came_of).__name__
            content, error = made.explain(came_of), True
        else:
            content = made.render(came_of)
        self._close(made, Status.COMPLETED, cut(content), error=error)

    def lose_sight(self, made: Call[Any], content: str, *, error: bool) -> None:
        """It was begun elsewhere, and nobody will know what came of it."""
        self._close(made, Status.MAY_HAVE_EXECUTED, cut(content), error=error)

    def put_off(self, made: Call[Any]) -> None:
        """Nobody has carried it out so far; what was begun and ended stays begun."""
        self._hold.put_off(made.effect, begun=made.executed)
        made.made = False

    def check_in(self, made: Call[Any]) -> None:
        """The last check before the tool's own code; from here on it may have executed."""
        first = None if made.effect.begun else Begun(self._hold.run, made.id, made.name)
        if not self._hold.begin(made.effect, first):
            self._hold.must_hold(f"this call of {made.name}")
            raise ImpossibleMove(f"call {made.id} of {made.name} was given up before it began")
        if first:
            self.trace.call_reached(made)

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
        except Exception as error:
            part.ended = KnownEnd(error=error)
            raise
        finally:
            made.executed = made.executed or part.over
            self._hold.finish(made.effect, part.ended if part.over else None)

    async def _run(self, made: Call[R]) -> R:
        try:
            with self.trace.inside(made):
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
            called, made.raised = made.effect.begun, type(error).__name__  # it raised, so it began
            status = Status.COMPLETED if called else Status.NOT_STARTED
            self._close(made, status, cut(made.explain(error)), error=True)
            raise
        self._close(made, Status.COMPLETED, cut(made.render(result)))
        return result

    async def _begun(self, made: Call[Any]) -> Any:  # noqa: ANN401 - as the tool gives
        if made.late:
            return await cast("Awaitable[Any]", made.first_line())
        if made.isolated:
            await made.prepare()
        in_thread = not made.isolated and not is_async(made.tool)
        threads = self._threads if in_thread else None
        return await call(made.first_line, made.effect, self._hold, threads)

    def _close(
        self, made: Call[Any], status: Status, content: str = "", *, error: bool = False
    ) -> None:
        content = encodable(content)
        if made.status is not Status.INTENDED or not self._hold.current:
            return  # settled, or about to be: the stop has the last word on what is known
        made.status = status
        self.trace.call_settled(made, error=error)
        result = Result(self._hold.run, made.id, status, content, error)
        self._hold.publish(result)
        self._doubts.take(result)
        self._journal.add(result)


def _told(made: Call[Any], ended: KnownEnd) -> str | None:
    """What came of a call, in words; None if it cannot be told, or was nothing yet."""
    try:
        must_not_be_generated(ended.gave, made.name)
        return cut(made.explain(ended.error) if ended.error else made.render(ended.gave))
    except Exception:  # noqa: BLE001 - a value of a team's own must not keep a stop from its account
        return None
