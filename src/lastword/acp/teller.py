"""All that a client is told of a session, in one order.

What happens is told as it does. When a session is opened, all of its history comes first, at the
reader's pace, and what happens meanwhile waits behind it, each once. Nobody but the reader waits
for that: a stop is made, and its prompt answered, while the history is told. What was let out
before such a stop is part of the history; that a call is to be made, or is being made, is asked
once more right before it leaves, and is told with how it ended if it could not.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial

from lastword.acp.asking import OpenAsks
from lastword.acp.frontiers import Frontiers
from lastword.acp.peer import Peer
from lastword.acp.showing import Showing
from lastword.acp.wire import Params
from lastword.core import scene
from lastword.core.recovery import Recovery
from lastword.core.scene import Change
from lastword.core.story import Fact, FeedEvent
from lastword.surfaces.following import Following, whole


class Milestone:
    """How far somebody has come, by the numbers of events."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._more: asyncio.Future[None] | None = None

    def move(self, number: int) -> None:
        """They have come so far."""
        self.number = number
        if self._more:
            self._more.set_result(None)
            self._more = None

    async def past(self, number: int) -> None:
        """Return when they have come so far."""
        while self.number < number:
            self._more = self._more or asyncio.get_running_loop().create_future()
            await asyncio.shield(self._more)


class Teller:
    """One session's, to the client that has it open."""

    def __init__(
        self,
        peer: Peer,
        following: Following,
        root: str,
        window: int,
        before: Callable[[Fact], Awaitable[None]],
    ) -> None:
        self.told = Milestone(following.session.last_event)
        self._peer = peer
        self._following = following
        self._showing = Showing(self.tell, root, window)
        self._before = before  # awaited before anything that comes of a fact is told
        self._untold: deque[Callable[[], Awaitable[None] | None]] = deque()
        self._turn = asyncio.Lock()  # whoever has it tells all that is there
        self._again = 0  # how many tell all of it again, or wait for their turn
        self._drawn = 0  # the last event that is in the history which was told

    def tell(self, update: Params, while_: Callable[[], bool] = lambda: True) -> None:
        """Tell the client now, whatever else it is being told."""
        params = {"sessionId": self._following.session.id, "update": update}
        self._peer.notify("session/update", params, while_)

    def tell_in_turn(self, update: Params, while_: Callable[[], bool] = lambda: True) -> None:
        """The same, behind what is to be told before it."""
        if self._is_busy:
            self._untold.append(partial(self.tell, update, while_))
        else:
            self.tell(update, while_)

    async def happened(
        self, event: FeedEvent, changes: list[Change], frontiers: Frontiers, asking: OpenAsks
    ) -> None:
        """Tell what is different with an event, in turn; what the client is asked waits by itself
        until all is told, and is taken back at once."""
        show = partial(self._show, event, frontiers=frontiers, asking=asking)
        beside = [one for one in changes if _is_asked(one)]
        show(beside)
        told = [one for one in changes if not _is_asked(one)]
        self._untold.append(partial(self._tell, event, told, show))
        if not self._is_busy:
            await self._tell_untold()

    async def tell_again(self) -> None:
        """Tell all of it, for a client that opens the session. Raises LastwordError."""
        self._again += 1
        room, silenced = self._peer.outbox.room, self._following.is_silenced
        try:
            async with self._turn:
                picture = await whole(self._following.session)
                for update, leaves in self._showing.again(picture, silenced):
                    self.tell(update, leaves)
                    await room()
                self._drawn = picture.seen
                await self._tell_rest(room)
        finally:
            self._again -= 1
            if self._untold and not self._again:  # whoever asked for it has given up
                self._peer.tasks.start(self._tell_untold(), name="what was untold")

    @property
    def _is_busy(self) -> bool:
        """Whether somebody is telling, and will tell what is there in the end."""
        return self._turn.locked() or self._again > 0

    async def _tell_untold(self) -> None:
        async with self._turn:
            await self._tell_rest()

    async def _tell_rest(self, room: Callable[[], Awaitable[None]] | None = None) -> None:
        while self._untold:
            telling = self._untold.popleft()()
            if telling is not None:
                await telling
            if room:
                await room()

    async def _tell(
        self, event: FeedEvent, changes: list[Change], show: Callable[[list[Change]], None]
    ) -> None:
        await self._before(event.fact)
        known = event.number <= self._drawn and not isinstance(event.fact, Recovery)
        show([one for one in changes if not (known and _is_history(one))])
        self.told.move(event.number)

    def _show(
        self, event: FeedEvent, changes: list[Change], frontiers: Frontiers, asking: OpenAsks
    ) -> None:
        for change in changes:
            leaves = partial(self._following.may_leave, event, change)
            self._showing.show(change, leaves, self._following.picture, frontiers, asking)


def _is_asked(change: Change) -> bool:
    return isinstance(change, scene.AskOpened | scene.AskClosed | scene.ProgramIs)


def _is_history(change: Change) -> bool:
    """Whether who is told all of it has been told this."""
    return isinstance(change, scene.PartIs | scene.Grew | scene.Placed)
