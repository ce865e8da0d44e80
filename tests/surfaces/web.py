"""Browsers that follow a recording over HTTP: the app as it is served, and the page's own fold."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

from starlette.types import ASGIApp, Message

from lastword import Runtime, Session
from lastword.server import app
from lastword.stores.contract import Overview
from tests.server.page_node import Modules
from tests.surfaces.recording import SESSION
from tests.surfaces.replay import Replay

# what the page has of each stream, in the end: everything that can be seen, as text to compare
DRAWN = """async (streams) => {
  const { blank, reduce } = await import("./assets/state.js");
  const hear = (state, event) => reduce(state, { type: "event", event });
  const sorted = (_, value) =>
    value && value.constructor === Object
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return streams.map((events) => {
    const { title, seen, before, more, known, ended, ...state } = events.reduce(hear, blank("s"));
    return JSON.stringify(state, sorted);
  });
}"""
_PATH = f"/v1/sessions/{SESSION}/events"
_SCOPE = {
    "type": "http",
    "asgi": {"version": "3.0"},
    "http_version": "1.1",
    "method": "GET",
    "scheme": "http",
    "path": _PATH,
    "raw_path": _PATH.encode(),
    "query_string": b"",
    "root_path": "",
    "headers": [(b"host", b"127.0.0.1")],
    "client": ("127.0.0.1", 1),
    "server": ("127.0.0.1", 80),
}


class Hosted:
    """What an app asks of a runtime to have one session watched."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self.at_hand = (replay.session,)
        self.tracing = None

    def session(self, id: str) -> Session:
        assert id == SESSION
        return self._replay.session

    async def overview(self, id: str) -> Overview:
        assert id == SESSION
        return await self._replay.record.overview()


class Web:
    """A server of one recording, and who watches it."""

    def __init__(self, replay: Replay) -> None:
        self.browsers: list[Browser] = []
        self._replay = replay
        self._app = app(cast("Runtime", Hosted(replay)))

    async def open(self) -> Browser:
        """Another one opens the page; return when it has something to show."""
        browser = Browser()
        self.browsers.append(browser)
        browser.watch(self._app)
        await browser.shown.wait()
        return browser

    async def heard(self) -> None:
        """Return when all have been told what there is; nobody keeps them waiting."""
        for _ in range(10):
            await asyncio.sleep(0)

    async def rest(self) -> None:
        """Tell all the rest as it happens, one after the other, and end."""
        while not self._replay.over:
            self._replay.next()
            await self.heard()
        await self.end()

    async def end(self) -> None:
        """There is no more."""
        self._replay.feed.close()
        for browser in self.browsers:
            browser.reads.set()
            await browser.over()

    def drawn(self, modules: Modules) -> list[str]:
        """What each of them shows in the end."""
        drawn: list[str] = modules.evaluate(DRAWN, [one.events for one in self.browsers])
        return drawn


class Browser:
    """One that has the page open."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.shown = asyncio.Event()
        self.reads = asyncio.Event()  # else what is sent waits
        self.reads.set()
        self._rest = b""
        self._asked = False
        self._task: asyncio.Future[None] | None = None

    def watch(self, served: ASGIApp) -> None:
        """Ask for the events."""
        scope = _SCOPE | {"extensions": {"lastword.paused": lambda: not self.reads.is_set()}}
        self._task = asyncio.ensure_future(served(scope, self._receive, self._send))

    async def _receive(self) -> Message:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        return await asyncio.get_running_loop().create_future()

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            assert message["status"] == 200, message
            return
        if not message["body"]:
            await self.reads.wait()  # it is asked whether there is room
        *whole, self._rest = (self._rest + message["body"]).split(b"\n\n")
        for frame in whole:
            pairs = (line.partition(b": ") for line in frame.split(b"\n"))
            lines = {name: value for name, _, value in pairs}
            if b"data" in lines:
                self.events.append(json.loads(lines[b"data"]))
                self.shown.set()

    async def over(self) -> None:
        """Return when it was told that there is no more."""
        assert self._task
        await self._task
