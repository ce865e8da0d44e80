"""The planted agent behind the calls of lastword's own server."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.check.planted.served import Server, stream, whole


class V1(Server):
    """A session is a conversation, with one stream of events."""

    def __init__(self, fault: str) -> None:
        super().__init__(fault)
        self.told: dict[str, list[dict[str, Any]]] = {}
        self.watching: dict[str, Callable[..., None]] = {}
        self.going: list[asyncio.Future[None]] = []

    async def asked(
        self, method: str, path: list[str], body: Mapping[str, Any], writer: asyncio.StreamWriter
    ) -> None:
        match path:
            case ["v1", "sessions", name, "messages"]:
                run = f"{name}-{len(self.going)}"
                whole(writer, {"run": run}, 202)
                self.going.append(asyncio.ensure_future(self.run(name, run, str(body["text"]))))
            case ["v1", "sessions", name, "stop"]:
                await self.stopped(name, writer, {"receipt": {"unconfirmed": []}})
            case ["v1", "sessions", name, "events"]:
                event = self.watching[name] = stream(writer)
                event(items=[], changes=self.told.get(name, []))
                await asyncio.Event().wait()
            case _:
                whole(writer, {})

    async def run(self, name: str, run: str, text: str) -> None:
        def hear(text: str) -> None:
            self.tell(name, {"part": {"kind": "text", "text": text}})

        how = await self.conversation(name).answer(text, hear)
        outcome = "completed" if how == "completed" else "stopped"
        self.tell(name, {"head": {"run": run, "outcome": outcome}})

    def tell(self, name: str, change: dict[str, Any]) -> None:
        self.told.setdefault(name, []).append(change)
        if name in self.watching:
            self.watching[name](items=[], changes=[change])


if __name__ == "__main__":
    asyncio.run(V1.serve())
