"""Event streams that leave by another server than the one that has the session.

The owner writes to the other, and that one to whoever watches, piece by piece and as it comes. In
between the owner gives signs of life. A stop asks the other whether all that was told before has
left; what has not in a moment is dropped there, and who watched comes back. If the other cannot be
asked, the owner is silent, and waits: whoever has heard nothing for so long writes nothing more.
So no word is written anywhere once a receipt has said quiet; nor once another has the session, for
that silence is shorter than the time from the end of a lease to its heir.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from starlette.types import Message, Receive, Send

from lastword.runtime.tasks import Tasks
from lastword.server.calling import Response, Unanswered, Unreachable
from lastword.stores.lease import boottime

SILENCE = b"x-lastword-silence"  # after how many seconds of it nothing more is written
_OF_LEASE = 0.15  # less than what lies between the end of a lease and whoever takes it for ended
_BEATS = 5  # signs of life in that time
_MARGIN = 1.1  # clocks do not go alike
_MOMENT = 0.25  # seconds in which what is under way may still leave
_HELD = 4 << 20  # bytes that wait for who watches
_WIDTH = 4  # bytes of a piece's length; one of no bytes is a sign of life
_STREAM = b"text/event-stream"


def silence_of(lease: float) -> float:
    """The silence for a lease of so many seconds."""
    return lease * _OF_LEASE


class RelayedStream:
    """A stream of this server's that leaves by another. It is sent what a watcher here would be."""

    def __init__(
        self,
        name: str,
        silence: float,
        receive: Receive,
        send: Send,
        ask: Callable[[int], Awaitable[None]],
    ) -> None:
        self.name = name
        self._silence = silence
        self._receive = receive
        self._send = send
        self._ask = ask  # the other, whether so many bytes have left there
        self._sent = 0
        self._framed = False
        self._cut = asyncio.Event()
        self._tasks = Tasks("relay")

    async def send(self, message: Message) -> None:
        """To the other server, as pieces, once it is known to be a stream."""
        if self._cut.is_set():
            return
        if message["type"] == "http.response.start":
            headers = list(message["headers"])
            kinds = [value for name, value in headers if name == b"content-type"]
            self._framed = message["status"] == 200 and kinds[:1] and kinds[0].startswith(_STREAM)
            if self._framed:
                headers.append((SILENCE, f"{self._silence:g}".encode()))
                self._tasks.start(self._live(), name="signs of life")
            await self._send({**message, "headers": headers})
            return
        if not message.get("more_body"):
            self._tasks.cancel()
        body = message.get("body", b"")
        if body and self._framed:
            self._sent += len(body)
            message = {**message, "body": len(body).to_bytes(_WIDTH) + body}
        await self._send(message)

    async def _live(self) -> None:
        while not self._cut.is_set():
            await asyncio.sleep(self._silence / _BEATS)
            await self._send(_body(bytes(_WIDTH)))

    async def receive(self) -> Message:
        """What comes of who watches: that they have left."""
        receiving = self._tasks.start(_received(self._receive), name="receive")
        cut = self._tasks.start(_set(self._cut), name="cut")
        try:
            await asyncio.wait([receiving, cut], return_when=asyncio.FIRST_COMPLETED)
            return receiving.result() if receiving.done() else {"type": "http.disconnect"}
        finally:
            receiving.cancel()
            cut.cancel()

    async def left(self) -> None:
        """Return when nothing leaves there any more of what was told before this call."""
        try:
            await self._ask(self._sent)
        except (Unreachable, Unanswered, TimeoutError):
            self.close()
            await asyncio.sleep(self._silence * _MARGIN)

    def close(self) -> None:
        """Nothing more is told."""
        self._cut.set()
        self._tasks.cancel()


class RelayedWatcher:
    """Whoever watches here what another server has."""

    def __init__(self, receive: Receive, send: Send, paused: Callable[[], bool]) -> None:
        self._receive = receive
        self._send = send
        self._paused = paused
        self._silence = 0.0
        self._heard = 0.0
        self._waiting: deque[bytes] = deque()
        self._held = 0
        self._more = asyncio.Event()
        self._over = self._dropped = False  # there is no more; nothing more is written
        self._written = 0
        self._news = asyncio.Event()
        self._tasks = Tasks("relayed")

    async def serve(self, response: Response, start: Message) -> None:
        """Write what the owner tells, until either has had enough."""
        self._silence = float(response.header(SILENCE))
        self._heard = boottime()
        await self._send(start)
        work = self._read(response), self._write(), self._watch()
        tasks = [self._tasks.start(one, name="relay") for one in work]
        try:
            await asyncio.wait(tasks[1:], return_when=asyncio.FIRST_COMPLETED)
            if not self._paused():
                await self._send(_body(b"", more=False))
        finally:
            self.drop()

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _read(self, response: Response) -> None:
        """From the owner, however slow who watches is; but not beyond measure."""
        rest = b""
        try:
            while self._held < _HELD:
                async with asyncio.timeout(self._silence):
                    part = await response.part()
                if not part:
                    self._end()
                    return
                if not self._is_fresh():
                    break
                self._heard = boottime()
                rest = self._taken(rest + part)
        except (Unanswered, TimeoutError):
            pass
        self.drop()

    def _taken(self, data: bytes) -> bytes:
        """The pieces that are there whole; what is left of it."""
        at = 0
        while len(data) - at >= _WIDTH:
            end = at + _WIDTH + int.from_bytes(data[at : at + _WIDTH])
            if end > len(data):
                break
            if piece := data[at + _WIDTH : end]:
                self._waiting.append(piece)
                self._held += len(piece)
            at = end
        self._more.set()
        return data[at:]

    def _end(self) -> None:
        self._over = True
        self._more.set()

    async def _write(self) -> None:
        while not self._dropped:
            if not self._waiting:
                if self._over:
                    return
                self._more.clear()
                await self._more.wait()
                continue
            while self._paused():
                await self._send(_body(b""))  # returns when there is room: the next step writes
            if self._dropped or not self._is_fresh():
                return
            piece = self._waiting.popleft()
            sending = self._send(_body(piece))
            self._held -= len(piece)
            self._written += len(piece)
            await sending
            self._news.set()

    def _is_fresh(self) -> bool:
        """Whether the owner has been heard of lately."""
        return boottime() - self._heard < self._silence

    async def left(self, upto: int) -> None:
        """Return when so many bytes have been written, or none ever will be again."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_MOMENT):
                while self._written < upto and not self._dropped:
                    self._news.clear()
                    await self._news.wait()
        if self._written < upto:
            self.drop()

    def drop(self) -> None:
        """Write nothing more: who watches comes back, and is shown how it stands."""
        self._dropped = True
        self._more.set()
        self._news.set()
        self._tasks.cancel()


async def _received(receive: Receive) -> Message:
    return await receive()


async def _set(event: asyncio.Event) -> None:
    await event.wait()


def _body(body: bytes, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": more}
