"""The store as the runtime sees it: what is asked goes to the store's own thread.

Writes stand in one line there, and are done together. Whatever only reads goes beside them, on
connections of its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from functools import partial
from typing import TypeVar

from lastword.core.cell import StoredCell, Values
from lastword.core.entries import Entry, Unshown
from lastword.core.model import MessageId, RunId, SessionId
from lastword.core.receipt import Receipt
from lastword.errors import OwnedElsewhere, StoreError
from lastword.stores.codec import is_large
from lastword.stores.contract import (
    EVERY,
    Label,
    LogPart,
    Overview,
    Place,
    SessionFilter,
    StoredMessage,
    StoredSession,
    StoreSize,
    StoreTrait,
    UnusedSession,
    Write,
)
from lastword.stores.lease import LENGTH, Claim, Tenure, boottime
from lastword.stores.postgres import health, parts, retention
from lastword.stores.postgres.claims import Claims
from lastword.stores.postgres.commit import EncodedWrite
from lastword.stores.postgres.control import Control
from lastword.stores.postgres.errands import Errands
from lastword.stores.postgres.lane import Lane
from lastword.stores.postgres.nodes import Node
from lastword.stores.postgres.owning import Owning
from lastword.stores.postgres.peers import PostgresPeers
from lastword.stores.postgres.side import StoreThread
from lastword.stores.postgres.wire import Connections, Database, PostgresConnection
from lastword.stores.postgres.writing import Commits
from lastword.stores.reach import Reach

T = TypeVar("T")
ENDING = 2.0  # seconds that a load waits for what a dead owner started to be ended
_AGAIN = 0.02
CLOSING = 5.0  # seconds that a close waits for what is under way
_READING = 60.0  # seconds that reading a log may take
_SHORT = 10.0  # seconds that anything else may
_UNREAD, _UNDONE = "nothing was read", "it was not done"


class _Opened:
    """What there is while the store is open. Made on the store's own event loop."""

    def __init__(
        self,
        database: Database,
        tenure: Tenure,
        errands: Errands,
        peers: PostgresPeers,
        side: StoreThread,
        program: asyncio.AbstractEventLoop,
        thread: int,
    ) -> None:
        self.node = Node(tenure)
        self.claims = Claims(tenure)
        self.owning = Owning(self.node, self.claims)
        self.connections = Connections(database, _READING)
        self.writing = Commits(database, self.node, self.claims, self.owning, tenure)
        self.lane = Lane(self.writing)
        self.control = Control(database, self.node, self.claims, errands, tenure, program, thread)
        self.side = side
        errands.begin(side, self.connections, self.node)
        peers.begin(side, self.connections, self.node, self.control.nudge)

    async def open(self, tenure: Tenure) -> None:
        await self.control.open()
        tenure.nudge = self.control.nudge
        self.side.begin(self.control.live())
        self.side.begin(self.lane.serve())

    async def held_still(
        self, session: SessionId, work: Callable[[PostgresConnection, SessionId], Awaitable[T]]
    ) -> T:
        """Do something with a session as a whole, while nothing is written to it."""
        await self.lane.still(session)
        try:
            return await self.connections.ask(lambda db: work(db, session), _UNDONE, _SHORT)
        finally:
            self.lane.may_go_on(session)

    async def own(self, write: Write) -> None:
        """Have what is to be written to first, if nobody loaded it."""

        async def owned(db: PostgresConnection, session: SessionId) -> None:
            if session not in self.claims:
                await self.owning.own(db, session, write.parent)

        await self.held_still(write.session, owned)

    async def close(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING):
                await self.lane.at_rest()
        self.lane.give_up()
        await self.control.close()
        await self.writing.close()
        await self.connections.close()


