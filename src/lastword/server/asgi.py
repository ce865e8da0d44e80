"""The app: routes, and at each of them who may ask and what becomes of errors."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from functools import partial
from typing import cast

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from lastword.agent.permission import Questions
from lastword.errors import LastwordError
from lastword.runtime.runtime import Runtime
from lastword.server import pages
from lastword.server.desk import ApiRequest, Reply, ServerState
from lastword.server.front import LOOPBACK, Front, WhoAsks, must_have_room, refuse
from lastword.server.limits import ServerLimits, may_have_right_of_way
from lastword.server.openapi import document
from lastword.server.operation import Handler, Operation, Stream
from lastword.server.operations import OPERATIONS
from lastword.server.pieces import in_pieces
from lastword.server.problems import Trouble, trouble_of
from lastword.server.shapes import encode
from lastword.server.who import NOBODY, ApiToken, Keys, Who

log = logging.getLogger("lastword")


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
    paths: dict[str, dict[str, Operation]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = operation
    # a fixed word in a path comes before a name
    ordered = sorted(paths, key=lambda path: (path.count("{"), path))
    found = [Route(path, _Endpoint(desk, paths[path])) for path in ordered]
    told = encode(document())
    found += [
        Route("/v1/openapi.json", partial(pages.document, told)),
        *pages.ROUTES,
    ]
    router = Router(found, redirect_slashes=False, default=_nothing_here)
    return Front(router, hosts=hosts, keys=desk.keys, who=who)


async def _nothing_here(scope: Scope, receive: Receive, send: Send) -> None:
    del scope, receive
    await refuse(Trouble("not-found", "there is nothing at this path"), send)


class _Endpoint:
    """All that can be asked at one path."""

    def __init__(self, desk: ServerState, operations: dict[str, Operation]) -> None:
        self._desk = desk
        self._operations = operations
        self._first = {method: one.first for method, one in operations.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            try:
                await self._answer(scope, receive, send)
            except LastwordError as error:
                who = cast("Who | None", scope["lastword.who"])
                parts: dict[str, str] = scope.get("path_params", {})
                space = who.space if who else ""
                raise trouble_of(error, space, parts.get("session", "")) from error
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
        if operation.sends:
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
            answer = await cast("Handler", operation.handler)(asked)
        await _give(answer, send)


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
            "say who asks, with `Authorization: Bearer TOKEN`; the page does it for who has opened "
            "the link that the server printed, or has typed a token there",
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
