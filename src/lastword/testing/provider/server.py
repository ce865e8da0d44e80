"""The provider: a server on loopback that answers by a script, and keeps what it was asked.

It is as strict as the strictest of those it stands in for: a request that breaks a rule is
refused, takes nothing from the script, and is in `refused` with the reason. A breach of what is
only advice is taken. Both are in `offences`, by their codes.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar, cast

from lastword.runtime.tasks import Tasks, ended
from lastword.testing.provider.bell import Bell
from lastword.testing.provider.connection import Connection, Received
from lastword.testing.provider.exchange import Exchange
from lastword.testing.provider.formats import PATHS, models
from lastword.testing.provider.marks import Marks
from lastword.testing.provider.request import Request
from lastword.testing.provider.script import (
    Answer,
    Ending,
    Failure,
    Finish,
    Part,
    Reply,
    Say,
    Silence,
    reply,
)
from lastword.testing.provider.strict import Offence, first_refused, judge

Script: TypeAlias = Callable[[Request], Reply | Part | str]
_R = TypeVar("_R", bound=Reply)


class Provider:
    """A scripted language model over HTTP. Open it with `async with`."""

    def __init__(self, *, strict: bool = True, models: Sequence[str] = ("scripted",)) -> None:
        self.url = ""
        self.requests: list[Request] = []
        self.errors: list[Exception] = []  # what the function of a script raised
        self._strict = strict
        self._models = tuple(models)
        self._script: deque[Reply] = deque()
        self._always: Script | None = None
        self._seed = secrets.token_hex(8)  # ids are unlike those of any provider before
        self._bell = Bell()
        self._tasks = Tasks("provider", loud=True)
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connect, "127.0.0.1", 0)
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
        self._tasks.cancel()
        await ended(self._tasks.living, 60)
        for one in self._script:
            if isinstance(one, Answer):
                one.end()
        connections = list(self._connections)
        for connection in connections:
            connection.abort()
        for connection in connections:
            await connection.lost.wait()
        await self._server.wait_closed()
        if self.errors and error is None:
            raise self.errors[0]

    def say(self, *chunks: str, paced: bool = False, every: float = 0.0) -> Answer:
        """The next answer is this text."""
        return self.answer(Say(*chunks), paced=paced, every=every)

    def answer(
        self,
        *parts: Part | str,
        finish: Finish = "stop",
        paced: bool = False,
        every: float = 0.0,
    ) -> Answer:
        """The next answer has these parts; paced, each step waits for the test to let it go."""
        return self._next(Answer(*parts, finish=finish, paced=paced, every=every))

    def fail(
        self,
        status: int,
        message: str = "scripted to fail",
        *,
        retry_after: float | None = None,
        after: Sequence[Part | str] = (),
    ) -> Reply:
        """The next request fails: at once, or in the stream behind these parts."""
        failure = Failure(status, message, retry_after)
        return self._next(Answer(*after, ending=failure) if after else failure)

    def cut(self, *parts: Part | str, paced: bool = False, every: float = 0.0) -> Answer:
        """The next answer breaks off behind these parts: the connection is closed."""
        ending: Ending = "cut"
        return self._next(Answer(*parts, ending=ending, paced=paced, every=every))

    def hang(self) -> Silence:
        """The next request is never answered."""
        return self._next(Silence())

    def always(self, script: Script) -> None:
        """What is not scripted is answered by this function of the request."""
        self._always = script

    async def asked(self, n: int = 1) -> Request:
        """The n-th request, as soon as it is there."""
        await self._bell.until(lambda: len(self.requests) >= n)
        return self.requests[n - 1]

    @property
    def refused(self) -> list[Request]:
        """Those that broke a rule; each has its reason in `refused`."""
        return [request for request in self.requests if request.refused is not None]

    @property
    def offences(self) -> list[Offence]:
        """Every breach of a rule in what was asked, advice too, in order."""
        return [offence for request in self.requests for offence in request.offences]

    def _next(self, one: _R) -> _R:
        self._script.append(one)
        return one

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
            format=PATHS.get(path) if received.method == "POST" else None,
            when=asyncio.get_running_loop().time(),
        )
        self.requests.append(request)
        exchange = Exchange(connection, request, Marks(f"{self._seed} {request.number}"))
        self._tasks.start(self._serve(exchange), name=f"request {request.number}")
        self._bell.ring()

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
        if self._script:
            return self._script.popleft()
        if self._always is None:
            return Failure(400, f"nothing is scripted for request {request.number}")
        try:
            return reply(self._always(request))
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
