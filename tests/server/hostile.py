"""What hostile clients have in common: a door without a key, and requests of any bytes."""

from __future__ import annotations

import resource
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from lastword import Runtime
from lastword.server import ApiToken, ServerLimits
from lastword.server.asgi import LOOPBACK
from lastword.server.desk import ServerState
from lastword.server.serve import listen, serving
from lastword.server.who import Keys
from tests.server.client import SECRET, Answer, Client, read_answer
from tests.server.engines import echo


@asynccontextmanager
async def door(*, limits: ServerLimits | None = None) -> AsyncGenerator[tuple[Client, Keys]]:
    """A server, a client that has no token, and what opens it."""
    keys, listening = Keys([ApiToken(SECRET)]), listen("127.0.0.1", 0)
    async with Runtime(echo) as runtime:
        desk = ServerState(runtime, None, keys, limits or ServerLimits(), "an engine")
        async with serving(desk, listening, hosts=LOOPBACK):
            yield Client(listening.getsockname()[1], None), keys


async def said(client: Client, request: bytes) -> Answer:
    """What is answered to these bytes; the connection is closed."""
    reader, writer = await client.open()
    writer.write(request)
    try:
        return await read_answer(reader)
    finally:
        writer.close()


def raw(first: str, *lines: str, body: bytes = b"") -> bytes:
    """A request of exactly these lines."""
    return "\r\n".join((first, *lines, "", "")).encode() + body


def room_for(files: int) -> None:
    """Let this process have so many files open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < files:
        if hard < files:
            pytest.skip(f"only {hard} files may be open here, and it takes {files}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
