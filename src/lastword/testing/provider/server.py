"""The provider: a server on loopback that answers by a script, and keeps what it was asked.

It is as strict as the strictest of those it stands in for: a request that breaks a rule is
refused, takes nothing from the script, and is in `refused` with the reason. A breach of what is
only advice is taken. Both are in `offences`, by their codes.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self, cast

from lastword.testing.provider.bell import Bell
from lastword.testing.provider.connection import Connection, Received
from lastword.testing.provider.exchange import Exchange
from lastword.testing.provider.formats import format_of, models
from lastword.testing.provider.marks import Marks
from lastword.testing.provider.request import Request
from lastword.testing.provider.script import Failure, Reply
from lastword.testing.provider.scripted import About, Conversation, Scripted
from lastword.testing.provider.strict import Offence, first_refused, judge


class Provider(Scripted):
    """A scripted language model over HTTP. Open it with `async with`.

    What it is told to answer is for every request that is not a conversation's.
    """

    def __init__(
        self, *, strict: bool = True, models: Sequence[str] = ("scripted",), port: int = 0
    ) -> None:
        super().__init__(Bell())
        self.url = ""
        self.errors: list[BaseException] = []  # what the function of a script raised, and our own
        self._strict = strict
        self._models = tuple(models)
        self._port = port  # any that is free, if none is said
        self._conversations: list[Conversation] = []
        self._seed = secrets.token_hex(8)  # ids are unlike those of any provider before
        self._serving: set[asyncio.Task[None]] = set()
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connect, "127.0.0.1", self._port)
        host, port = self._server.sockets[0].getsockname()
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is None:
            return
        self._server.close()
        serving = list(self._serving)
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        for scripted in (self, *self._conversations):
            scripted.end()
        connections = list(self._connections)
        for connection in connections:
            connection.abort()
        for connection in connections:
            await connection.lost.wait()
        await self._server.wait_closed()
        if self.errors and error is None:
            raise self.errors[0]

    def conversation(self, about: About) -> Conversation:
        """A script of its own for requests about something; the first that fits is the one."""
        made = Conversation(about, self._bell)
        self._conversations.append(made)
        return made

    @property
    def refused(self) -> list[Request]:
        """Those that broke a rule; each has its reason in `refused`."""
        return [request for request in self.requests if request.refused is not None]

    @property
    def offences(self) -> list[Offence]:
        """Every breach of a rule in what was asked, advice too, in order."""
        return [offence for request in self.requests for offence in request.offences]

    def _connect(self) -> Connection:
        connection = Connection(self._received, self._connections.discard)
        self._connections.add(connection)
        return connection

    def _received(self, connection: Connection, received: Received) -> None:
        path = received.target.partition("?")[0]
        request = Request(
            number=len(self.requests) + 1,
            method=received.method,
            path=path,
            headers=received.headers,
            body=_decoded(received.body),
            format=format_of(path) if received.method == "POST" else None,
            when=asyncio.get_running_loop().time(),
        )
        self.requests.append(request)
        exchange = Exchange(connection, request, Marks(f"{self._seed} {request.number}"))
        self._start(exchange)
        self._bell.ring()

    def _start(self, exchange: Exchange) -> None:
        # not by the loop's factory: an eager one would serve it before it is known of
        loop, name = asyncio.get_running_loop(), f"provider request {exchange.request.number}"
        task = asyncio.Task(self._serve(exchange), loop=loop, name=name)
        self._serving.add(task)
        task.add_done_callback(self._served)

    def _served(self, task: asyncio.Task[None]) -> None:
        self._serving.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self.errors.append(error)

    async def _serve(self, exchange: Exchange) -> None:
        request = exchange.request
        if request.format is None:
            if (request.method, request.path) == ("GET", "/v1/models"):
                exchange.give(200, models(self._models))
            else:
                exchange.fail(Failure(404, f"there is no {request.method} {request.path} here"))
            return
        if self._strict:
            request.offences = judge(request.format, request.body)
        if refused := first_refused(request.offences):
            request.refused = refused.message
            rule = refused.rule
            exchange.fail(Failure(rule.status, refused.message, param=refused.at, code=rule.kind))
        else:
            await exchange.play(self._reply(request))

    def _reply(self, request: Request) -> Reply:
        try:
            own = [one for one in self._conversations if one.has(request)]
            return (own[0] if own else self).reply_to(request)
        except Exception as error:  # noqa: BLE001 - raised when the provider closes
            self.errors.append(error)
            return Failure(400, f"the script failed on request {request.number}: {error!r}")


def _decoded(body: bytes) -> dict[str, Any]:
    """The body, if it is a JSON object; what is none lacks everything."""
    try:
        decoded: Any = json.loads(body)
    except ValueError:
        return {}
    return cast("dict[str, Any]", decoded) if isinstance(decoded, dict) else {}
