"""Event streams: what happens in a session, to whoever watches it over HTTP.

A watcher takes all that is there at once, as the hub of its session has it, in the same step in
which it writes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any, Protocol

from starlette.types import Message, Receive, Scope, Send

from lastword.core.model import SessionId
from lastword.errors import SlowWatcher
from lastword.runtime.session import Session
from lastword.server.hub import Hub
from lastword.server.limits import in_pieces
from lastword.server.problems import Trouble
from lastword.server.shapes import Shapes
from lastword.server.who import Who

HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]
_BEAT = 15.0  # seconds
_AT_ONCE = 64  # watchers that are told without a turn for anybody else
_KEPT = 32  # hubs that nobody watches any more: who was cut off comes back to them


class Streams:
    """All event streams of a server."""

    def __init__(self, *, stalled: float, knows: Callable[[Who | None], bool]) -> None:
        self._knows = knows
        self._hubs: dict[str, Hub[Watcher]] = {}  # those that are watched
        self._left: dict[str, Hub[Watcher]] = {}  # and the last of those that were
        self._stalled = stalled
        self._beating: asyncio.TimerHandle | None = None

    def hub(self, session: Session, shapes: Shapes) -> Hub[Watcher]:
        """The one of a session; another one once that was deleted, or lost, and is there again."""
        hub = self._hubs.get(session.id) or self._left.get(session.id)
        return hub if hub and hub.feed is session.feed else Hub(session, shapes, _tell)

    @contextmanager
    def watched(self, hub: Hub[Watcher], watcher: Watcher) -> Generator[None]:
        """Have a watcher woken, and shown that the stream lives, until it leaves."""
        if not self._knows(watcher.who):
            raise _unknown()
        if not hub.watchers:
            self._hubs[hub.session.id] = hub
            self._left.pop(hub.session.id, None)
            hub.tasks.start(_tend(hub), name="news")
        hub.watchers[watcher] = None
        if self._beating is None:
            self._beating = asyncio.get_running_loop().call_later(_BEAT, self._beat)
        try:
            yield
        finally:
            del hub.watchers[watcher]
            if not hub.watchers:
                hub.tasks.cancel()
                if self._hubs.get(hub.session.id) is hub:
                    del self._hubs[hub.session.id]
                    self._keep(hub)

    def dismiss(self) -> int:
        """End the streams of those who are not known any more; how many there were."""
        every = [watcher for hub in self._hubs.values() for watcher in hub.watchers]
        gone = [watcher for watcher in every if not self._knows(watcher.who)]
        for watcher in gone:
            watcher.dismiss()
        return len(gone)

    def not_here(self) -> list[SessionId]:
        """The sessions that are watched, and that this process does not have."""
        return [hub.session.id for hub in self._hubs.values() if not hub.session.known]

    def send_back(self, sessions: Iterable[SessionId]) -> None:
        """Another server has these: who watches them comes back, and is told by that one."""
        for id_ in sessions:
            hub = self._hubs.get(id_)
            for watcher in tuple(hub.watchers) if hub and not hub.session.known else ():
                watcher.send_back()

    def _keep(self, hub: Hub[Watcher]) -> None:
        if not hub.feed.closed:
            self._left[hub.session.id] = hub
        if len(self._left) > _KEPT:
            del self._left[next(iter(self._left))]

    def _beat(self) -> None:
        loop = asyncio.get_running_loop()
        self._beating = loop.call_later(_BEAT, self._beat) if self._hubs else None
        self._show_life(list(self._hubs.values()))

    def _show_life(self, left: list[Hub[Watcher]]) -> None:
        """Let every stream show that it lives, and end those that nobody reads: those of a few
        sessions in each turn."""
        loop = asyncio.get_running_loop()
        for hub in left[:_AT_ONCE]:
            for watcher in tuple(hub.watchers):
                watcher.beat(loop.time() - self._stalled)
            if hub.watchers:
                hub.tasks.start(_tell(hub), name="a sign of life")
        if rest := left[_AT_ONCE:]:
            loop.call_soon(self._show_life, rest)


async def _tend(hub: Hub[Watcher]) -> None:
    """Tell those who watch whenever there is something to see."""
    number = -1
    while not hub.feed.closed:
        await hub.feed.more(number)
        number = hub.feed.last
        hub.hear()  # also if all who watch are slow
        await _tell(hub)
        if hub.outgrown():
            await _tell(hub)
    await _tell(hub)  # that there is no more


async def _tell(hub: Hub[Watcher]) -> None:
    """One task for all of them, because to wake one for each costs as much as to write to it."""
    for count, watcher in enumerate(tuple(hub.watchers), 1):
        await watcher.tell()
        if count % _AT_ONCE == 0:
            await asyncio.sleep(0)  # a stop is not to wait until thousands have been told


class Source(Protocol):
    """What is told on a stream: all that a hub has, or one run in another protocol's words."""

    def chunk(self, number: int) -> tuple[int, bytes]:
        """All that may leave now of what came after a number, and the last number in it. Whoever
        calls it writes what it gives in the same step. Raises SlowWatcher."""
        ...

    @property
    def over(self) -> bool:
        """Whether there is no more."""
        ...

    def last_word(self) -> bytes:
        """Why, for who has to be told."""
        ...


