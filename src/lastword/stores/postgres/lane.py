"""The one way in for writes: all that waits goes into one statement, and one sync."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from contextlib import suppress
from itertools import chain

from lastword.core.model import SessionId
from lastword.errors import StoreError
from lastword.stores.postgres.commit import EncodedWrite
from lastword.stores.postgres.writing import NOTHING, Commits, InLine

AT_ONCE = 256  # sessions in one statement


class Lane:
    """One store's. Everything but `put` happens on the store's own event loop."""

    def __init__(self, writing: Commits) -> None:
        self._writing = writing
        self._incoming: deque[InLine] = deque()
        self._waiting: dict[SessionId, deque[InLine]] = {}
        self._under_way: set[SessionId] = set()
        self._held_up: Counter[SessionId] = Counter()  # those that are being loaded
        self._more = asyncio.Event()
        self._rest = asyncio.Event()  # set whenever a statement is over
        self._loop = asyncio.get_running_loop()
        self._awake = False

    def put(self, encoded: EncodedWrite) -> asyncio.Future[None]:
        """Put a write in line. It is done even if nobody waits for it any more."""
        loop = asyncio.get_running_loop()
        waiting = InLine(encoded, loop, loop.create_future())
        self._incoming.append(waiting)
        if not self._awake:
            self._awake = True
            self._loop.call_soon_threadsafe(self._more.set)
        return waiting.future

    async def still(self, session: SessionId) -> None:
        """Nothing of a session is written from here on, until it `may_go_on`."""
        self._held_up[session] += 1
        while session in self._under_way:
            self._rest.clear()
            await self._rest.wait()

    def may_go_on(self, session: SessionId) -> None:
        """It was loaded, or could not be."""
        self._held_up -= Counter((session,))
        self._more.set()

    async def serve(self) -> None:
        """Write what waits, for ever."""
        while True:
            if not (batch := self._take()):
                await self._more.wait()
                self._more.clear()
                continue
            self._under_way = {one.session for one in batch}
            await self._write(batch)
            self._under_way = set()
            self._rest.set()
            _tell(batch)

    def _take(self) -> list[InLine]:
        self._awake = False
        while self._incoming:
            one = self._incoming.popleft()
            self._waiting.setdefault(one.session, deque()).append(one)
        batch = list[InLine]()
        for session in tuple(self._waiting):
            if session in self._held_up:
                continue
            line = self._waiting[session]
            batch.append(line.popleft())
            if not line:
                del self._waiting[session]
            if len(batch) == AT_ONCE:
                break
        return batch

    async def _write(self, batch: list[InLine]) -> None:
        try:
            await self._writing.together(batch)
        except BaseException as error:
            for one in batch:
                why = f"the store failed: {error!r}; whether this was stored is not known"
                one.error = one.error or StoreError(why)
            if not isinstance(error, Exception):
                _tell(batch)
                raise

    def give_up(self) -> None:
        """Tell everybody in line that the store was closed."""
        left = [*chain(*self._waiting.values()), *self._incoming]
        for one in left:
            one.error = StoreError(f"the store was closed; {NOTHING}")
        _tell(left)

    async def at_rest(self) -> None:
        """Return when nothing waits, and nothing is under way."""
        while self._under_way or self._waiting or self._incoming:
            self._rest.clear()
            await self._rest.wait()


def _tell(batch: list[InLine]) -> None:
    for loop in {one.loop for one in batch}:
        with suppress(RuntimeError):  # the loop was closed, and everybody who waited has gone
            loop.call_soon_threadsafe(_answer, [one for one in batch if one.loop is loop])


def _answer(batch: list[InLine]) -> None:
    for one in batch:
        one.answer()
