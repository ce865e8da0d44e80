"""What a run says is gathered while its sink rests, and said as it leaves.

A model makes fifty tokens a second, a chat network takes an edit or two. So text waits here, before
the hold, and what leaves next is all that was gathered by then, as one. It is written down and put
into the feed as it leaves and not before: the log has what was shown, and a stop drops the rest as
one delivery that had not begun. What else the run says and does waits until what was said before
it has left, and no longer: another part of the run may go on talking. Who writes a call down before
it is made asks for that (`run.said()`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lastword.core.entries import Text
from lastword.core.story import Fact, FeedEvent
from lastword.runtime.asking import running
from lastword.runtime.fence import Fence
from lastword.runtime.hold import Effect, Hold
from lastword.runtime.tasks import Tasks

_MOST = 32_768  # characters after which who says more waits until these have left


class Gathering:
    """Before the sink of one run."""

    __slots__ = ("_error", "_fence", "_gathered", "_helpers", "_hold", "_last", "_length")

    def __init__(self, fence: Fence, hold: Hold, helpers: Tasks) -> None:
        self._fence = fence
        self._hold = hold
        self._helpers = helpers  # a stop cancels what waits, and not what has begun to leave
        self._gathered: list[str] = []
        self._length = 0
        self._last: asyncio.Task[None] | None = None
        self._error: Exception | None = None

    async def send(self, *, fact: Fact) -> None:
        """Text is gathered; all else leaves when its turn has come. What went wrong with text that
        was gathered before is raised to who says more, since whoever said it has gone on."""
        if not isinstance(fact, Text) or not self._hold.current or self._is_another_s():
            await self._left()
            await self._fence.send(fact=fact)
            return
        self._raise()
        self._gathered.append(fact.text)
        self._length += len(fact.text)
        if len(self._gathered) == 1:
            effect = self._fence.line_up()
            self._last = self._helpers.start(self._leave(effect), name=effect.name)
        elif self._length > _MOST:
            await self.said()

    async def pass_on(self, event: FeedEvent, effect: Effect) -> None:
        """Deliver what the feed has already, once the text before it has left."""
        await self._left()
        await self._fence.pass_on(event, effect)

    def line_up(self) -> Effect:
        """As the fence has it."""
        return self._fence.line_up()

    def _is_another_s(self) -> bool:
        """Whether another run says it: what that one may do is asked in its name, as it leaves, so
        it is not mixed with the words of this one."""
        here = running.get()
        return here is not None and here.hold is not self._hold

    async def said(self) -> None:
        """Return when all that was said has left. Raises what its sink raised."""
        await self._left()
        self._raise()

    async def _left(self) -> None:
        if self._last is not None:  # what is said from here on is not waited for
            await asyncio.wait([self._last])

    def last_word(self, event: FeedEvent, *, unless: Callable[[], bool]) -> None:
        """As the fence has it."""
        self._fence.last_word(event, unless=unless)

    async def _leave(self, effect: Effect) -> None:
        try:
            await self._fence.send(fact=self._whole, effect=effect)
        except Exception as error:  # noqa: BLE001 - it is raised where the run says more, or ends
            self._error = self._error or error

    def _whole(self) -> Text:
        """All that was gathered leaves as one, and what is said from here on is the next."""
        gathered, self._gathered, self._length = self._gathered, [], 0
        return Text(self._hold.run, "".join(gathered))

    def _raise(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error
