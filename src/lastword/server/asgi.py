"""The app: who may come in, what is asked there, and how everything that leaves is labelled.

A page of another site can make a person's browser ask here, and a name that somebody else controls
can be made to lead here. So a server answers only to names it knows, and only to pages of its own.
At each route it is asked whether who asks has the right to that, and what goes wrong is told.
"""

from __future__ import annotations

import ipaddress
import logging
import secrets
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import nullcontext, suppress
from functools import partial
from typing import cast
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lastword.agent.permission import Questions
from lastword.errors import LastwordError, OwnedElsewhere
from lastword.runtime.runtime import Runtime
from lastword.server import lines, pages
from lastword.server.desk import ApiRequest, Reply, ServerState
from lastword.server.forwarding import Forwarding, owned
from lastword.server.limits import (
    ServerLimits,
    in_pieces,
    may_have_right_of_way,
    must_have_room,
)
from lastword.server.neighbours import Neighbours
from lastword.server.openapi import document
from lastword.server.operation import Handler, Operation, Stream
from lastword.server.operations import OPERATIONS
from lastword.server.problems import ID, Trouble, mistake, refuse, trouble_of
from lastword.server.relaying import LEFT, Relaying
from lastword.server.shapes import encode
from lastword.server.vouching import HEADER
from lastword.server.who import NOBODY, PERSON, ApiToken, Keys, Who

log = logging.getLogger("lastword")
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
LABELS = [
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
]
_HIDDEN = (b"%2f", b"%5c", b"%00", b"//")  # in a path: what would be read in two ways
_HARMLESS = frozenset({"GET", "HEAD"})  # what a link on a page of another site may lead to
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
WhoAsks = Callable[[Scope], Who | str | None]


def app(
    runtime: Runtime,
    *,
    tokens: Iterable[ApiToken] = (),
    who: WhoAsks | None = None,
    hosts: Collection[str] | None = None,
    questions: Questions | None = None,
    limits: ServerLimits | None = None,
    agent: str = "",
) -> ASGIApp:
    """An ASGI app for the sessions of a runtime, to be mounted or served.

    With `tokens`, whoever has one may ask what it has the right to; or `who` says who asks, from
    the scope. Without either it answers on this machine only, and to anybody there. `hosts` are
    the names it answers to. `questions` are what runs ask a person before they call a tool.
    `limits` bound what clients may ask for. `agent` is what the page and `GET /v1/me` call the
    agent.
    """
    tokens = tuple(tokens)
    if hosts is None and not tokens and who is None:
        hosts = LOOPBACK
    desk = ServerState(
        runtime, questions, Keys(tokens) if tokens else None, limits or ServerLimits(), agent
    )
    return routes(desk, hosts=hosts, who=who)


