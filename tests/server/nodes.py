"""Servers over one database that know of each other, in one process or in several."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from lastword import Engine, Runtime
from lastword.agent.permission import Questions
from lastword.server.asgi import LOOPBACK
from lastword.server.desk import ServerState
from lastword.server.limits import ServerLimits
from lastword.server.neighbours import Neighbours
from lastword.server.serve import listen, serving
from lastword.server.who import ApiToken, Keys
from lastword.stores.postgres import PostgresStore
from tests.server.client import SECRET, Client

LEASE = 10.0


@asynccontextmanager
async def node(
    address: str,
    engine: Engine,
    *,
    questions: Questions | None = None,
    tokens: tuple[ApiToken, ...] = (ApiToken(SECRET),),
    lease: float = LEASE,
    placed: bool = True,
    **settings: Any,
) -> AsyncGenerator[Client]:
    """One that others can ask."""
    listening, store = listen("127.0.0.1", 0), PostgresStore(address, lease=lease)
    port = listening.getsockname()[1]
    store.peers.url = f"http://127.0.0.1:{port}" if placed else ""
    asks = questions.as_before_tool() if questions else None
    async with Runtime(engine, store=store, before_tool=asks, **settings) as runtime:
        assert store.tenure
        neighbours = Neighbours(store.peers, await store.peers.secret(), store.tenure)
        desk = ServerState(
            runtime,
            questions,
            Keys(tokens),
            ServerLimits(),
            "an engine",
            neighbours=neighbours if placed else None,
        )
        async with serving(desk, listening, hosts=LOOPBACK):
            yield Client(port)


@asynccontextmanager
async def nodes(
    address: str, *engines: Engine, **settings: Any
) -> AsyncGenerator[tuple[Client, ...]]:
    """As many as there are engines."""
    async with AsyncExitStack() as stack:
        yield tuple(
            [await stack.enter_async_context(node(address, one, **settings)) for one in engines]
        )
