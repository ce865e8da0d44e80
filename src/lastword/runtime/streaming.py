"""What a model streams is said as fast as it can be stored, and no slower for that.

What a run says is stored before it is shown, and a disk takes longer for that than a model for its
next word. So whoever passes on a stream goes on reading: what comes while a piece is being stored
waits here, before the hold, and leaves with the next one. What has not left when the run loses its
session never does. All else that the run says and does waits until what was streamed has left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias

from lastword.core.entries import Text, Thinking
from lastword.runtime.tasks import Tasks

Speech: TypeAlias = Text | Thinking
_MOST = 32_768  # characters after which whoever streams waits until these have left


class Streaming:
    """Of one run, on its way to the store."""

    __slots__ = ("_error", "_helpers", "_last", "_length", "_say", "_waiting")

    def __init__(self, say: Callable[[Speech], Awaitable[None]], helpers: Tasks) -> None:
        self._say = say
        self._helpers = helpers  # a stop cancels what waits
        self._waiting: list[Speech] = []  # what leaves next, as one
        self._length = 0
        self._last: asyncio.Task[None] | None = None  # with which that does
        self._error: Exception | None = None

    async def take(self, said: Speech) -> None:
        """More of it. What went wrong with what came before is raised here, or by `left`."""
        while self._waiting and (type(said) is not type(self._waiting[0]) or self._length > _MOST):
            await self.left()
        self._raise()
        self._waiting.append(said)
        self._length += len(said.text)
        if len(self._waiting) == 1:
            self._last = self._helpers.start(self._leave(self._last), name="words")

    async def left(self) -> None:
        """Return when what was said by now has left. Raises what went wrong with it."""
        if self._last is not None:
            await asyncio.wait([self._last])
        self._raise()

    async def _leave(self, before: asyncio.Task[None] | None) -> None:
        try:
            if before is not None:
                await asyncio.wait([before])
        finally:
            said, self._waiting, self._length = self._waiting, [], 0
        if self._error is not None:
            return  # nothing is said behind what could not be
        try:
            await self._say(replace(said[0], text="".join(one.text for one in said)))
        except Exception as error:  # noqa: BLE001 - it is raised where the run says more, or ends
            self._error = error

    def _raise(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error
