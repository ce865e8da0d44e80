"""Event streams: what happens in a session, to whoever watches it over HTTP.

An event is encoded once, however many watch. A watcher takes all that is there at once, and what a
stop has fenced meanwhile is not among it: the check is made in the same step as the write. What had
been let through before a stop but had not left is part of the record all the same; it is told
after the fence, as what was missed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

from msgspec import Raw
from starlette.types import Receive, Scope, Send

from lastword.agent.permission import QuestionNews
from lastword.core.model import Status
from lastword.core.receipt import ProcessNews, ToolReport
from lastword.errors import SlowWatcher
from lastword.runtime.feed import FeedEvent
from lastword.runtime.session import Session
from lastword.runtime.tasks import Tasks
from lastword.server.shapes import Shapes, encode
from lastword.server.wire import Event

HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]
_BEAT = 15.0  # seconds
_RECENT = 256  # frames that are kept: those who watch are close to one another


class Frame(NamedTuple):
    """An event as it leaves, and as it is told of when it came too late for that."""

    number: int
    content: bool  # of a run: it may not leave once that is fenced
    generation: int
    kind: str
    whole: bytes
    json: bytes


class Hub:
    """One session's watchers in this process."""

    def __init__(self, session: Session, shapes: Shapes) -> None:
        self.session = session
        self.feed = session.feed
        self.watchers: dict[Watcher, None] = {}
        self.leavers: set[Watcher] = set()  # those whose leaving is to stop the session
        self._shapes = shapes
        self._frames: dict[int, Frame] = {}
        self._chunk: tuple[tuple[int, int, int], bytes] = ((-1, -1, -1), b"")
        self.waiting: dict[Watcher, asyncio.Future[None]] = {}
        self.tending: asyncio.Task[None] | None = None

    def id_of(self, number: int) -> str:
        return f"{self.feed.epoch}-{number}"

    def number_of(self, id: str) -> int | None:
        """Where a watcher can go on that has seen everything up to an id; None if it cannot."""
        epoch, _, number = id.rpartition("-")
        if epoch != self.feed.epoch or not (number.isascii() and number.isdigit()):
            return None
        return int(number) if self.feed.holds(int(number)) else None

    def chunk(self, number: int) -> tuple[int, bytes]:
        """All that may leave now of what came after a number, and the last number in it.

        Whoever calls it writes what it gives in the same step.
        """
        key = number, self.feed.last, self.session.fenced
        if self._chunk[0] != key:
            self._chunk = key, self._made(number)
        return key[1], self._chunk[1]

    def _made(self, number: int) -> bytes:
        fenced, parts = self.session.fenced, list[bytes]()
        missed: list[Frame] = []
        for event in self.feed.since(number):
            frame = self._frames.get(event.number) or self._encoded(event)
            if frame.content and frame.generation < fenced:
                missed.append(frame)
                continue
            parts += self._record(missed)
            missed = []
            parts.append(frame.whole)
        return b"".join((*parts, *self._record(missed)))

    def _record(self, missed: list[Frame]) -> list[bytes]:
        if not missed:
            return []
        told = [Raw(frame.json) for frame in missed if frame.kind != "typing"]
        last, now = missed[-1].number, self.session.generation
        event = Event(self.id_of(last), "missed", now, None, 0.0, "", {"events": told})
        return [_frame(self.id_of(last), encode(event))]

    def last_word(self) -> bytes:
        """Why there is no more."""
        why = self.session.over or "shutdown"
        last, now = self.id_of(self.feed.last), self.session.generation
        return _frame(last, encode(Event(last, "closed", now, None, 0.0, why, {"why": why})))

    def _encoded(self, event: FeedEvent) -> Frame:
        id_, data = self.id_of(event.number), self._shapes.data(event.kind, event.data)
        run = None if event.run is None else self._shapes.out(event.run)
        told = Event(id_, event.kind, event.generation, run, event.at, event.text, data)
        json = encode(told)
        content, number = _is_content(event), event.number
        frame = Frame(number, content, event.generation, event.kind, _frame(id_, json), json)
        self._frames[number] = frame
        if len(self._frames) > 2 * _RECENT:
            for old in sorted(self._frames)[:-_RECENT]:
                del self._frames[old]
        return frame


def _is_content(event: FeedEvent) -> bool:
    """Whether a run does something by it, rather than the session telling what became of it."""
    match event.kind, event.data:
        case (("text" | "thinking" | "progress" | "usage"), _):
            return True
        case "typing", on:
            return bool(on)
        case "call", ToolReport(status=status):
            return status in {Status.INTENDED, Status.BEGUN}
        case "process", ProcessNews(state=state):
            return state == "starting"
        case "question", QuestionNews(news=news):
            return news == "opened"
        case _:
            return False


