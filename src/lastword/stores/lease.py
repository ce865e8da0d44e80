"""An opened store's lease, for whoever acts in its name: asked in the step in which something
leaves, by any thread, at the price of reading a clock.

A claim is a session as one load of it has it. Both are objects that end for good, so nothing can
hold on to a name and find another's right behind it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TypeAlias

from lastword.core.lease import Lease, Terms
from lastword.core.model import SessionId

LENGTH = 10.0  # seconds that a lease is good for without a sign of life
SHORTEST = 1.0
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # a machine's sleep counts

Renewed: TypeAlias = Callable[[float, Collection[SessionId]], None]


def boottime() -> float:
    """Seconds since some moment, those that the machine slept included."""
    return time.clock_gettime(_CLOCK)


class Tenure:
    """The lease of one opened store."""

    def __init__(self, length: float = LENGTH) -> None:
        if not length >= SHORTEST:  # nor is it not a number
            raise ValueError(f"lease must be {SHORTEST:g} s or more; it is {length!r}")
        self.terms = Terms(length)
        # who is told of each renewal, in the thread that made it: until when it is good, and
        # which sessions turned out to have been taken
        self.on_renewed: Renewed = _nobody
        self.nudge: Callable[[], object] = bool  # have it renewed now, and not when it is due
        self._lease = Lease(self.terms)
        self._news = threading.Condition()
        self._waiters: dict[asyncio.Future[None], asyncio.AbstractEventLoop] = {}

    @property
    def good(self) -> bool:
        """Whether what leaves may leave."""
        return time.clock_gettime(_CLOCK) < self._lease.until

    @property
    def until(self) -> float:
        return self._lease.until

    @property
    def ended(self) -> bool:
        return self._lease.ended

    def must_look(self) -> bool:
        """Whether something may have been taken; for the transaction that renews."""
        return self._lease.must_look(boottime())

    def answered(self, asked: float, taken: Collection[SessionId] = ()) -> None:
        """It was renewed; that was asked for at that time. The claims on what was taken ended."""
        with self._news:
            self._lease.answered(asked)
        self._tell()
        self.on_renewed(self._lease.until, taken)

    def taken(self, sessions: Collection[SessionId]) -> None:
        """It was not renewed, and these are another's by now: the claims on them ended."""
        self._tell()
        self.on_renewed(self._lease.until, sessions)

    def end(self) -> None:
        """Nothing leaves from here on."""
        with self._news:
            self._lease.end()
        self._tell()

    def _tell(self) -> None:
        with self._news:
            self._news.notify_all()
            waiters, self._waiters = self._waiters, {}
        for waiter, loop in waiters.items():
            with suppress(RuntimeError):  # the loop has closed
                loop.call_soon_threadsafe(_wake, waiter)

    def wait(self, seconds: float) -> None:
        """Return when it is good again, or has ended, or so much time has passed. It blocks."""
        self.nudge()
        with self._news:
            self._news.wait_for(lambda: self.good or self.ended, seconds)

    async def news(self) -> None:
        """Return when it was renewed, or has ended, or when it is time to ask for that again."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        with self._news:
            self._waiters[waiter] = loop
        try:
            self.nudge()
            async with asyncio.timeout(self.terms.beat):
                await waiter
        except TimeoutError:
            pass
        finally:
            with self._news:
                self._waiters.pop(waiter, None)


class Claim:
    """The right to act in a session, from a load of it until it is loaded again, or taken."""

    __slots__ = ("_tenure", "taken")

    def __init__(self, tenure: Tenure | None = None) -> None:
        self.taken = False  # another has the session
        self._tenure = tenure  # None: nobody else can have it

    @property
    def ended(self) -> bool:
        """Whether nothing more can be done in its name."""
        return self.taken or (self._tenure is not None and self._tenure.ended)

    @property
    def good(self) -> bool:
        """Whether what leaves in its name may leave now. If it may not, and the claim has not
        ended, the lease has run out, and is being renewed."""
        return not self.taken and (self._tenure is None or self._tenure.good)

    def end(self) -> None:
        """Another has the session, or whoever loaded it here since."""
        self.taken = True

    def wait(self, seconds: float) -> None:
        """Return when the lease is good, or the claim has ended; or so much later. It blocks."""
        if self._tenure is not None and not self.good and not self.ended:
            self._tenure.wait(seconds)

    async def known(self) -> None:
        """The same, on an event loop, however long it takes."""
        while self._tenure is not None and not self.good and not self.ended:
            await self._tenure.news()


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


def _nobody(until: float, taken: Collection[SessionId]) -> None: ...
