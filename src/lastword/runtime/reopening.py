"""What a process that died left unfinished is settled, soon, and without keeping anybody waiting.

A runtime opens when the first few have been; the rest follows behind. Whoever is sent a message or
a stop before its turn has come is settled first, because to load a session is to settle it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from lastword.core.model import SessionId
from lastword.errors import OwnedElsewhere, StoreError

log = logging.getLogger("lastword")
_AT_ONCE = 32  # that are settled together: their commits become one


class Reopening:
    """The sessions of a store in which something was left."""

    def __init__(self, settle: Callable[[SessionId], Awaitable[None]]) -> None:
        self._settle = settle
        self._left: dict[SessionId, None] = {}
        self._again: dict[SessionId, None] = {}  # could not be read; they are tried again

    @property
    def left(self) -> tuple[SessionId, ...]:
        """Those that are not settled."""
        return (*self._left, *self._again)

    @property
    def over(self) -> bool:
        """Whether nothing is left to do."""
        return not self._left and not self._again

    def found(self, sessions: Iterable[SessionId]) -> None:
        """These have messages without an outcome."""
        self._left.update(dict.fromkeys(sessions))

    def try_again(self) -> None:
        """Those that could not be read may be readable by now."""
        again, self._again = self._again, {}
        self._left.update(again)

    async def some(self) -> None:
        """Settle the next few."""
        some = tuple(self._left)[:_AT_ONCE]
        await asyncio.gather(*map(self._one, some))

    async def all(self) -> None:
        """Settle all that are left."""
        while self._left:
            await self.some()

    async def _one(self, id: SessionId) -> None:
        try:
            await self._settle(id)
        except OwnedElsewhere:  # another heir was quicker, and settles it
            log.info("recovered elsewhere session=%s", id)
        except StoreError as error:  # its log cannot be read, or the store does not answer
            self._again[id] = None  # whoever asks for it is told
            log.warning("not recovered session=%s error=%s", id, type(error).__name__)
        finally:
            self._left.pop(id, None)
