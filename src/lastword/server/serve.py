"""A server from its first request to its last: when it ends, streams end and runs are stopped."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Collection, Generator
from contextlib import asynccontextmanager, contextmanager, suppress

import uvicorn

from lastword.runtime.tasks import Tasks
from lastword.server.asgi import routes
from lastword.server.desk import ServerState
from lastword.server.neighbours import Neighbours
from lastword.server.protocol import protocol

_WAITING = 2048  # connections that the kernel keeps until they are taken
AT_ONCE = 64  # of them that are taken in one step: a stop is not to wait for thousands
_LAST_WORDS = 2  # seconds that answers under way have when all runs are stopped
_LOOK = 0.1  # seconds between looks at whether something goes on
REREAD = signal.SIGUSR1  # not SIGHUP, which comes when a terminal is closed
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Server(uvicorn.Server):
    """It ends when it is told to, not by a signal: runs are stopped first."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(_WAITING)  # what asyncio takes in one step it made the kernel's limit, too
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def listen(host: str, port: int, *, otherwise: bool = False) -> socket.socket:
    """A socket that listens there; or, if somebody else does, and that is allowed, elsewhere."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_WAITING)
    except OSError as error:
        if not otherwise:
            raise OSError(f"cannot listen on {host}, port {port}: {error.strerror}") from error
        return socket.create_server((host, 0), family=family, backlog=_WAITING)


@asynccontextmanager
async def serving(
    desk: ServerState,
    listening: socket.socket,
    *,
    hosts: Collection[str] | None = None,
) -> AsyncGenerator[Callable[[], None]]:
    """Serve an opened runtime meanwhile; then end everything, in order.

    What is given hurries the end: nobody is waited for any more.
    """
    front = routes(desk, hosts=hosts)
    config = uvicorn.Config(
        front,
        http=protocol(desk.limits, front.whose),
        ws="none",
        lifespan="off",
        backlog=AT_ONCE,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # anybody on this machine could say them
        timeout_keep_alive=int(desk.limits.idle),
        timeout_graceful_shutdown=_LAST_WORDS,
    )
    server = _Server(config)
    tasks = Tasks()
    served = tasks.start(server.serve([listening]), name="server")
    waiting = tasks.start(server.ready.wait(), name="server is ready")
    looking = (
        tasks.start(desk.neighbours.live(desk.streams), name="look") if desk.neighbours else None
    )
    await asyncio.wait([served, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()

    def hurry() -> None:
        server.force_exit = True

    try:
        yield hurry
    finally:
        desk.closing = True  # no new message
        await desk.runtime.close()  # every run is stopped; who watches is told, and streams end
        if looking:
            looking.cancel()
        server.should_exit = True
        await served


async def leaving(desk: ServerState, neighbours: Neighbours, again: asyncio.Event) -> None:
    """Return when nothing goes on here any more, or it was told a second time. Others have at once
    what rests, and whoever spreads requests is told to send no more of them here."""
    desk.leaving = True
    neighbours.peers.leave()
    while not again.is_set():
        await desk.runtime.hand_over()
        if not any(one.busy or one.queue for one in desk.runtime.at_hand):
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_LOOK):
                await again.wait()


async def serve(
    desk: ServerState,
    listening: socket.socket,
    *,
    hosts: Collection[str] | None,
    ready: Callable[[], object],
    reread: Callable[[], object] = bool,
    drain: float = 0.0,
) -> None:
    """The same, until a signal comes; whoever sends two does not want to wait.

    Where other servers go on, what is going has so many seconds to end by itself. SIGUSR1 ends
    nothing: it is for `reread`.
    """
    told, again, loop = asyncio.Event(), asyncio.Event(), asyncio.get_running_loop()
    async with serving(desk, listening, hosts=hosts) as hurry:

        def hear() -> None:
            if told.is_set() and (again.is_set() or not desk.leaving):
                hurry()
            elif told.is_set():
                again.set()
            told.set()

        for number in _SIGNALS:
            loop.add_signal_handler(number, hear)
        loop.add_signal_handler(REREAD, reread)
        ready()
        await told.wait()
        if desk.neighbours and drain:
            with suppress(TimeoutError):
                async with asyncio.timeout(drain):
                    await leaving(desk, desk.neighbours, again)
            again.set()
    for number in (*_SIGNALS, REREAD):
        loop.remove_signal_handler(number)
