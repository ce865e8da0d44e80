"""What the page's modules are checked against is what the server says, and nobody else's to see."""

from __future__ import annotations

from tests.server import page_types
from tests.server.client import serving_engine
from tests.server.engines import echo


def test_the_types_of_the_wire_are_the_ones_that_the_server_has() -> None:
    current = page_types.FILE.read_text(encoding="utf-8")
    assert current == page_types.written(), "python -m tests.server.page_types writes it anew"


async def test_the_page_s_modules_are_served_and_their_types_are_not() -> None:
    async with serving_engine(echo) as client:
        found = {name: await client.get(f"/assets/{name}") for name in ("told.d.ts", "dom.js")}
    assert {name: one.status for name, one in found.items()} == {"told.d.ts": 404, "dom.js": 200}
