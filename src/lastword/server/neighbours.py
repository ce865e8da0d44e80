"""The other servers of the same database, as this one knows them, and what they have in common."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter

from starlette.types import Scope

from lastword.errors import StoreError
from lastword.runtime.tasks import Tasks
from lastword.server.relay import silence_of
from lastword.server.streams import Streams
from lastword.server.vouching import Vouching
from lastword.server.who import RUNS_OUT, Who, new_code
from lastword.stores.lease import Tenure, boottime
from lastword.stores.peers import Peers

_LOOK = 1.0  # seconds between looks at what is watched here and may be another's by now


class Neighbours:
    """One server's."""

    def __init__(self, peers: Peers, key: bytes, tenure: Tenure) -> None:
        self.peers = peers
        self.counts: Counter[str] = Counter()  # what was forwarded, and what became of it
        self.vouching = Vouching(key, peers.url)
        self.silence = silence_of(tenure.terms.length)
        self._tenure = tenure
        self._links = Tasks("links")

    @property
    def lease_left(self) -> float:
        """Seconds for which what is here may act without another sign of life."""
        return self._tenure.until - boottime()

    # links to the page, which any of them opens

    def new_link(self) -> str:
        """The code of one; it is put where all find it."""
        code = new_code()
        self._links.start(self.peers.put_link(_hashed(code), RUNS_OUT), name="link")
        return code

    async def links_are_put(self) -> None:
        """Return when all that were made can be opened."""
        await asyncio.gather(*self._links.living)

    async def open_link(self, code: str) -> bool:
        """Whether nobody has opened it, anywhere, and it has not run out."""
        return await self.peers.take_link(_hashed(code))

    # what they ask

    def whose(self, scope: Scope, told: str) -> Who | None:
        """Who asks, by the word of another server."""
        found = self.vouching.read(told, self.peers.epoch)
        scope["lastword.forwarded"] = found
        return found.who if found else None

    # what is watched here

    async def live(self, streams: Streams) -> None:
        """Who watches a session that nobody had, and another server has by now, is to come back:
        then it is asked there."""
        while True:
            await asyncio.sleep(_LOOK)
            if not (watched := streams.not_here()):
                continue
            try:
                owners = await self.peers.whose(watched)
            except StoreError:
                continue
            others = [id_ for id_, one in owners.items() if one.epoch != self.peers.epoch]
            streams.send_back(others)


def _hashed(code: str) -> bytes:
    return hashlib.sha256(code.encode(errors="replace")).digest()