class PostgresStore:
    """Everything in one database, in a schema of its own."""

    shared = True
    durable = True

    def __init__(self, address: str, *, lease: float = LENGTH) -> None:
        self.database = Database(address)
        self.tenure: Tenure | None = Tenure(lease)
        self._errands = Errands()
        self.reach: Reach | None = self._errands
        self.peers = PostgresPeers()
        self._lease = self.tenure
        self._opened: _Opened | None = None

    def __repr__(self) -> str:
        state = "opened" if self._opened else "not open yet"
        return f"<PostgresStore {self.database.shown} {state}>"

    @property
    def transactions(self) -> int:
        """How many statements wrote."""
        return self._opened.writing.transactions if self._opened else 0

    @property
    def trouble(self) -> StoreError | None:
        return self._opened.control.trouble if self._opened else None

    async def open(self) -> None:
        """Be ready, or say what is wrong with it. After an error it may be tried again."""
        if self._opened:
            shown = self.database.shown
            raise StoreError(f"{shown}: this store was opened before; make another one")
        side, here = StoreThread("lastword store"), threading.get_ident()
        program = asyncio.get_running_loop()

        async def opened() -> _Opened:
            reach = self._errands, self.peers
            made = _Opened(self.database, self._lease, *reach, side, program, here)
            await made.open(self._lease)
            return made

        try:
            self._opened = await side.ask(opened)
        except BaseException:
            side.end()
            raise

    async def load(self, session: SessionId) -> StoredSession | None:
        own, until = self._ready(), boottime() + ENDING
        while True:
            try:
                return await own.side.ask(partial(own.held_still, session, own.owning.load))
            except OwnedElsewhere as error:
                if not error.ending or boottime() > until:
                    raise
            await asyncio.sleep(_AGAIN)

    def claim(self, session: SessionId) -> Claim:
        claims = self._ready().claims
        held = claims.get(session)
        return held.claim if held else claims.new()

    async def peek(self, session: SessionId) -> StoredSession | None:
        own = self._ready()
        return await self._read(lambda db: own.owning.peek(db, session))

    async def kept_by(self, process: int) -> None:
        own = self._ready()
        own.node.kept_by(process)
        own.control.nudge()

    async def release(self, session: SessionId) -> None:
        own = self._ready()
        await own.side.ask(partial(own.held_still, session, own.owning.release))

    async def commit(self, write: Write) -> None:
        own = self._ready()
        if write.session not in own.claims:
            if write.claim is not None:
                raise OwnedElsewhere(write.session, "whoever loaded it here since")
            await own.side.ask(partial(own.own, write))
        if any(map(is_large, write.entries)):  # beside the event loop, which is not to wait for it
            encoded = await own.side.ask(partial(_encoded, write))
        else:
            encoded = EncodedWrite.of(write)
        own.side.must_be_open()
        await own.lane.put(encoded)

    async def entries(self, session: SessionId, after: int = 0) -> tuple[Entry, ...]:
        return await self._read(lambda db: parts.entries(db, session, after))

    async def part(
        self, session: SessionId, before: int | None = None, *, most: int, size: int | None = None
    ) -> LogPart:
        return await self._read(lambda db: parts.part(db, session, before, most, size))

    async def receipts(self, session: SessionId, skip: int, most: int) -> tuple[Receipt, ...]:
        return await self._read(lambda db: parts.receipts(db, session, skip, most))

    async def cuts(
        self, session: SessionId, runs: Collection[RunId], after: int
    ) -> tuple[tuple[int, Unshown], ...]:
        return await self._read(lambda db: parts.cuts(db, session, runs, after))

    async def lost(self, among: Collection[SessionId]) -> tuple[SessionId, ...]:
        own = self._ready()
        return await self._read(lambda db: own.owning.lost(db, among))

    async def unfinished(self) -> tuple[SessionId, ...]:
        own = self._ready()
        return await self._read(own.owning.unfinished)

    async def message(self, session: SessionId, id: MessageId) -> StoredMessage | None:
        return await self._read(lambda db: parts.message(db, session, id))

    async def sessions(self) -> tuple[SessionId, ...]:
        return await self._read(parts.sessions)

    async def size(self) -> StoreSize:
        return await self._read(parts.size)

    async def cells(self, session: SessionId | None = None) -> tuple[StoredCell, ...]:
        return await self._read(lambda db: parts.cells(db, session))

    async def values(self, session: SessionId) -> Values:
        return await self._read(lambda db: parts.values(db, session))

    async def overview(self, session: SessionId) -> Overview | None:
        own = self._ready()
        return await self._read(lambda db: own.owning.overview(db, session))

    async def recent(
        self, space: str, limit: int, before: Place | None = None, wanted: SessionFilter = EVERY
    ) -> tuple[Overview, ...]:
        own = self._ready()
        return await self._read(lambda db: own.owning.recent(db, space, limit, before, wanted))

    async def label(self, session: SessionId, label: Label) -> bool:
        own = self._ready()
        work = partial(parts.label, session=session, label=label)
        return await own.side.ask(lambda: own.connections.ask(work, _UNDONE, _SHORT))

    async def delete(self, session: SessionId) -> None:
        own = self._ready()
        await own.side.ask(partial(own.held_still, session, own.owning.delete))

    async def unused(self, since: float) -> tuple[UnusedSession, ...]:
        """The sessions last used before a time, in seconds since 1970; the oldest first."""
        return await self._read(lambda db: retention.unused(db, since))

    async def prune(self, session: SessionId, since: float) -> bool:
        """Delete it, if it is still one of those and nothing in it waits; whether it was."""
        own = self._ready()
        work = partial(retention.prune, owning=own.owning, since=since)
        return await own.side.ask(partial(own.held_still, session, work))

    async def check(self) -> list[str]:
        """What is wrong with what is stored, a line each; all of it is looked at."""
        return await self._read(health.wrong)

    async def traits(self, now: float) -> list[StoreTrait]:
        """How the database keeps it: what holds, and what to change. `now` is the time of day."""
        return await self._read(lambda db: health.traits(db, now))

    async def close(self) -> None:
        """Let go of the sessions and the connections, once what was asked for is done.

        It waits a few seconds at most; a database that does not answer is left alone.
        """
        own = self._opened
        if own is None or own.side.closed:
            return
        self._lease.end()
        closing = own.side.ask(own.close)
        own.side.closed = True
        with suppress(TimeoutError, StoreError):
            async with asyncio.timeout(2 * CLOSING):
                await closing
        own.side.end()
        await asyncio.wait([asyncio.wrap_future(own.side.left)], timeout=1.0)

    def _ready(self) -> _Opened:
        if self._opened is None:
            raise StoreError(f"{self.database.shown}: the store is not open yet")
        return self._opened

    async def _read(self, work: Callable[[PostgresConnection], Awaitable[T]]) -> T:
        own = self._ready()
        return await own.side.ask(lambda: own.connections.ask(work, _UNREAD))


async def _encoded(write: Write) -> EncodedWrite:
    return EncodedWrite.of(write)
