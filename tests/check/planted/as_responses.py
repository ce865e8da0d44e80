"""The planted agent as a server of responses."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.check.planted.served import Server, stream, whole


class Responses(Server):
    """Responses, each on the one before it; a chain of them is one conversation."""

    count = 0

    async def asked(
        self, method: str, path: list[str], body: Mapping[str, Any], writer: asyncio.StreamWriter
    ) -> None:
        if method == "POST" and path[-1] == "cancel":
            await self.stopped(path[-2], writer, {"id": path[-2], "status": "cancelled"})
        elif method == "POST":
            await self.answer(body, writer)
        else:
            whole(writer, {"object": "list"})

    async def answer(self, body: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
        Responses.count += 1
        name, event = f"resp_{self.count}", stream(writer)
        one = self.conversation(str(body.get("previous_response_id", name)))
        self.conversations[name] = one
        event(type="response.created", response={"id": name})

        def hear(text: str) -> None:
            event(type="response.output_text.delta", delta=text)

        how = await one.answer(str(body["input"]), hear)
        event(type=f"response.{how}", response={"id": name})
        await self.linger()


if __name__ == "__main__":
    asyncio.run(Responses.serve())
