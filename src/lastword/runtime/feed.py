"""What was let through, numbered, for whoever watches.

Appending is done under the session's lock, in the same breath as the check, so the order of the
numbers is the order of the right to act: nothing of a run follows the event that ended it.
Watchers read from one bounded buffer, each at its own pace. A watcher that falls out of the
buffer is told so and dropped; no run ever waits for one. What a fence has caught up with before a
watcher came to read it is not handed out any more.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections.abc import AsyncIterator, Callable
from typing import Protocol, TypeAlias

from lastword.core.entries import Said
from lastword.core.model import Generation, SessionId
from lastword.core.story import Fact, FeedEvent, may_leave
from lastword.errors import SlowWatcher
from lastword.runtime.clock import Clock, time_of_day
from lastword.stores.lease import Claim

log = logging.getLogger("lastword")
Publish: TypeAlias = Callable[[Fact], FeedEvent]  # something of the session's own
_ATTACHED = 8_000_000  # characters of what came with messages that a feed keeps


class FeedRelay(Protocol):
    """A way by which what is told leaves from another process, after it has left this one."""

    @property
    def name(self) -> str: ...

    async def left(self) -> None:
        """Return when nothing that was let through before this call leaves there any more."""
        ...


class Feed:
    """The events of one session."""

    __slots__ = (
        "_clock",
        "_closed",
        "_events",
        "_fenced",
        "_home",
        "_keep",
        "_loop",
        "_more",
        "_session",
        "claim",
        "epoch",
        "last",
        "relays",
        "whose",
    )

    def __init__(
        self,
        session: SessionId,
        loop: asyncio.AbstractEventLoop,
        fenced: Callable[[], Generation],
        *,
        keep: int,
        clock: Clock = time_of_day,
        home: int | None = None,
        numbered: tuple[str, int] | None = None,  # go on from there
    ) -> None:
        # its numbers begin anew in every process: whose they are
        self.epoch, self.last = numbered or (secrets.token_hex(6), 0)
        self.relays: set[FeedRelay] = set()  # a stop waits for them, as it does for sinks
        self.whose: object = None  # the session, which is found for as long as this is watched
        self.claim = Claim()  # nothing is shown while it is not good; the store's, once it is known
        self._session = session
        self._loop = loop
        self._fenced = fenced  # where the last stop or takeover has moved the generation to
        self._home = home or threading.get_ident()  # the loop's thread
        self._keep = keep
        self._clock = clock
        self._events: dict[int, FeedEvent] = {}
        self._more: set[asyncio.Future[None]] | None = None  # of those who wait for more
        self._closed = False

    def append(self, fact: Fact, generation: Generation) -> FeedEvent:
        """Number an event and hand it to whoever watches. Call it under the session's lock."""
        self.last = number = self.last + 1
        # past the keyword-taking constructor, which costs a third of an emit
        fields = (number, self._session, generation, fact, self._clock())
        event = tuple.__new__(FeedEvent, fields)  # pyright: ignore[reportUnknownMemberType] - as typeshed has it
        self._events[number] = event
        if len(self._events) > self._keep:
            del self._events[number - self._keep]
        if self._more is not None:
            self._wake()
        return event

    @property
    def fenced(self) -> Generation:
        """What was let through at an older one, and has not left, must not leave any more."""
        return self._fenced()

    @property
    def closed(self) -> bool:
        """Whether no more will come."""
        return self._closed

    def since(self, number: int) -> list[FeedEvent]:
        """Everything after a number that is there now."""
        if number >= self.last:
            return []
        self._at(number + 1)
        return [self._events[n] for n in range(number + 1, self.last + 1)]

    def holds(self, number: int) -> bool:
        """Whether whoever has seen everything up to a number can go on from there."""
        return number <= self.last and self.last - number <= len(self._events)

    async def more(self, number: int) -> None:
        """Return when there is something after a number, or no more will come."""
        while number >= self.last and not self._closed:
            await self._news()

    def shed(self) -> None:
        """Keep only so much of what came with messages: the oldest goes, the newest stays. Call it
        under the session's lock."""
        room = _ATTACHED
        for number in sorted(self._events, reverse=True):
            fact = self._events[number].fact
            if isinstance(fact, Said):
                room -= sum(len(one.data) for one in fact.message.attachments)
            if room < 0 and number < self.last:
                self._events = {n: event for n, event in self._events.items() if n > number}
                return

    def trim(self) -> None:
        """Keep nothing for late watchers: the log has it."""
        self._events = {}

    def begin_anew(self) -> None:
        """Things have happened that are not in here: nobody can go on from where they were."""
        if self.last:
            self.epoch = secrets.token_hex(6)
            self.trim()

    def close(self) -> None:
        """No more will come: watchers end once they have read what is there."""
        self._closed = True
        self._wake()

    def follow(self, after: int | None = None) -> AsyncIterator[FeedEvent]:
        """Everything after a number, then whatever comes. None: only what comes from here on.

        The check is made in the step that hands an event out.
        """
        return self._follow(self.last if after is None else after)

    async def _follow(self, number: int) -> AsyncIterator[FeedEvent]:
        while True:
            while number < self.last:
                await self.claim.known()
                number += 1
                event = self._at(number)
                # what another process has by now is fenced, whether this one has heard of it or not
                if may_leave(event, self._fenced(), taken=self.claim.taken):
                    yield event
            if self._closed:
                return
            await self._news()

    async def _news(self) -> None:
        # one for each, because a shield around one for all costs more than it
        waiter: asyncio.Future[None] = self._loop.create_future()
        waiting = self._more = self._more or set()
        waiting.add(waiter)
        try:
            await waiter
        finally:
            waiting.discard(waiter)

    def _at(self, number: int) -> FeedEvent:
        event = self._events.get(number)
        if event is None:
            oldest = self.last - len(self._events) + 1
            log.warning(
                "watcher dropped session=%s wanted=%d oldest=%d", self._session, number, oldest
            )
            raise SlowWatcher(self._session, number, oldest)
        return event

    def _wake(self) -> None:
        if threading.get_ident() != self._home:
            self._loop.call_soon_threadsafe(self._wake)
        elif self._more is not None:
            waiting, self._more = self._more, None
            for waiter in waiting:
                if not waiter.done():  # who was cancelled in this step still stands there
                    waiter.set_result(None)
