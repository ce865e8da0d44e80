"""Who else has the database open, and whose a session is: read, and never depended on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from secrets import token_bytes
from typing import Any, TypeVar

from lastword.core.model import SessionId
from lastword.errors import StoreError
from lastword.stores.peers import NodePeer
from lastword.stores.postgres import schema
from lastword.stores.postgres.nodes import NODE, Node, peer_of
from lastword.stores.postgres.side import StoreThread
from lastword.stores.postgres.wire import Connections, Database, PostgresConnection, ended

T = TypeVar("T")
_SHORT = 5.0  # seconds that any of it may take
_SIZE = 32  # bytes of the secret
_OWNERS = f"""
SELECT s.id, {NODE} FROM lastword.sessions s
JOIN lastword.sessions r ON r.key = coalesce(s.root, s.key)
JOIN lastword.nodes n ON n.epoch = r.owner WHERE s.id = ANY ($1)
"""  # noqa: S608 - ours
_EVERY = f"""
SELECT (SELECT count(*) FROM lastword.sessions s WHERE s.owner = n.epoch), {NODE}
FROM lastword.nodes n ORDER BY n.since, n.epoch
"""  # noqa: S608 - ours
_MAKE = "INSERT INTO lastword.secrets (secret) VALUES ($1) ON CONFLICT (one) DO NOTHING"
_PUT = """
INSERT INTO lastword.links (code, expires)
VALUES ($1, clock_timestamp() + make_interval(secs => $2)) ON CONFLICT (code) DO NOTHING
"""
_SWEEP = "DELETE FROM lastword.links WHERE expires <= clock_timestamp()"
_TAKE = "DELETE FROM lastword.links WHERE code = $1 RETURNING expires > clock_timestamp()"


async def listed(address: str) -> tuple[NodePeer, ...]:
    """All that have a database open, as it says; whoever asks is none of them."""
    database = Database(address)
    try:
        db = await database.connect(_SHORT)
        try:
            if await schema.found(db, database) < len(schema.migrations()):
                raise StoreError(f"{database.shown}: no server of this version has opened it yet")
            rows = await db.fetch(_EVERY)
        finally:
            await ended(db)
    except Exception as error:
        raise database.trouble(error, "nothing was read") from error
    return tuple(peer_of(tuple(row[1:]), sessions=row[0]) for row in rows)


class PostgresPeers:
    """One opened store's."""

    def __init__(self) -> None:
        self.url = self.digest = ""
        self._side: StoreThread | None = None
        self._connections: Connections | None = None
        self._node: Node | None = None
        self._nudge: Callable[[], object] = bool

    def begin(
        self,
        side: StoreThread,
        connections: Connections,
        node: Node,
        nudge: Callable[[], object],
    ) -> None:
        """The store is about to be open."""
        self._side, self._connections, self._node = side, connections, node
        self._nudge = nudge
        node.shown = self.url, self.digest

    @property
    def epoch(self) -> int:
        return self._node.epoch if self._node else 0

    @property
    def known(self) -> tuple[NodePeer, ...]:
        return self._node.others if self._node else ()

    def leave(self) -> None:
        if self._node:
            self._node.leaving = True
            self._nudge()

    async def whose(self, among: Collection[SessionId]) -> Mapping[SessionId, NodePeer]:
        names = [name for name in among if "\0" not in name]
        rows = await self._ask(lambda db: db.fetch(_OWNERS, names))
        found = {row[0]: self._living(tuple(row[1:])) for row in rows}
        return {name: peer for name, peer in found.items() if peer}

    def _living(self, row: tuple[Any, ...]) -> NodePeer | None:
        node = self._node
        if node is None or row[0] == node.epoch:
            return peer_of(row)
        other = node.other(row)
        return None if other is None or other.ending else peer_of(row)

    async def every(self) -> tuple[NodePeer, ...]:
        rows = await self._ask(lambda db: db.fetch(_EVERY))
        return tuple(
            peer_of(tuple(row[1:]), sessions=row[0]) for row in rows if self._living(tuple(row[1:]))
        )

    async def secret(self) -> bytes:
        async def found(db: PostgresConnection) -> bytes:
            await db.execute(_MAKE, token_bytes(_SIZE))
            return bytes(await db.fetchval("SELECT secret FROM lastword.secrets"))

        return await self._ask(found)

    async def put_link(self, code: bytes, seconds: float) -> None:
        async def put(db: PostgresConnection) -> None:
            await db.execute(_SWEEP)
            await db.execute(_PUT, code, seconds)

        await self._ask(put)

    async def take_link(self, code: bytes) -> bool:
        return bool(await self._ask(lambda db: db.fetchval(_TAKE, code)))

    async def _ask(self, work: Callable[[PostgresConnection], Awaitable[T]]) -> T:
        if self._side is None or self._connections is None:
            raise StoreError("the store is not open yet")
        ask = partial(self._connections.ask, work, "nothing was read", _SHORT)
        return await self._side.ask(ask)
