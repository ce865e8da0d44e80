"""The page: files, the same for everybody. Who opens it is found out by its scripts."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_KINDS = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}


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


async def document(told: bytes, request: Request) -> Response:
    """The OpenAPI document."""
    del request
    return Response(told, media_type="application/json")


# where the page is, with all it consists of
ROUTES = (Route("/", _index), Route("/assets/{name}", _asset))
