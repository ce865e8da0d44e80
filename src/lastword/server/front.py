"""The front door: who may come in, and how everything that leaves is labelled.

A page of another site can make a person's browser ask here, and a name that somebody else controls
can be made to lead here. So a server answers only to names it knows, and only to pages of its own.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Collection
from contextlib import suppress
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lastword.server.limits import may_have_right_of_way
from lastword.server.lines import ID, RequestLine
from lastword.server.problems import Trouble, mistake
from lastword.server.who import PERSON, Keys, Who

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


class Front:
    """Around the routes."""

    def __init__(
        self,
        inner: ASGIApp,
        *,
        hosts: Collection[str] | None,
        keys: Keys | None,
        who: WhoAsks | None,
    ) -> None:
        self._inner = inner
        self._hosts = hosts
        self._keys = keys
        self._who = who

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1000})
            return

        begun, line = False, RequestLine(scope)

        async def labelled(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = [*message.get("headers", []), *LABELS]
                message["headers"] = line.answered(message["status"], headers)
            await send(message)

        try:
            headers = Headers(scope=scope)
            self._must_be_for_us(scope, headers)
            _must_have_a_way(scope, headers)
            self._say_who(scope, headers)
            await self._inner(scope, receive, labelled)
        except Trouble as trouble:
            await refuse(trouble, labelled)
        except Exception as error:  # noqa: BLE001 - its words may quote what somebody said
            trouble = mistake(error)
            if not begun:  # else nothing can be told any more, and the connection is ended
                await refuse(trouble, labelled)
        finally:
            line.write()

    def whose(self, scope: Scope) -> Who | None:
        """Who asks, by a request's head."""
        return self._find(scope, Headers(scope=scope))

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


def _must_have_a_way(scope: Scope, headers: Headers) -> None:
    if not may_have_right_of_way(scope["method"], scope["path"], headers):
        must_have_room(scope)


def must_have_room(scope: Scope) -> None:
    """A connection beyond the limit is for what has right of way, and this has none."""
    extensions: dict[str, object] = scope.get("extensions") or {}
    if extensions.get("lastword.crowded"):
        raise Trouble(
            "too-many",
            "too many connections are open; try again soon",
            headers={"connection": "close"},
        )


def _name(host: str) -> str:
    """Without the port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].rstrip(".").lower()


async def refuse(trouble: Trouble, send: Send) -> None:
    """Answer with a problem."""
    body = trouble.body
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (ID, trouble.id.encode()),
        *((name.encode(), value.encode()) for name, value in trouble.headers.items()),
    ]
    await send({"type": "http.response.start", "status": trouble.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
