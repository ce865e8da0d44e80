"""What the stories over HTTP ask of a server, in few words."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from tests.server.client import Answer, Client, upto


async def entries(client: Client, session: str = "s") -> list[Any]:
    """The log of a session."""
    return list((await client.get(f"/v1/sessions/{session}/log?limit=1000")).json["entries"])


async def outcomes(client: Client, session: str = "s") -> dict[str, str]:
    """How each message ended, once each."""
    ended = [one for one in await entries(client, session) if one["kind"] == "finished"]
    named = [(message, one["outcome"]) for one in ended for message in one["messages"]]
    assert len(dict(named)) == len(named), "a message ended twice"
    return dict(named)


async def waiting(client: Client, session: str = "s") -> list[str]:
    """The texts of what waits, in the order of their turns."""
    told = (await client.get(f"/v1/sessions/{session}/queue")).json
    return [one["text"] for one in told["messages"]]


async def change(client: Client, message: str, session: str = "s", **told: object) -> Answer:
    """Give a message that waits another text, or another place."""
    path = f"/v1/sessions/{session}/queue/{message}"
    return await client.ask("PATCH", path, json.dumps(told).encode())


async def remove(client: Client, message: str, session: str = "s") -> Answer:
    """Take a message that waits out of the queue."""
    return await client.ask("DELETE", f"/v1/sessions/{session}/queue/{message}")


async def ends(events: AsyncIterator[Any], count: int) -> list[Any]:
    """What is told until so many runs have ended."""
    return [event for _ in range(count) for event in await upto(events, "ended")]
