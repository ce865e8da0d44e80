"""What is asked of one server and is about a session that another has: asked there, answered here.

It is looked for once, in the database; who turns out not to have it says so, and it is looked for
again. What may act is named before it is asked, so that it can be asked again. Where the owner
cannot be asked, a stop and a message go on as they do in any process: by a row that the owner reads
before it renews its lease, and then by the end of that lease. All else is refused, and can be tried
again.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec
from starlette.types import Scope, Send

from lastword.core.model import SessionId
from lastword.errors import OwnedElsewhere, StoreError
from lastword.runtime.tasks import Tasks
from lastword.server.calling import Response, Unanswered, Unreachable, called
from lastword.server.limits import in_pieces
from lastword.server.neighbours import Neighbours
from lastword.server.problems import Trouble
from lastword.server.vouching import HEADER, Forwarded, Kind, hash_of
from lastword.stores.peers import NodePeer

if TYPE_CHECKING:
    from lastword.server.desk import ApiRequest
    from lastword.server.operation import Operation

TRIES = 4  # times that it is looked for again
PAUSE = 0.05  # seconds in between
_SOON = 1.0  # seconds that an owner has for a stop before it is asked in the other way
_LATEST = 0.5  # seconds that the database has to say whose a session is that is to be stopped
_LONG = 60.0  # seconds for anything else
_LOOK = 1.0  # seconds between looks at what is watched here and may be another's by now
AGAIN = frozenset({401, 421})  # who is asked is another by now, or has it no longer
_PASSED = frozenset({"content-type", "last-event-id", "traceparent", "tracestate"})
_LABELS = b"content-type", b"cache-control", b"retry-after", b"allow", b"x-request-id"
_KEPT = frozenset((*_LABELS, b"x-accel-buffering"))


class PeerAnswer(NamedTuple):
    """What another server answered."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Forwarding:
    """One server's."""

    def __init__(self, neighbours: Neighbours) -> None:
        self.neighbours = neighbours
        self.peers = neighbours.peers
        self.counts = neighbours.counts

    # what other servers ask of this one

    async def must_be_as_signed(self, asked: ApiRequest, scope: Scope) -> None:
        """Raise if this is not what the other server asked."""
        told = forwarded(scope)
        if told and (
            (told.method, told.target) != (scope["method"], target_of(scope))
            or told.body != hash_of(await asked.sent())
        ):
            raise Trouble("unauthorized", "this is not what was signed")

    # what is asked of others

    async def answered(
        self, operation: Operation, asked: ApiRequest, scope: Scope, send: Send, *, stops: bool
    ) -> bool:
        """Have it answered by who has the session; whether somebody else has it, and did."""
        if not operation.live or await self.is_here(asked, scope):
            return False
        body = await asked.sent()
        if operation.named:
            body = named(body)
            asked.replace(body)
        found = await self._answer(asked, scope, body, stops=stops)
        if found is None:
            return False
        headers = [*found.headers, (b"content-length", b"%d" % len(found.body))]
        await send({"type": "http.response.start", "status": found.status, "headers": headers})
        for piece in in_pieces(found.body):
            await send(piece)
        return True

    async def _answer(
        self, asked: ApiRequest, scope: Scope, body: bytes, *, stops: bool
    ) -> PeerAnswer | None:
        try:
            for attempt in range(TRIES):
                await asyncio.sleep(PAUSE if attempt else 0)
                if (owner := await self.owner(asked, stops=stops)) is None:
                    return None
                with suppress(Unanswered):  # so it is asked again, by the same name
                    found = await self._ask(owner, asked, scope, body, stops=stops)
                    if found.status not in AGAIN:
                        self.counts["forwarded"] += 1
                        return found
        except Unreachable:
            pass
        except (StoreError, TimeoutError):
            if not stops:
                raise
            return await self._anybody(asked, scope, body)
        self.counts["unanswered"] += 1
        return self._not_answered(asked, scope)

    def _not_answered(self, asked: ApiRequest, scope: Scope) -> None:
        """A stop, and a message, have another way."""
        last = scope["path"].rpartition("/")[2]
        if scope["method"] != "POST" or last not in {"stop", "messages"}:
            raise silent(asked.name)

    async def _anybody(self, asked: ApiRequest, scope: Scope, body: bytes) -> PeerAnswer | None:
        """A stop while the database does not say whose the session is: every other is asked."""
        tasks = Tasks("stop")
        asking = [
            tasks.start(self._ask(one, asked, scope, body, stops=True), name=one.url)
            for one in self.peers.known
            if one.url
        ]
        try:
            for one in asyncio.as_completed(asking):
                with suppress(Unreachable):
                    found = await one
                    if found.status < HTTPStatus.BAD_REQUEST:
                        self.counts["forwarded"] += 1
                        return found
        finally:
            tasks.cancel()
        return None

    async def owner(self, asked: ApiRequest, *, stops: bool = False) -> NodePeer | None:
        """Who is to be asked; None if that is this one."""
        session = SessionId(asked.id)
        async with asyncio.timeout(_LATEST if stops else None):
            found = (await self.peers.whose([session])).get(session)
        elsewhere = found and found.url and found.epoch != self.peers.epoch
        return found if elsewhere else None

    async def is_here(self, asked: ApiRequest, scope: Scope) -> bool:
        session = asked.session
        if session.known and session.over is None:
            return True
        if forwarded(scope) is None:
            return False
        found = (await self.peers.whose([session.id])).get(session.id)
        if found is None or found.epoch != self.peers.epoch:
            raise Trouble("not-mine", "this server does not have the session any more")
        return True

    async def _ask(
        self, owner: NodePeer, asked: ApiRequest, scope: Scope, body: bytes, *, stops: bool
    ) -> PeerAnswer:
        headers = self.headers(owner, "forward", asked, scope, body)
        target = target_of(scope)
        try:
            async with (
                asyncio.timeout(_SOON if stops else _LONG),
                called(owner.url, scope["method"], target, headers, body) as response,
            ):
                await response.head()
                return PeerAnswer(response.status, kept(response), await response.body())
        except (Unanswered, TimeoutError) as error:
            # a stop is asked for in another way at once, which finds it made if it was
            raise (Unreachable if stops else Unanswered)("no answer came") from error

    def headers(
        self,
        owner: NodePeer,
        kind: Kind,
        asked: ApiRequest,
        scope: Scope,
        body: bytes,
        relay: str = "",
    ) -> dict[str, str]:
        signed = self.neighbours.vouching.sign(
            kind=kind,
            sender=self.peers.epoch,
            receiver=owner.epoch,
            method=scope["method"],
            target=target_of(scope),
            body=body,
            who=asked.who,
            relay=relay,
        )
        told = {name: value for name, value in asked.request.headers.items() if name in _PASSED}
        return told | {HEADER: signed}


