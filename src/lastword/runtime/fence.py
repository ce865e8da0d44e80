"""Around a sink: one delivery at a time, in order, each checked right before it leaves.

A delivery that began runs on in a task or a thread of its own, whatever becomes of the run: to
cut a send in half helps nobody. One that has not begun when the hold goes is dropped and counted.
A sink that returns has delivered; one that raises says that it has not; one that had to be
cancelled, at a stop's deadline, may have, and is named for good.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any

from lastword.core.entries import Text, Thinking
from lastword.core.story import Fact, FeedEvent, Typing, kind_of
from lastword.errors import Superseded
from lastword.runtime.hold import Effect, Hold, KnownEnd
from lastword.runtime.speech import Speech
from lastword.runtime.tasks import Tasks
from lastword.runtime.threads import DaemonThreads

log = logging.getLogger("lastword")
LONGEST_PACE = 3600.0  # seconds that a sink may rest between two deliveries


def is_async(function: Callable[..., object]) -> bool:
    """Whether calling it is known to give a coroutine; what is not is called in a thread.

    Asked of the outermost callable: what a decorator wraps says nothing of what it gives.
    """
    if isinstance(function, partial):
        return is_async(function.func)
    call = getattr(type(function), "__call__", None)  # noqa: B004 - an object's `async def __call__`
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def name_of(function: Callable[..., object]) -> str:
    """What to call it in a receipt."""
    if isinstance(function, partial):
        return name_of(function.func)
    return getattr(function, "__name__", None) or type(function).__name__


class Fence:
    """One sink of one run."""

    __slots__ = (
        "_deliveries",
        "_hold",
        "_in_thread",
        "_last",
        "_mark",
        "_pace",
        "_sink",
        "_speech",
        "_threads",
        "_turn",
    )

    def __init__(
        self,
        hold: Hold,
        deliveries: Tasks,
        threads: DaemonThreads,
        sink: Callable[..., object],
        *,
        pace: float = 0.0,
        speech: Speech | None = None,  # of the run whose sink it is
    ) -> None:
        self._hold = hold
        self._speech = speech
        self._deliveries = deliveries
        self._threads = threads
        self._sink = sink
        self._in_thread = not is_async(sink)
        self._pace = pace
        self._last = float("-inf")
        self._turn = asyncio.Lock()
        self._mark: asyncio.Task[None] | None = None  # the last that told of the typing mark

    async def send(
        self,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        fact: Fact | Callable[[], Text] | None = None,
        effect: Effect | None = None,
    ) -> None:
        """Deliver once it is our turn, if the run may still act by then.

        A fact goes into the feed and to the sink, or to neither; without, the arguments go. What
        is said with it is stored first. One that is still gathered is asked for as it leaves.
        """
        delivery, effect = None, effect or self.line_up()
        try:
            await self._turn.acquire()
            try:
                await self._rest()
                if callable(fact):
                    fact = fact()
                if isinstance(fact, Text | Thinking) and self._speech and self._hold.granted:
                    effect.piece = await self._speech.stored(fact, lambda: self._hold.current)
                await self._hold.steady()
                if self._hold.current:
                    delivery = self._start(self._deliver(effect, args, kwargs or {}, fact))
                    if isinstance(fact, Typing):
                        self._mark = delivery
            finally:
                if delivery is None:
                    self._turn.release()
        except asyncio.CancelledError:
            self._hold.drop(_told(fact, self._sink), effect)
            raise
        if delivery is not None:
            await asyncio.shield(delivery)
            return
        self._hold.drop(_told(fact, self._sink), effect)
        await asyncio.sleep(0)  # a loop of refused sends must not stall the event loop

    async def pass_on(self, event: FeedEvent, effect: Effect) -> None:
        """Deliver what lined up and is in the feed already, as `send` does."""
        await self.send((event,), effect=effect)

    def line_up(self) -> Effect:
        """Something is to be delivered when its turn has come."""
        effect = Effect("delivery", name_of(self._sink))
        self._hold.line_up(effect)
        return effect

    def last_word(self, event: FeedEvent, *, unless: Callable[[], bool]) -> None:
        """Deliver what the session itself says in the run's place of its typing mark.

        At once, beside whatever is under way; but not before what put the mark up has left.
        """

        async def deliver() -> None:
            effect = Effect("delivery", name_of(self._sink))

            def leave() -> object:
                self._hold.begin_last_word(effect)
                return self._sink(event)

            if self._mark:
                await asyncio.wait([self._mark])
            await self._hold.steady()
            if not unless() and not self._hold.taken:
                await call(leave, effect, self._hold, self._threads if self._in_thread else None)

        self._deliveries.start(deliver(), name=name_of(self._sink))

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        # the turn is the delivery's, not the waiter's: whoever gives up waiting must not let
        # the next one overtake it
        delivery = self._deliveries.start(work, name=name_of(self._sink))
        delivery.add_done_callback(lambda _: self._turn.release())
        return delivery

    async def _rest(self) -> None:
        now = asyncio.get_running_loop().time
        if self._pace and (wait := self._last + self._pace - now()) > 0:
            await asyncio.sleep(wait)
        self._last = now()

    async def _deliver(
        self,
        effect: Effect,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        fact: Fact | None,
    ) -> None:
        def leave() -> object:
            if not self._hold.begin(effect, fact):
                self._hold.drop(_told(fact, self._sink), effect)
                return None
            return self._sink(effect.event) if fact else self._sink(*args, **kwargs)

        try:
            await call(leave, effect, self._hold, self._threads if self._in_thread else None)
        except Exception:  # a cancelled one may have arrived
            self._ended(effect, arrived=False)
            raise
        except Superseded:
            self._ended(effect, arrived=False)
            log.debug("sink gave up sink=%s run=%s", effect.name, self._hold.run)
        else:
            self._ended(effect, arrived=effect.begun)

    def _ended(self, effect: Effect, *, arrived: bool) -> None:
        """A delivery has ended; what was said with it has arrived, or nobody will ever see it."""
        if effect.piece and self._speech:
            (self._speech.arrived if arrived else self._speech.take_back)(effect.piece)


def _told(fact: Fact | Callable[[], Text] | None, sink: Callable[..., object]) -> str:
    """What a refused delivery is called."""
    if fact is None:
        return name_of(sink)
    return "text" if callable(fact) else kind_of(fact)


async def call(
    begin: Callable[[], object], effect: Effect, hold: Hold, threads: DaemonThreads | None
) -> Any:  # noqa: ANN401 - whatever the callable gives
    """Call it here or in a thread, and await what it gives; the effect ends when it has."""
    if threads is not None:
        return await _by_thread(begin, effect, hold, threads)
    with _until_its_end(effect, hold):
        result = begin()
        return await result if inspect.isawaitable(result) else result


async def _by_thread(
    begin: Callable[[], object], effect: Effect, hold: Hold, threads: DaemonThreads
) -> object:
    """What calling it gives may have to be awaited, as behind a decorator: here, checked again."""
    context = contextvars.copy_context()
    loop = asyncio.get_running_loop()
    hop = loop.run_in_executor(threads, lambda: context.run(_in_thread, begin, effect, hold))
    try:
        result = await asyncio.shield(hop)
    except asyncio.CancelledError:
        hop.add_done_callback(partial(_let_go, effect, hold))
        raise
    if not inspect.isawaitable(result):
        return result
    with _until_its_end(effect, hold):
        try:
            hold.must_hold(f"the rest of {effect.name}")
        except BaseException:
            _close(result)
            raise
        return await result


def _in_thread(begin: Callable[[], object], effect: Effect, hold: Hold) -> object:
    # ended here and not by whoever waits: the waiting can be cancelled, the thread cannot
    try:
        result = begin()
    except BaseException as error:
        hold.failed(effect, error)
        hold.finish(effect, KnownEnd(error=error) if isinstance(error, Exception) else None)
        raise
    if not inspect.isawaitable(result):
        hold.finish(effect, KnownEnd(result))
    return result


def _let_go(effect: Effect, hold: Hold, hop: asyncio.Future[object]) -> None:
    """Nobody waits for a thread any more: what it gave to be awaited is not."""
    if not hop.cancelled() and not hop.exception() and inspect.isawaitable(hop.result()):
        _close(hop.result())
        hold.finish(effect)


def _close(result: object) -> None:
    if inspect.iscoroutine(result):
        result.close()


@contextmanager
def _until_its_end(effect: Effect, hold: Hold) -> Generator[None]:
    try:
        yield
    except BaseException as error:
        hold.failed(effect, error)
        raise
    finally:
        hold.finish(effect)
