"""Processes that are ready before anybody needs them.

A start is the pool's and never a run's: who is stopped while it waits leaves a process behind that
the next one takes. Four start at a time: a burst of them would keep each other from getting there.
Whoever waits hears of the start that was made for it, also if that failed. What nobody waits for
yet is in nobody's way: it is started a moment after a run has taken one, which speaks meanwhile;
and if it fails, not again at once. Those whom nobody took in the end (all who waited were stopped)
are few, and leave after a minute.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from lastword.engines.isolated.worker import RunWorker
from lastword.errors import RuntimeClosed
from lastword.runtime.asking import running
from lastword.runtime.tasks import Tasks

_AT_A_TIME = 4
_IDLE = 60.0  # seconds in which one that is more than `warm` may find a run
_A_MOMENT = 0.05  # seconds in which a run that has begun may speak
_PAUSE, _LONGEST_PAUSE = 1.0, 30.0  # seconds until a start that failed is tried again
log = logging.getLogger("lastword")


class Pool:
    """Those of one engine."""

    def __init__(self, start: Callable[[], Awaitable[RunWorker]], warm: int, most: int) -> None:
        self._start = start
        self._warm = warm
        self._turns = asyncio.Semaphore(_AT_A_TIME)
        self._room = asyncio.Semaphore(most)
        self._standing = 0  # runs that there is no room for
        self._tasks = Tasks("isolated runs:")
        self._starting = 0
        self._pause = 0.0  # after a start that failed
        self._age = 0  # how often all was to be new
        self._soon: asyncio.TimerHandle | None = None
        self._resting: asyncio.TimerHandle | None = None  # nothing is started ahead meanwhile
        self._leaving: asyncio.TimerHandle | None = None  # when those that are too many do
        self._closed = False
        self._ready: deque[RunWorker] = deque()
        self._waiting: deque[asyncio.Future[RunWorker]] = deque()

    async def take(self, kept: Callable[[], RunWorker | None] | None = None) -> RunWorker:
        """One that is ready, or was kept for this, when there is one, and room for it; `over` when
        its run is."""
        if self._closed:  # nobody who comes now is told by `close`
            raise _closed()
        self._standing += 1
        try:
            await self._room.acquire()
        finally:
            self._standing -= 1
        try:
            return (kept() if kept else None) or await self._one()
        except BaseException:
            self._room.release()
            raise

    async def _one(self) -> RunWorker:
        if self._closed:
            raise _closed()
        while self._ready:
            worker = self._ready.popleft()
            if worker.fit:
                self._refill_soon()
                return worker
            worker.kill()
        waiting: asyncio.Future[RunWorker] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        self.refill()
        try:
            worker = await waiting
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled() and not waiting.exception():
                self._keep(waiting.result())  # it came in the step of the stop
            raise
        if self._closed:
            worker.kill()
            raise _closed()
        return worker

    def give_back(self, worker: RunWorker) -> None:
        """Its run has not begun with it."""
        self._room.release()
        self._keep(worker)

    def over(self) -> None:
        """A run has ended, and there is room for another."""
        self._room.release()

    def refill(self) -> None:
        """Start as many as are wanted."""
        for _ in range(self._wanted - self._starting):
            self._starting += 1
            self._tasks.start(self._started(), name="start")

    def renew(self) -> None:
        """Those that are ready, or about to be, are not to be taken any more."""
        self._age += 1
        while self._ready:
            self._ready.pop().kill()
        self.refill()

    @property
    def _wanted(self) -> int:
        waiting = sum(1 for one in self._waiting if not one.done())
        ahead = 0 if self._resting else self._warm
        return ahead + waiting - len(self._ready)

    def _keep(self, worker: RunWorker) -> None:
        """It is ready. Those that are too many stay for a while: a run may come."""
        if waiting := self._next():
            waiting.set_result(worker)
        elif self._closed or len(self._ready) >= self._warm + _AT_A_TIME:
            worker.kill()
        else:
            self._ready.appendleft(worker)  # who has been idle for longest leaves first
            if len(self._ready) > self._warm and self._leaving is None:
                self._leaving = asyncio.get_running_loop().call_later(_IDLE, self._leave)

    def _leave(self) -> None:
        self._leaving = None
        while len(self._ready) > self._warm:
            self._ready.pop().kill()

    def _refill_soon(self) -> None:
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(_A_MOMENT, self._soon_over)

    def _soon_over(self) -> None:
        self._soon = None
        self.refill()

    def _rest(self) -> None:
        if self._resting is None:
            self._pause = min(2 * self._pause or _PAUSE, _LONGEST_PAUSE)
            self._resting = asyncio.get_running_loop().call_later(self._pause, self._rest_over)

    def _rest_over(self) -> None:
        self._resting = None
        self.refill()

    async def _started(self) -> None:
        running.set(None)  # it is not the doing of the run that is the first to want it
        age = self._age
        try:
            async with self._turns:
                worker = await self._start() if self._starting <= self._wanted else None
        except Exception as error:  # noqa: BLE001 - whoever waits for it hears of it
            self._starting -= 1
            self._failed(error)
        except BaseException:
            self._starting -= 1
            raise
        else:
            self._starting -= 1
            if worker and age < self._age:
                worker.kill()
                self.refill()
            elif worker:  # else who wanted it has left
                self._pause = 0.0
                self._keep(worker)

    def _failed(self, error: Exception) -> None:
        self._rest()
        if waiting := self._next():
            waiting.set_exception(error)
        else:  # the next run will be told
            log.warning("no process for an isolated run error=%s", type(error).__name__)
            log.debug("no process for an isolated run", exc_info=error)

    def _next(self) -> asyncio.Future[RunWorker] | None:
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                return waiting
        return None

    def close(self) -> None:
        """Nobody needs one any more, and whoever waits is told."""
        self._closed = True
        self._tasks.cancel()
        for timer in (self._soon, self._resting, self._leaving):
            if timer:
                timer.cancel()
        while waiting := self._next():
            waiting.set_exception(_closed())
        for _ in range(self._standing):
            self._room.release()
        while self._ready:
            self._ready.pop().kill()


def _closed() -> RuntimeClosed:
    return RuntimeClosed("there is no process for this run: its runtime has been closed")