def forwarded(scope: Mapping[str, Any]) -> Forwarded | None:
    """What another server has signed of it, if it comes from one."""
    return scope.get("lastword.forwarded")


def target_of(scope: Scope) -> str:
    """The path and the query, as they came."""
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope.get("query_string") or b""
    return (path + (b"?" + query if query else b"")).decode("latin-1")


def named(body: bytes) -> bytes:
    """A message that has a name: to send it again is to send the same one."""
    try:
        told = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return body  # whoever reads it says what is wrong
    if not isinstance(told, dict) or cast("dict[str, Any]", told).get("id") is not None:
        return body
    return msgspec.json.encode(cast("dict[str, Any]", told) | {"id": secrets.token_hex(12)})


def silent(session: str) -> Trouble:
    """What is told where the owner cannot be asked."""
    why = "does not answer; nothing is known to have been done, and it can be tried again"
    return Trouble("owner-silent", f"the server that has session {session!r} {why}")


def owned(error: OwnedElsewhere, session: str) -> Trouble:
    """The same, of an error that says whose it is."""
    trouble = silent(session)
    if error.process:
        owner = {"process": error.process, "host": error.host, "since": error.since}
        trouble.extra["owner"] = owner
    return trouble


def kept(response: Response) -> list[tuple[bytes, bytes]]:
    """What whoever asked is told of the head of another server's answer."""
    return [(name, value) for name, value in response.headers if name in _KEPT]