class Watcher:
    """One event stream."""

    __slots__ = (
        "_busy",
        "_dismissed",
        "_due",
        "_ended",
        "_hub",
        "_number",
        "_paused",
        "_receive",
        "_send",
        "_serving",
        "_since",
        "_slow",
        "_source",
        "_task",
        "who",
    )

    def __init__(
        self,
        hub: Hub[Watcher],
        scope: Scope,
        receive: Receive,
        send: Send,
        source: Source | None = None,
    ) -> None:
        self.who: Who | None = scope.get("lastword.who")
        self._hub = hub
        self._source = source or hub
        self._receive = receive
        self._send = send
        self._number: int | None = None  # up to which it was told; None: it is not following
        self._since = 0.0  # when the write that is waited for began; 0.0 if none is
        self._due = False  # a sign of life
        self._busy = False  # it is being told what is new, and waited for
        self._slow: asyncio.Task[None] | None = None  # that waits for it
        self._task = asyncio.current_task()
        self._ended = False
        self._serving = False
        self._dismissed = False
        extensions: dict[str, Any] = scope.get("extensions") or {}
        # Whether a write would have to wait for the one before it. Of a server that does not tell,
        # it is asked each time with a write of nothing, which returns when there is room.
        self._paused: Callable[[], bool] = extensions.get("lastword.paused", _who_knows)

    def beat(self, stalled: float) -> None:
        """A moment has passed."""
        if self._since and self._since < stalled:
            self.end()  # it comes back, if it is still there, and is told what it missed
        self._due = True

    def end(self) -> None:
        self._ended = True
        if self._task:
            self._task.cancel()

    def dismiss(self) -> None:
        """Who asked for it may see no more of it."""
        self._dismissed = True
        if self._serving:
            self.end()

    def send_back(self) -> None:
        """Another server tells it from now on, if it was being told."""
        if self._serving:
            self.dismiss()

    async def serve(self, number: int, first: bytes) -> None:
        """Send what happens after a number, until either side has had enough."""
        if self._dismissed:
            raise _unknown()
        self._serving = True
        try:
            await self._send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            for piece in in_pieces(b"retry: 1000\n\n" + first, more=True):
                await self._write(piece)
            self._number, self._busy = number, True
            await self._catch_up()
            while (await self._receive())["type"] != "http.disconnect":
                pass
        except asyncio.CancelledError:
            here = asyncio.current_task()
            if here is None or not self._ended:
                raise
            here.uncancel()
            if self._dismissed and not self._paused():
                await self._send(_body(b"", more=False))
        finally:
            self._number = None
            if self._slow:
                self._slow.cancel()

    async def tell(self) -> None:
        """Send what is new: at once if it can leave at once, or as soon as it can."""
        if self._number is None or self._busy:
            return
        if self._paused():
            self._busy = True
            self._slow = self._hub.tasks.start(self._catch_up(), name="slow watcher")
        elif message := self._news(self._number):
            await self._send(message)
            if not message["more_body"]:
                self.end()

    async def _catch_up(self) -> None:
        """Send what is new, however long each write takes, until nothing is."""
        try:
            while self._number is not None:
                await self._write(_body(b""))  # returns when there is room: the next step writes
                if not (message := self._news(self._number)):
                    return
                await self._write(message)
            self.end()  # all is said
        except OSError:
            self.end()  # what a server may raise that knows that nobody is there
        finally:
            self._busy = False

    def _news(self, number: int) -> Message | None:
        """What is to leave now; whoever calls it writes what it gives in the same step."""
        source = self._source
        try:
            self._number, chunk = source.chunk(number)
        except SlowWatcher:
            self._number = None  # it comes back with the last id that it saw, for a snapshot
            return _body(b"", more=False)
        if source.over:
            self._number = None
            return _body(chunk + source.last_word(), more=False)
        if not chunk and not self._due:
            return None
        self._due = False  # anything is one
        return _body(chunk or b":\n\n")

    async def _write(self, message: Message) -> None:
        self._since = asyncio.get_running_loop().time()
        await self._send(message)
        self._since = 0.0


def _body(body: bytes, *, more: bool = True) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": more}


def _unknown() -> Trouble:
    return Trouble("unauthorized", "this key was good when it was shown, and is not any more")


def _who_knows() -> bool:
    return True
