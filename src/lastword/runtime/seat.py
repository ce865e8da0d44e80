"""What of a session stays while anybody has something of it: its lock, its machine, its feed.

A session that is idle leaves memory and comes back as another `Work`. Its seat has no second:
whoever holds a handle, watches its feed or still unwinds in a run of it holds the seat, and through
that finds, and is found by, the one conversation of its name. So the generation that a run of
earlier asks is the session's own, a stop finds what is to be stopped, and events go on being
numbered where they were.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import NamedTuple

from lastword.core.model import Generation, SessionId
from lastword.core.session import SessionMachine
from lastword.core.story import Fact, FeedEvent
from lastword.runtime.asks import Asks
from lastword.runtime.feed import Feed
from lastword.runtime.hold import Hold, fenced_at
from lastword.runtime.inbox import Inbox
from lastword.runtime.jobs import Jobs
from lastword.runtime.owned import Kept
from lastword.runtime.shared import Shared
from lastword.runtime.whose import Whose


class LeftSession(NamedTuple):
    """What this process remembers of a session that nobody here has: events are numbered on."""

    epoch: str
    last: int
    generation: Generation


class Seat:
    """One session's. Any thread may make it."""

    __slots__ = ("asks", "feed", "id", "inbox", "jobs", "kept", "lock", "machine", "whose")

    def __init__(
        self,
        id: SessionId,
        shared: Shared,
        *,
        above: Hold | None = None,  # of a child's run: its parent's, with which it shares the lock
        before: LeftSession | None = None,
        asks: Asks | None = None,  # of a child's run: those of the person's session
    ) -> None:
        self.id = id
        self.lock = above.lock if above else threading.Lock()
        self.machine = SessionMachine(shared.settings, before.generation if before else 0)
        self.inbox = Inbox(self.machine, self.lock, shared.loop.time)
        self.feed = Feed(
            id,
            shared.loop,
            partial(fenced_at, self.machine, above),
            keep=shared.feed_limit,
            clock=shared.clock,
            home=shared.thread,
            numbered=(before.epoch, before.last) if before else None,
        )
        self.jobs = Jobs()  # its processes that have an id, its children's included
        self.whose = Whose(self.jobs, self.machine.rights)
        self.kept: list[Kept] = []  # those of them that outlive their runs
        self.asks = asks or Asks(id, self.publish)  # what waits for a person, also below

    def publish(self, fact: Fact) -> FeedEvent:
        """Something of the session's own, into its feed."""
        with self.lock:
            return self.feed.append(fact, self.machine.generation)

    @property
    def left(self) -> LeftSession:
        """What the next seat of that name is to know."""
        return LeftSession(self.feed.epoch, self.feed.last, self.machine.generation)
