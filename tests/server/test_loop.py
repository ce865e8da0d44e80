"""No request holds the loop: what is long is made beside it, and leaves in pieces."""

from __future__ import annotations

import asyncio

import pytest

from lastword import Runtime
from lastword.server.records import PIECE
from tests.server.client import read_head, served
from tests.server.engines import Doors


@pytest.mark.scenario("W9", part="server")
async def test_an_export_leaves_in_pieces_and_a_stop_is_answered_in_between() -> None:
    engine = Doors()
    async with Runtime(engine) as runtime, served(runtime) as client:
        for number in range(40):
            await client.send("s", f"{number} " + "x" * 60_000)
        whole = (await client.get("/v1/sessions/s/export")).body
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port, limit=1 << 12)
        writer.write(client.request("GET", "/v1/sessions/s/export"))
        assert (await read_head(reader))[0] == 200
        assert (await client.stop("s"))["runs"], "nobody has taken the export yet"
        pieces = list[int]()
        while size := int(await reader.readline(), 16):
            pieces.append(size)
            await reader.readexactly(size + 2)
        writer.close()
    assert sum(pieces) == len(whole)
    assert whole.count(b'"kind": "said"') == 40
    assert max(pieces) <= PIECE + 61_000, "no step makes more than this"
