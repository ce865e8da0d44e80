"""The page, and the link that opens it."""

from __future__ import annotations

import hashlib
from functools import cache, partial
from importlib.resources import files
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lastword.server.desk import Desk

_KINDS = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}
_USED = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>lastword</title>
<link rel="stylesheet" href="../assets/style.css"><link rel="stylesheet" href="../assets/used.css">
<main class="used"><h1>This link has been used</h1>
<p>A link opens the page once. <code>lastword link</code> prints another, and so does lastword
itself when you press Enter where it runs.</p></main></html>"""
_LASTS = 30 * 24 * 3600


class _File(NamedTuple):
    body: bytes
    kind: str
    mark: str


@cache
def _page() -> dict[str, _File]:
    found = dict[str, _File]()
    for file in (files("lastword.server") / "page").iterdir():
        kind = _KINDS.get(file.name.rpartition(".")[2])
        if kind and file.is_file():
            body = file.read_bytes()
            found[file.name] = _File(body, kind, f'"{hashlib.sha256(body).hexdigest()[:16]}"')
    return found


def routes(desk: Desk, cookie: str) -> list[Route]:
    """Where the page is, with all it consists of."""
    found = [Route("/", _index), Route("/assets/{name}", _asset)]
    if desk.keys:
        found.append(Route("/open/{code}", partial(_open, desk, cookie)))
    return found


async def _index(request: Request) -> Response:
    return _file(request, "index.html")


async def _asset(request: Request) -> Response:
    return _file(request, str(request.path_params["name"]))


def _file(request: Request, name: str) -> Response:
    found = _page().get(name)
    if found is None:
        return Response("there is nothing here\n", 404, media_type="text/plain")
    headers = {"etag": found.mark, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == found.mark:
        return Response(status_code=304, headers=headers)
    return Response(found.body, headers={**headers, "content-type": found.kind})


async def _open(desk: Desk, cookie: str, request: Request) -> Response:
    """A link is used up by a person's click, not by a program that looks ahead."""
    headers, private = request.headers, {"cache-control": "no-store"}
    ahead = "prefetch" in headers.get("sec-purpose", headers.get("purpose", ""))
    if ahead or request.method == "HEAD":
        return Response(status_code=503, headers=private)
    signed = desk.keys and desk.keys.open(str(request.path_params["code"]))
    root = f"{request.scope.get('root_path', '')}/"
    if not signed and request.scope["lastword.who"]:  # who is in already goes in
        return Response(status_code=303, headers={"location": root, **private})
    if not signed:
        return Response(_USED, 403, media_type="text/html", headers=private)
    answer = Response(status_code=303, headers={"location": root, "cache-control": "no-store"})
    secure = request.url.scheme == "https"
    answer.set_cookie(
        cookie, signed, max_age=_LASTS, path=root, secure=secure, httponly=True, samesite="strict"
    )
    return answer


async def document(told: bytes, request: Request) -> Response:
    """The OpenAPI document."""
    del request
    return Response(told, media_type="application/json")
