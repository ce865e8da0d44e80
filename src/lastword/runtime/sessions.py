"""The sessions of a runtime: one conversation for each name, while anybody has something of it.

Those at work are here by name. One that has been idle for a while is let go: its work ends, and
what is left of it lives for as long as somebody holds it, and is found by its name until then.
Nobody can hold one of two.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context
from weakref import WeakValueDictionary

from lastword.core.model import SessionId
from lastword.errors import StoreError
from lastword.runtime.asking import act, may_act
from lastword.runtime.conversation import Conversation
from lastword.runtime.journal import ask
from lastword.runtime.seat import LeftSession, Seat
from lastword.runtime.shared import Shared
from lastword.runtime.tasks import Tasks

_AT_ONCE = 100  # sessions that are looked at in one step
_LOOKS = 2  # in the time after which an idle one is let go


class Sessions:
    """Of one runtime. Any thread may look for one."""

    def __init__(
        self, shared: Shared, rest: float, runtime_must_be_open: Callable[[], object]
    ) -> None:
        self._shared = shared
        self._rest = rest
        self._runtime_must_be_open = runtime_must_be_open
        self._lock = threading.Lock()
        self._at_work: dict[SessionId, Conversation] = {}
        self._known: WeakValueDictionary[SessionId, Conversation] = WeakValueDictionary()
        self._left: dict[SessionId, LeftSession] = {}  # of those that nobody may have any more
        self._looks: dict[SessionId, tuple[tuple[int, int], float]] = {}
        self._releases = Tasks()
        self._timer: asyncio.Handle | None = None
        self._context = Context()  # a run's own would be kept by its timers
        self.closed = False

    @property
    def at_work(self) -> tuple[Conversation, ...]:
        """Those that are in memory."""
        return tuple(self._at_work.values())

    @property
    def unread(self) -> tuple[Conversation, ...]:
        """Those that somebody has a handle on, and of which the store was never asked."""
        return tuple(c for c in tuple(self._known.values()) if not c.at_work and not c.asked)

    def find(self, id: SessionId) -> Conversation | None:
        """The one of that name, if there is something of it here."""
        return self._known.get(id)

    def of(self, id: SessionId) -> Conversation:
        """The one of that name. One that another process has taken gives way to a new one."""
        with self._lock:
            known = self._known.get(id)
            if known is None or known.lost:
                before = None if known else self._left.get(id)
                seat = Seat(id, self._shared, before=before)
                known = Conversation(
                    seat, self._shared, self._runtime_must_be_open, begins=self._begins
                )
                self._known[id] = known
            return known

    def put(self, conversation: Conversation) -> None:
        """A child's, which has begun."""
        self._known[conversation.id] = self._at_work[conversation.id] = conversation

    def forget(self, conversation: Conversation) -> None:
        """It was deleted, or was a child's that has ended."""
        id_ = conversation.id
        for each in (self._at_work, self._known):
            if each.get(id_) is conversation:
                del each[id_]
        for kept in (self._left, self._looks):
            kept.pop(id_, None)

    def _begins(self, conversation: Conversation) -> bool:
        """One is at work, unless the runtime has ended. Called under its lock, by any thread."""
        if not self.closed and not conversation.closed:
            self._at_work[conversation.id] = conversation
            if threading.get_ident() == self._shared.thread:
                self._look_after()
            else:
                self._shared.loop.call_soon_threadsafe(self._look_after)
        return not self.closed

    # letting go

    def _look_after(self) -> None:
        if self._timer is None and self._at_work and not self.closed:
            self._timer = self._shared.loop.call_later(
                self._rest / _LOOKS, self._look_at, context=self._context
            )

    def _look_at(self, some: tuple[Conversation, ...] | None = None) -> None:
        """A few at a time, so that nobody waits for thousands."""
        some = self.at_work if some is None else some
        for conversation in some[:_AT_ONCE]:
            self._look(conversation)
        self._timer = None
        if rest := some[_AT_ONCE:]:
            self._timer = self._shared.loop.call_soon(self._look_at, rest, context=self._context)
        else:
            self._look_after()

    def _look(self, conversation: Conversation) -> None:
        id_, now = conversation.id, self._shared.loop.time()
        stirred = conversation.asked, conversation.seat.feed.last
        before, since = self._looks.get(id_, (None, now))
        if stirred != before:
            self._looks[id_] = stirred, now
        elif now - since >= self._rest:
            self._let_go(conversation)

    def _let_go(self, conversation: Conversation) -> None:
        if not conversation.let_go():
            conversation.put_away()
            return
        id_ = conversation.id
        if self._at_work.get(id_) is conversation:
            del self._at_work[id_]
        self._looks.pop(id_, None)
        if not conversation.lost:
            left = conversation.seat.left
            if left.last or left.generation:  # of a name that was only asked for there is nothing
                self._left[id_] = left
            if self._shared.store.shared:  # another process may have it from now on
                releasing = self._release(conversation)
                conversation.releasing = self._releases.start(releasing, name=f"release {id_}")

    async def hand_over(self, conversation: Conversation) -> bool:
        """Let it go to whoever asks for it next, if nothing of it is needed here; whether it was"""
        self._let_go(conversation)
        if conversation.at_work:
            return False
        if conversation.releasing:
            await asyncio.wait([conversation.releasing])
        else:
            await self._release(conversation)
        return True

    @act
    async def hand_over_all(self) -> None:
        """The same, of all in which nothing goes on."""
        may_act("this handing over")
        await asyncio.gather(*map(self.hand_over, self.at_work))

    async def _release(self, conversation: Conversation) -> None:
        with suppress(StoreError):  # it is ours a little longer
            await ask(self._shared.store.release(conversation.id))

    def close(self) -> None:
        """Nothing is looked after any more; who watches is told that no more will come."""
        self.closed = True
        if self._timer:
            self._timer.cancel()
        self._releases.cancel()
        for conversation in tuple(self._known.values()):
            conversation.seat.feed.close()
