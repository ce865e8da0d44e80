"""N6. A stream that leaves by another server: a stop waits for it, and who is not heard of tells no
more."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lastword.server.calling import Unreachable
from lastword.server.relay import SILENCE, RelayedStream, RelayedWatcher

HEADERS = [(b"content-type", b"text/event-stream")]
START = {"type": "http.response.start", "status": 200, "headers": HEADERS}


class Line:
    """An answer of an owner's, as it comes."""

    def __init__(self, silence: float) -> None:
        self._silence = silence
        self._parts: asyncio.Queue[bytes] = asyncio.Queue()

    def header(self, name: bytes) -> str:
        return f"{self._silence}" if name == SILENCE else ""

    async def part(self) -> bytes:
        return await self._parts.get()

    def tell(self, text: bytes) -> None:
        self._parts.put_nowait(len(text).to_bytes(4) + text)


class Person:
    """Who watches; their connection may have no room for more."""

    def __init__(self) -> None:
        self.read = b""
        self.room = asyncio.Event()
        self.room.set()
        self.news = asyncio.Event()
        self.left = asyncio.Event()

    def paused(self) -> bool:
        return not self.room.is_set()

    async def send(self, message: Any) -> None:
        await self.room.wait()
        self.read += message.get("body", b"")
        self.news.set()

    async def receive(self) -> Any:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def has_read(self, text: bytes) -> None:
        while text not in self.read:
            self.news.clear()
            await self.news.wait()


def watching(person: Person, line: Line) -> tuple[RelayedWatcher, asyncio.Task[None]]:
    watcher = RelayedWatcher(person.receive, person.send, person.paused)
    return watcher, asyncio.create_task(watcher.serve(line, START))  # pyright: ignore[reportArgumentType] - as much of one as is asked


@pytest.mark.scenario("N6")
async def test_what_has_left_is_known_and_what_comes_later_still_leaves() -> None:
    person, line = Person(), Line(60.0)
    watcher, serving = watching(person, line)
    line.tell(b"one ")
    await watcher.left(4)
    assert person.read == b"one "
    line.tell(b"two")
    await person.has_read(b"two")
    person.left.set()
    await serving


@pytest.mark.scenario("N6")
async def test_what_has_not_left_when_it_is_asked_for_never_does() -> None:
    person, line = Person(), Line(60.0)
    watcher, serving = watching(person, line)
    line.tell(b"one ")
    await person.has_read(b"one ")
    person.room.clear()
    line.tell(b"and an older word")
    await watcher.left(21)
    person.room.set()
    await serving
    assert person.read == b"one "


@pytest.mark.scenario("N6")
async def test_nothing_leaves_once_the_owner_was_not_heard_of() -> None:
    person, line = Person(), Line(0.05)
    _, serving = watching(person, line)
    line.tell(b"one ")
    await person.has_read(b"one ")
    person.room.clear()
    line.tell(b"and an older word")
    await asyncio.wait([serving], timeout=0.2)  # the owner's silence is the point
    person.room.set()
    await serving
    assert person.read == b"one "


@pytest.mark.scenario("N6")
async def test_an_owner_that_cannot_ask_is_silent_and_waits() -> None:
    told, began = list[bytes](), asyncio.get_running_loop().time()

    async def send(message: Any) -> None:
        told.append(message.get("body", b""))

    async def ask(_: int) -> None:
        raise Unreachable

    stream = RelayedStream("to watchers at B", 0.1, Person().receive, send, ask)
    await stream.send(START)
    await stream.send({"type": "http.response.body", "body": b"word", "more_body": True})
    await stream.left()
    took, heard = asyncio.get_running_loop().time() - began, len(told)
    await stream.send({"type": "http.response.body", "body": b"more", "more_body": True})
    assert took >= 0.1
    assert len(told) == heard
    assert (await stream.receive())["type"] == "http.disconnect"
