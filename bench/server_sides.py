"""One side of a comparison, as a server in a process of its own: lastword, or something bare.

It is told what to do by lines on its input, answers each with a line, and ends with that input.
All of them have the same protocol below them, and publish the same events at the same pace.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bench.server_client import END, HELLO, SESSION, WORD, answer
from lastword.cli.serve import search_rarely
from lastword.runtime.run import Engine, Run
from lastword.runtime.runtime import Runtime
from lastword.server.asgi import LOOPBACK
from lastword.server.change_wire import Changes, GrewOut
from lastword.server.desk import ServerState
from lastword.server.limits import ServerLimits
from lastword.server.protocol import protocol
from lastword.server.serve import listen, serving
from lastword.server.shapes import encode

SSE = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store"}
LIMITS = ServerLimits(connections=8192, requests=2048, watchers=4096, all_watchers=4096)

Say: TypeAlias = Callable[[str], Awaitable[object]]
Go: TypeAlias = Callable[[int, float], Awaitable[object]]
"""Publish so many events, a pause apart."""
Made: TypeAlias = AbstractAsyncContextManager[tuple[int, Go]]
"""A server, and what it is to do when it is told to go; the number is its port."""


async def paced(count: int, pause: float, say: Say) -> None:
    """So many words, with a pause before each; the last says that it is."""
    for number in range(1, count + 1):
        await asyncio.sleep(pause)
        await say(WORD if number < count else END)


# lastword


def told(message: str) -> tuple[int, float]:
    count, pause = message.split()
    return int(count), float(pause)


async def speaker(run: Run) -> None:
    """Publishes what its message says."""
    await paced(*told(run.message.text), run.emit)


async def nothing(_: Run) -> None:
    return


@asynccontextmanager
async def ours(engine: Engine, store: str, sessions: int = 1) -> AsyncGenerator[tuple[int, Go]]:
    """A runtime behind the server that `lastword serve` has; going, each session has a run."""
    listening = listen("127.0.0.1", 0)
    async with Runtime(engine, store=store) as runtime:
        desk = ServerState(runtime, None, None, LIMITS, "bench")
        names = [SESSION] if sessions == 1 else [f"{SESSION}-{n}" for n in range(sessions)]

        async def go(count: int, pause: float) -> None:
            words = f"{count} {pause}"
            await asyncio.gather(*(runtime.session(name).send(words) for name in names))

        async with serving(desk, listening, hosts=LOOPBACK):
            yield listening.getsockname()[1], go


# bare


def _nobody(scope: Scope) -> None:
    """Who asks an app alone is not known."""


@asynccontextmanager
async def bare(app: ASGIApp, go: Go) -> AsyncGenerator[tuple[int, Go]]:
    """An app alone, over the same protocol and the same settings."""
    config = uvicorn.Config(
        app,
        http=protocol(LIMITS, _nobody),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    server, listening = uvicorn.Server(config), listen("127.0.0.1", 0)
    serve = asyncio.ensure_future(server.serve([listening]))
    try:
        yield listening.getsockname()[1], go
    finally:
        server.should_exit = server.force_exit = True
        await serve


class Board:
    """What bare sides publish on: an event is encoded once, and each watcher has a queue."""

    def __init__(self) -> None:
        self.queues: set[asyncio.Queue[bytes]] = set()
        self._number = 0

    async def go(self, count: int, pause: float) -> None:
        await paced(count, pause, self._say)

    async def _say(self, text: str) -> None:
        """The same bytes that lastword would have sent."""
        self._number += 1
        id_ = f"0123456789ab-{self._number}"
        at = asyncio.get_running_loop().time()
        grew = GrewOut(f"{SESSION}#1", 0, text, "text", 1.7e9 + at, live=True)
        event = Changes(id_, 1, 1.7e9 + at, [grew])
        frame = b"id: %b\ndata: %b\n\n" % (id_.encode(), encode(event))
        for queue in self.queues:
            queue.put_nowait(frame)


def starlette_streams() -> Made:
    board = Board()

    async def frames() -> AsyncGenerator[bytes]:
        queue = asyncio.Queue[bytes]()
        board.queues.add(queue)
        try:
            yield HELLO
            while True:
                yield await queue.get()
        finally:
            board.queues.discard(queue)

    async def events(_: Request) -> StreamingResponse:
        return StreamingResponse(frames(), headers=SSE)

    app = Starlette(routes=[Route("/v1/sessions/{session}/events", events)])
    return bare(app, board.go)


def raw_streams() -> Made:
    """As little as there can be: it does not even notice that a watcher has left."""
    board = Board()
    headers = [(name.encode(), value.encode()) for name, value in SSE.items()]

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive
        queue = asyncio.Queue[bytes]()
        board.queues.add(queue)
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": HELLO, "more_body": True})
        while True:
            body = await queue.get()
            await send({"type": "http.response.body", "body": body, "more_body": True})

    return bare(app, board.go)


def starlette_file(path: str) -> Made:
    """Takes messages, each of which is on the disk when it is answered, and does no more."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def append(line: bytes) -> None:
        os.write(file, line)
        os.fdatasync(file)

    async def messages(request: Request) -> JSONResponse:
        said = await request.json()
        line = json.dumps({"session": request.path_params["session"], "text": said["text"]})
        await run_in_threadpool(append, line.encode() + b"\n")
        return JSONResponse({"accepted": True}, 202)

    async def go(count: int, pause: float) -> None:
        raise NotImplementedError

    route = Route("/v1/sessions/{session}/messages", messages, methods=["POST"])
    return bare(Starlette(routes=[route]), go)


SIDES: dict[str, Callable[[str], Made]] = {
    "lastword-streams": lambda _: ours(speaker, "memory:"),
    "starlette-streams": lambda _: starlette_streams(),
    "raw-streams": lambda _: raw_streams(),
    "lastword-messages": lambda folder: ours(nothing, f"sqlite:{folder}/messages.db"),
    "starlette-messages": lambda folder: starlette_file(f"{folder}/messages.txt"),
    "lastword-storm": lambda folder: ours(speaker, f"sqlite:{folder}/storm.db", 1000),
}


# a process


async def obey(made: Made) -> None:
    """Do what is said on the input until it ends."""
    async with made as (port, go):
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        gc.collect()
        search_rarely()
        answer(port=port)
        going = set[asyncio.Future[object]]()
        while line := (await reader.readline()).decode().strip():
            if line == "measure":
                answer(cpu=cpu(), memory=resident())
            else:
                going.add(asyncio.ensure_future(go(*told(line))))
                answer(going=True)


def cpu() -> float:
    """Seconds that this process has had of a core."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident() -> float:
    """KiB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return float(status.partition("VmRSS:")[2].split()[0])


if __name__ == "__main__":
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(obey(SIDES[sys.argv[1]](sys.argv[2])))
