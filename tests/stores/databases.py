"""What the tests of the database have in common."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from lastword.core.model import SessionId
from lastword.errors import OwnedElsewhere
from lastword.stores.postgres import PostgresStore
from lastword.stores.postgres.commit import COMMIT
from lastword.stores.postgres.wire import Database
from tests.database import connect


@asynccontextmanager
async def opened(address: str, **settings: Any) -> AsyncGenerator[PostgresStore]:
    store = PostgresStore(address, **settings)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def by_hand(address: str) -> AsyncGenerator[Any]:
    """The database as another program sees it."""
    db = await connect(address)
    try:
        yield db
    finally:
        await db.close()


async def seems_dead(address: str, owner: str = "true") -> None:
    """Let owners be forgotten, as whoever found them silent for too long does."""
    async with by_hand(address) as db:
        await db.execute(f"DELETE FROM lastword.nodes WHERE {owner}")  # noqa: S608


async def terminate(address: str) -> None:
    """End every connection of lastword's, as who operates the server may."""
    async with by_hand(address) as db:
        await db.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'lastword' AND datname = current_database()"
        )


async def somebody_waits(db: Any) -> None:
    """Return once somebody waits for a lock."""
    while not await db.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
        await asyncio.sleep(0.01)


async def renewed(db: Any) -> None:
    """Return once an owner's lease was."""
    beats = "SELECT max(beats) FROM lastword.nodes"
    before = await db.fetchval(beats)
    while before == await db.fetchval(beats):
        await asyncio.sleep(0.01)


async def nodes(address: str) -> list[int]:
    """The owners that the database knows, the oldest first."""
    async with by_hand(address) as db:
        rows = await db.fetch("SELECT epoch FROM lastword.nodes ORDER BY since")
    return [row[0] for row in rows]


async def taken(store: PostgresStore, session: SessionId) -> None:
    """Load it as soon as it is there to be had."""
    while True:
        try:
            await store.load(session)
        except OwnedElsewhere:
            await asyncio.sleep(0.01)
        else:
            return


class Flaky:
    """Connections that are lost before, or after, what was to be written was."""

    def __init__(self, patch: pytest.MonkeyPatch, seed: object = 0) -> None:
        self.choose = random.Random(f"{seed}")
        self.before = self.after = 0.0
        self.lost = 0
        connecting = Database.connect

        async def connect(database: Database, longest: float) -> Any:
            made: Any = await connecting(database, longest)
            return _Lossy(made, self)

        patch.setattr(Database, "connect", connect)


class _Lossy:
    def __init__(self, of: Any, flaky: Flaky) -> None:
        self._of = of
        self._flaky = flaky

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)

    async def fetch(self, query: str, *args: object) -> list[Any]:
        if query != COMMIT:
            return cast("list[Any]", await self._of.fetch(query, *args))
        self._or_lose(self._flaky.before)
        found = await self._of.fetch(query, *args)
        self._or_lose(self._flaky.after)
        return cast("list[Any]", found)

    def _or_lose(self, chance: float) -> None:
        if self._flaky.choose.random() < chance:
            self._flaky.lost += 1
            self._of.terminate()
            raise ConnectionResetError("the connection was lost")
