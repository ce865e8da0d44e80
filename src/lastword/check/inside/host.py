"""Runs a Python agent in a process of its own, and speaks of it in lines.

An agent that blocks its event loop would otherwise blind whoever judges it. What the agent prints
goes to the standard error: the output is for lines.

    python -m lastword.check.inside.host MODULE:FACTORY URL JOURNAL
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable
from typing import Any, cast

from lastword.check.inside.functions import tools

_STOPPED = ("Cancel", "Stopped", "Interrupt", "Abort")  # errors that are a way to end when told to


class AgentHost:
    """The conversations of one agent."""

    def __init__(self, factory: Callable[..., Any], url: str, journal: str, out: int) -> None:
        self._factory, self._url, self._journal, self._out = factory, url, journal, out
        self._speakers: dict[str, Any] = {}
        self._rounds: dict[str, asyncio.Future[str]] = {}
        self._going: set[asyncio.Future[Any]] = set()

    def tell(self, **what: Any) -> None:  # noqa: ANN401 - what JSON holds
        os.write(self._out, (json.dumps(what) + "\n").encode())

    async def serve(self) -> None:
        reader = asyncio.StreamReader(limit=1 << 24)
        protocol = asyncio.StreamReaderProtocol(reader)
        await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
        self.tell(ready=True)
        while line := await reader.readline():
            order = json.loads(line)
            work = asyncio.Task(self._do(order), loop=asyncio.get_running_loop())
            self._going.add(work)
            work.add_done_callback(self._going.discard)

    async def _do(self, order: dict[str, Any]) -> None:
        match order["do"]:
            case "open":
                try:
                    made = self._factory(self._url, tools(self._journal))
                    self._speakers[order["id"]] = await made if inspect.isawaitable(made) else made
                    self.tell(opened=order["id"])
                except Exception as error:  # noqa: BLE001 - told, to whoever judges
                    self.tell(opened=order["id"], error=repr(error))
            case "start":
                await self._start(order)
            case _:
                await self._cancel(order)

    async def _start(self, order: dict[str, Any]) -> None:
        name = order["round"]
        over = self._rounds[name] = asyncio.get_running_loop().create_future()
        speaker = self._speakers[order["id"]]

        def hear(text: str) -> None:
            if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - theirs
                raise TypeError(f"hear takes text, and was given {type(text).__name__}")
            self.tell(heard=name, text=text)

        try:
            begun = speaker.start(order["text"], hear)
            await begun
            how = "ended"
        except asyncio.CancelledError:
            how = "cancelled"
        except Exception as error:  # noqa: BLE001 - told, to whoever judges
            kind = type(error).__name__
            is_stop = any(word in kind for word in _STOPPED)
            how = "cancelled" if is_stop else f"error: {error!r}"[:300]
        if not over.done():
            over.set_result(how)
        if not order.get("stopping") and not getattr(over, "stopping", False):
            self.tell(ended=name, how=how)

    async def _cancel(self, order: dict[str, Any]) -> None:
        """The answer is the end of what was started, and of `cancel` if that can be awaited."""
        speaker, name = self._speakers[order["id"]], order.get("round")
        over = self._rounds.get(name) if name else None
        waits = over is not None and not over.done()
        if waits and over is not None:
            over.stopping = True  # pyright: ignore[reportAttributeAccessIssue] - ours alone
        named: object = None
        wrong = ""
        try:
            for _ in range(order.get("times", 1)):
                done = speaker.cancel()
                named = await done if inspect.isawaitable(done) else done
        except Exception as error:  # noqa: BLE001 - told, to whoever judges
            wrong = f"cancel raised {error!r}"[:300]
        if waits and over is not None:
            how = wrong or await over
            told = cast("list[object]", named) if isinstance(named, list | tuple) else []
            self.tell(ended=name, how="cancelled" if how == "ended" else how, named=told)


def main() -> None:
    """Take the output for ourselves, and serve until the input ends."""
    out = os.dup(1)
    os.dup2(2, 1)
    named, url, journal = sys.argv[1:4]
    sys.path[:0] = [path for path in sys.argv[4].split(os.pathsep) if path not in sys.path]
    module, _, attribute = named.partition(":")
    factory = getattr(importlib.import_module(module), attribute or "factory")
    asyncio.run(AgentHost(factory, url, journal, out).serve())


if __name__ == "__main__":
    main()
