"""A client of bytes: it says exactly what it is told to, and hears exactly what is answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from lastword import Engine, Runtime
from lastword.agent.permission import Questions
from lastword.server.asgi import LOOPBACK
from lastword.server.desk import ServerState
from lastword.server.limits import ServerLimits
from lastword.server.serve import listen, serving
from lastword.server.who import ApiToken, Keys
from tests.server.hearing import Hearing

SECRET = "a token that is long enough"  # noqa: S105 - of a server that lives for one test


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def problem(self) -> str:
        """What kind of problem it is; it has all that one has."""
        told = self.json
        assert self.headers["content-type"] == "application/problem+json"
        assert {"type", "title", "status", "detail", "id"} <= told.keys()
        assert told["status"] == self.status
        return str(told["type"]).removeprefix("urn:lastword:problem:")


@dataclass
class Client:
    """Asks one server, with a connection for each request."""

    port: int
    token: str | None = SECRET
    headers: dict[str, str] = field(default_factory=dict[str, str])

    def as_(self, token: str | None) -> Client:
        """The same server, asked by somebody else."""
        return Client(self.port, token, self.headers)

    async def get(self, path: str, **headers: str) -> Answer:
        return await self.ask("GET", path, headers=headers)

    async def post(self, path: str, told: object = None, **headers: str) -> Answer:
        body = b"" if told is None else json.dumps(told).encode()
        return await self.ask("POST", path, body, headers=headers)

    async def send(self, session: str, text: str, **more: object) -> Answer:
        return await self.post(f"/v1/sessions/{session}/messages", {"text": text, **more})

    async def stop(self, session: str, query: str = "", **told: object) -> Any:
        answer = await self.post(f"/v1/sessions/{session}/stop{query}", told)
        assert answer.status == 200, answer
        return answer.json["receipt"]

    async def ask(
        self, method: str, path: str, body: bytes = b"", *, headers: Mapping[str, str] | None = None
    ) -> Answer:
        reader, writer = await self.open()
        try:
            writer.write(self.request(method, path, body, headers or {}))
            return await read_answer(reader)
        finally:
            writer.close()

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection on which nothing was said yet."""
        return await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 24)

    def request(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> bytes:
        """A request, as bytes."""
        all_ = {"host": f"127.0.0.1:{self.port}", "connection": "close"} | self.headers
        if self.token is not None:
            all_["authorization"] = f"Bearer {self.token}"
        if body:
            all_ |= {"content-type": "application/json", "content-length": str(len(body))}
        all_ |= {name.replace("_", "-"): value for name, value in (headers or {}).items()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in all_.items())
        return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body

    @asynccontextmanager
    async def events(
        self, session: str, query: str = "", *, leaving: str = "", **headers: str
    ) -> AsyncGenerator[AsyncIterator[Any]]:
        """The events of a session, as they come; `leaving` is what to do when this ends."""
        reader, writer = await self.open()
        path = f"/v1/sessions/{session}/events"
        asked = ("POST", f"{path}?on_disconnect={leaving}") if leaving else ("GET", path + query)
        writer.write(self.request(*asked, b"", headers))
        status, told = await read_head(reader)
        assert status == 200, await reader.read()
        assert told["content-type"].startswith("text/event-stream")
        try:
            yield events_in(reader)
        finally:
            writer.close()


async def read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    """The status and the headers of an answer."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.rstrip().split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return int(first.split()[1]), {name.lower(): value.strip() for name, _, value in pairs}


async def read_answer(reader: asyncio.StreamReader) -> Answer:
    """A whole answer."""
    status, headers = await read_head(reader)
    if headers.get("transfer-encoding") == "chunked":
        body = b"".join([chunk async for chunk in _chunks(reader)])
    else:
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Answer(status, headers, body)


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while size := int(await reader.readline() or b"0", 16):
        yield (await reader.readexactly(size + 2))[:-2]


async def events_in(reader: asyncio.StreamReader) -> AsyncIterator[Any]:
    """What the events of an answer tell whose head has been read, one thing at a time."""
    hearing = Hearing()
    async for event in frames_in(reader):
        for told in hearing.of(event):
            yield told


async def frames_in(reader: asyncio.StreamReader) -> AsyncIterator[Any]:
    """Those events as they are."""
    rest = b""
    async for chunk in _chunks(reader):
        *whole, rest = (rest + chunk).split(b"\n\n")
        for frame in whole:
            pairs = (line.partition(b": ") for line in frame.split(b"\n"))
            lines = {name: value for name, _, value in pairs}
            if b"data" in lines:
                event = cast("dict[str, Any]", json.loads(lines[b"data"]))
                assert event["id"] == lines[b"id"].decode()
                yield event


async def upto(events: AsyncIterator[Any], kind: str) -> list[Any]:
    """The events up to, and with, the first of a kind."""
    seen: list[Any] = []
    async for event in events:
        seen.append(event)
        if event["kind"] == kind:
            return seen
    raise AssertionError(f"the stream ended without {kind}: {[e['kind'] for e in seen]}")


@asynccontextmanager
async def served(
    runtime: Runtime,
    *,
    questions: Questions | None = None,
    tokens: tuple[ApiToken, ...] = (ApiToken(SECRET),),
    limits: ServerLimits | None = None,
) -> AsyncGenerator[Client]:
    """A server of a runtime that is open, and a client of it."""
    listening = listen("127.0.0.1", 0)
    keys = Keys(tokens) if tokens else None
    desk = ServerState(runtime, questions, keys, limits or ServerLimits(), "an engine")
    async with serving(desk, listening, hosts=LOOPBACK):
        yield Client(listening.getsockname()[1])


@asynccontextmanager
async def serving_engine(engine: Engine, **settings: Any) -> AsyncGenerator[Client]:
    """A server of an engine, and a client of it."""
    async with Runtime(engine, **settings) as runtime, served(runtime) as client:
        yield client
