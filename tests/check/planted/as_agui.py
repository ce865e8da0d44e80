"""The planted agent as a server that speaks AG-UI, and is told to stop at `/stop/THREAD`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.check.planted.served import Server, stream, whole


class Agui(Server):
    """A thread is a conversation."""

    async def asked(
        self, method: str, path: list[str], body: Mapping[str, Any], writer: asyncio.StreamWriter
    ) -> None:
        if path[0] == "stop":
            await self.stopped(path[1], writer, {"stopped": True})
        elif method == "POST":
            await self.run(body, writer)
        else:
            whole(writer, {})

    async def run(self, body: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
        event, named = stream(writer), {"threadId": body["threadId"], "runId": body["runId"]}
        event(type="RUN_STARTED", **named)

        def hear(text: str) -> None:
            event(type="TEXT_MESSAGE_CONTENT", messageId="m", delta=text)

        text = str(body["messages"][-1]["content"])
        how = await self.conversation(str(body["threadId"])).answer(text, hear)
        event(type="RUN_FINISHED" if how == "completed" else "RUN_ERROR", **named, message=how)
        await self.linger()


if __name__ == "__main__":
    asyncio.run(Agui.serve())