def routes(
    desk: ServerState,
    *,
    hosts: Collection[str] | None = None,
    who: WhoAsks | None = None,
) -> Front:
    """The app of a desk."""
    desk.anybody = who is not None
    paths: dict[str, dict[str, Operation]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = operation
    forwarding = Forwarding(desk.neighbours) if desk.neighbours else None
    relaying = Relaying(forwarding) if forwarding else None
    # a fixed word in a path comes before a name
    ordered = sorted(paths, key=lambda path: (path.count("{"), path))
    found = [Route(path, _Endpoint(desk, paths[path], relaying)) for path in ordered]
    told = encode(document())
    found += [
        Route("/v1/openapi.json", partial(pages.document, told)),
        *pages.ROUTES,
    ]
    if relaying:
        found.append(Route(LEFT, partial(_left, relaying), methods=["POST"]))
    router = Router(found, redirect_slashes=False, default=_nothing_here)
    return Front(router, hosts=hosts, keys=desk.keys, who=who, neighbours=desk.neighbours)


async def _left(relaying: Relaying, request: Request) -> Response:
    """Another server asks whether what it told has left here."""
    await relaying.left(request)
    return Response()


async def _nothing_here(scope: Scope, receive: Receive, send: Send) -> None:
    del scope, receive
    await refuse(Trouble("not-found", "there is nothing at this path"), send)


class Front:
    """Around the routes."""

    def __init__(
        self,
        inner: ASGIApp,
        *,
        hosts: Collection[str] | None,
        keys: Keys | None,
        who: WhoAsks | None,
        neighbours: Neighbours | None = None,
    ) -> None:
        self._inner = inner
        self._neighbours = neighbours
        self._hosts = hosts
        self._keys = keys
        self._who = who

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, status, id_ = time.monotonic(), None, b""

        async def labelled(message: Message) -> None:
            nonlocal status, id_
            if message["type"] == "http.response.start":
                status, headers = message["status"], [*message.get("headers", []), *LABELS]
                told = next((value for name, value in headers if name == ID), b"")
                id_ = told or secrets.token_hex(8).encode()  # a problem has its own
                message["headers"] = headers if told else [*headers, (ID, id_)]
            await send(message)

        try:
            self._let_in(scope, Headers(scope=scope))
            await self._inner(scope, receive, labelled)
        except Trouble as trouble:
            await refuse(trouble, labelled)
        except Exception as error:  # noqa: BLE001 - its words may quote what somebody said
            trouble = mistake(error)
            if status is None:  # else nothing can be told any more, and the connection is ended
                await refuse(trouble, labelled)
        finally:
            if lines.log.isEnabledFor(logging.INFO):
                lines.answered(scope, status, id_.decode(), began)

    def whose(self, scope: Scope) -> Who | None:
        """Who asks, by a request's head."""
        return self._find(scope, Headers(scope=scope))

    def _let_in(self, scope: Scope, headers: Headers) -> None:
        self._must_be_for_us(scope, headers)
        if not may_have_right_of_way(scope["method"], scope["path"], headers):
            must_have_room(scope)
        self._say_who(scope, headers)

    def _must_be_for_us(self, scope: Scope, headers: Headers) -> None:
        path: bytes = scope.get("raw_path") or b""
        if any(hidden in path.lower() for hidden in _HIDDEN):
            raise Trouble("bad-request", "the path has an encoded or an empty part in it")
        try:
            unquote_to_bytes(path).decode()
        except UnicodeDecodeError:  # or many names would be one
            raise Trouble("bad-request", "the path is not UTF-8") from None
        told = headers.getlist("host")
        if len(told) != 1:
            raise Trouble("bad-request", "a request names its host, once")
        if self._hosts is not None and not self._known(_name(told[0])):
            raise Trouble(
                "wrong-host",
                f"this server is not known as {told[0][:100]!r}; ask for it by a name that it "
                "was given",
            )
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != told[0]:
            raise Trouble("wrong-origin", f"a page of {origin[:100]!r} may not ask this server")
        site, mode = headers.get("sec-fetch-site"), headers.get("sec-fetch-mode")
        linked = mode == "navigate" and scope["method"] in _HARMLESS
        if site not in {None, "same-origin", "none"} and not linked:
            raise Trouble("wrong-origin", "a page of another site may not ask this server")

    def _known(self, name: str) -> bool:
        hosts = self._hosts or ()
        if name in hosts:
            return True
        if "*" not in hosts:
            return False
        with suppress(ValueError):  # an address is nobody's name
            return bool(ipaddress.ip_address(name))
        return False

    def _say_who(self, scope: Scope, headers: Headers) -> None:
        """For the routes, unless it had to be known earlier. A `who` that fails is a mistake only
        where somebody has to be known."""
        if "lastword.who" in scope:
            return
        scope["lastword.who"] = None
        try:
            scope["lastword.who"] = self._find(scope, headers)
        except Exception as error:  # noqa: BLE001 - somebody else's function
            scope["lastword.unknown"] = mistake(error)

    def _find(self, scope: Scope, headers: Headers) -> Who | None:
        if self._neighbours and (told := headers.get(HEADER)) is not None:
            return self._neighbours.whose(scope, told)
        if self._who is not None:
            return _known_as(self._who(scope))
        if self._keys is None:
            return PERSON
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return self._keys.whose(token.strip()) if scheme.lower() == "bearer" else None


def _known_as(found: object) -> Who | None:
    """What a `who` says: who has no name is nobody."""
    if isinstance(found, str):
        return Who.named(found) if found.strip() else None
    if found is None or isinstance(found, Who):
        return found if found and found.principal.strip() else None
    raise TypeError(f"who= gives a Who, a name or None, and not a {type(found).__name__}")


def _name(host: str) -> str:
    """Without the port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].rstrip(".").lower()


class _Endpoint:
    """All that can be asked at one path."""

    def __init__(
        self, desk: ServerState, operations: dict[str, Operation], relaying: Relaying | None
    ) -> None:
        self._desk = desk
        self._relaying = relaying
        self._operations = operations
        self._first = {method: one.first for method, one in operations.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            try:
                await self._answer(scope, receive, send)
            except OwnedElsewhere as error:
                if self._relaying:
                    raise owned(error, scope["path_params"].get("session", "")) from error
                raise trouble_of(error) from error
            except LastwordError as error:
                who = cast("Who | None", scope["lastword.who"])
                raise trouble_of(error, who.space if who else "") from error
            except ValueError as error:
                raise Trouble("bad-request", str(error)) from error
            except RecursionError as error:
                raise Trouble("bad-request", "the body is nested too deep") from error
        except Trouble as trouble:
            if trouble.slug == "undurable":
                cause = type(trouble.__cause__).__name__
                log.error("trouble id=%s type=%s error=%s", trouble.id, trouble.slug, cause)  # noqa: TRY400
            await refuse(trouble, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        operation = self._operations.get(scope["method"])
        if operation is None:
            able = ", ".join(sorted(self._operations))
            raise Trouble(
                "method-not-allowed",
                f"{scope['method']} cannot be done here; {able} can",
                headers={"allow": able},
            )
        if not operation.open:
            _must_be_a_program(scope)
        who = cast("Who | None", scope["lastword.who"])
        if who is None and not operation.open and "lastword.unknown" in scope:
            raise cast("Trouble", scope["lastword.unknown"])
        asked = ApiRequest(self._desk, _allowed(operation, who), Request(scope, receive))
        if self._relaying:
            await self._relaying.forwarding.must_be_as_signed(asked, scope)
        tracing = self._desk.runtime.tracing
        with tracing.arriving(asked.request.headers) if tracing else nullcontext():
            await self._do(operation, asked, scope, receive, send)

    async def _do(
        self, operation: Operation, asked: ApiRequest, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if operation.sends:
            relaying = self._relaying
            if relaying and await relaying.streamed(operation, asked, scope, receive, send):
                return
            await cast("Stream", operation.handler)(asked, scope, receive, send)
            return
        first = self._first[operation.method]
        if operation.takes:
            method, path, headers = scope["method"], scope["path"], asked.request.headers
            await asked.arrive(first=first or may_have_right_of_way(method, path, headers))
            first = first or bool(operation.may_stop and await operation.may_stop(asked))
        if not first:
            must_have_room(scope)
        with self._desk.shares.request(asked.who.principal, first=first):
            stops = first and scope["method"] == "POST"
            elsewhere = partial(self._elsewhere, operation, asked, scope, send, stops=stops)
            if await elsewhere():
                return
            try:
                answer = await cast("Handler", operation.handler)(asked)
            except OwnedElsewhere:  # another was quicker to take what nobody had
                if await elsewhere():
                    return
                raise
        await _give(answer, send)

    async def _elsewhere(
        self, operation: Operation, asked: ApiRequest, scope: Scope, send: Send, *, stops: bool
    ) -> bool:
        """Whether another server has the session, and has answered."""
        forwarding = self._relaying.forwarding if self._relaying else None
        if forwarding is None:
            return False
        return await forwarding.answered(operation, asked, scope, send, stops=stops)


def _must_be_a_program(scope: Scope) -> None:
    """A browser says what it wants something for. What a script asks for has no destination; a
    link, a form, a frame or a picture has one, and anybody's page can have those."""
    headers = Headers(scope=scope)
    shown = headers.get("sec-fetch-dest", "empty") != "empty"
    if shown or headers.get("sec-fetch-mode") == "navigate":
        raise Trouble(
            "wrong-origin", "this is for programs, and no page or frame is opened of it; / is one"
        )


def _allowed(operation: Operation, who: Who | None) -> Who:
    if operation.open:
        return who or NOBODY
    if who is None:
        raise Trouble(
            "unauthorized",
            "say who asks, with `Authorization: Bearer TOKEN`; `lastword token` prints one for a "
            "server that you started. What is in the link to the page is for a browser, once",
            headers={"www-authenticate": "Bearer"},
        )
    if operation.right and operation.right not in who.rights:
        raise Trouble("forbidden", f"{who.name} has no right to {operation.right} here")
    return who


async def _give(answer: Reply, send: Send) -> None:
    headers = [
        (b"content-type", answer.media.encode()),
        (b"content-length", str(len(answer.body)).encode()),
        (b"cache-control", b"no-store"),
        *((name.encode(), value.encode()) for name, value in answer.headers.items()),
    ]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    for piece in in_pieces(answer.body):
        await send(piece)