def _frame(id: str, json: bytes) -> bytes:
    return b"id: %b\ndata: %b\n\n" % (id.encode(), json)


class Streams:
    """All event streams of a server."""

    def __init__(self, *, stalled: float) -> None:
        self._hubs: dict[str, Hub] = {}
        self._stalled = stalled
        self._tasks = Tasks()
        self._beating: asyncio.TimerHandle | None = None

    def hub(self, session: Session, shapes: Shapes) -> Hub:
        """The one of a session; another one once that was deleted, or lost, and is there again."""
        hub = self._hubs.get(session.id)
        return hub if hub and hub.feed is session.feed else Hub(session, shapes)

    @contextmanager
    def watched(self, hub: Hub, watcher: Watcher) -> Generator[None]:
        """Have a watcher woken, and shown that the stream lives, until it leaves."""
        if not hub.watchers:
            self._hubs[hub.session.id] = hub
            hub.tending = self._tasks.start(_tend(hub), name=f"watchers of {hub.session.id}")
        hub.watchers[watcher] = None
        if self._beating is None:
            self._beating = asyncio.get_running_loop().call_later(_BEAT, self._beat)
        try:
            yield
        finally:
            del hub.watchers[watcher]
            if not hub.watchers:
                if hub.tending:
                    hub.tending.cancel()
                if self._hubs.get(hub.session.id) is hub:
                    del self._hubs[hub.session.id]

    def _beat(self) -> None:
        """Let every stream show that it lives, and end those that nobody reads."""
        loop = asyncio.get_running_loop()
        self._beating = loop.call_later(_BEAT, self._beat) if self._hubs else None
        for hub in tuple(self._hubs.values()):
            for watcher in tuple(hub.watchers):
                watcher.beat(loop.time() - self._stalled)

    def close(self) -> None:
        """No stream goes on."""
        if self._beating:
            self._beating.cancel()
        for hub in tuple(self._hubs.values()):
            for watcher in tuple(hub.watchers):
                watcher.end()


async def _tend(hub: Hub) -> None:
    """Wake those who watch when there is something to see."""
    number = -1
    while not hub.feed.closed:
        await hub.feed.more(number)
        number = hub.feed.last
        waiting, hub.waiting = hub.waiting, {}
        for waiter in waiting.values():
            if not waiter.done():
                waiter.set_result(None)


class Watcher:
    """One event stream."""

    def __init__(self, hub: Hub, scope: Scope, receive: Receive, send: Send) -> None:
        self.gone = False  # the other side has left
        self._hub = hub
        self._receive = receive
        self._send = send
        self._since = 0.0  # when the write under way began; 0.0 if none is
        self._due = False  # a sign of life
        self._task = asyncio.current_task()
        self._ended = False
        extensions: dict[str, Any] = scope.get("extensions") or {}
        # Whether a write would have to wait for the one before it. Of a server that does not tell,
        # it is asked each time with a write of nothing, which returns when there is room.
        self._paused: Callable[[], bool] = extensions.get("lastword.paused", _who_knows)

    def beat(self, stalled: float) -> None:
        """A moment has passed."""
        if self._since and self._since < stalled:
            self.end()  # it comes back, if it is still there, and is told what it missed
        self._due = True
        self._wake()

    def end(self) -> None:
        self._ended = True
        if self._task:
            self._task.cancel()

    def _wake(self) -> None:
        waiter = self._hub.waiting.pop(self, None)
        if waiter and not waiter.done():
            waiter.set_result(None)

    async def serve(self, number: int, first: bytes) -> None:
        """Send what happens after a number, until either side has had enough."""
        await self._send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        leaving = Tasks()
        leaving.start(self._until_gone(), name="watcher")
        try:
            await self._write(b"retry: 1000\n\n" + first)
            await self._follow(number)
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        except asyncio.CancelledError:
            here = asyncio.current_task()
            if here and not (self._ended or self.gone):
                raise
            if here:
                here.uncancel()
        finally:
            leaving.cancel()

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.gone = True
        self.end()

    async def _follow(self, number: int) -> None:
        hub = self._hub
        while not self.gone:
            if self._paused():
                await self._write(b"")  # returns when there is room, so that the next step writes
            try:
                last, chunk = hub.chunk(number)
            except SlowWatcher:
                return  # it comes back with the last id that it saw, and is given a snapshot
            if chunk:
                number = last
                await self._write(chunk)
            elif hub.feed.closed:
                await self._write(hub.last_word())
                return
            elif self._due:
                self._due = False
                await self._write(b":\n\n")
            else:
                number = last
                waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                hub.waiting[self] = waiter
                await waiter

    async def _write(self, body: bytes) -> None:
        self._since = asyncio.get_running_loop().time()
        await self._send({"type": "http.response.body", "body": body, "more_body": True})
        self._since = 0.0


def _who_knows() -> bool:
    return True
