"""Streams between servers: who watches here what another has, and what is told there from here."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, cast

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from lastword.server.calling import Unanswered, Unreachable, called
from lastword.server.forwarding import (
    AGAIN,
    PAUSE,
    TRIES,
    Forwarding,
    forwarded,
    kept,
    silent,
    target_of,
)
from lastword.server.limits import in_pieces
from lastword.server.problems import Trouble
from lastword.server.relay import SILENCE, RelayedStream, RelayedWatcher
from lastword.server.vouching import HEADER, Forwarded, hash_of
from lastword.server.who import Who
from lastword.stores.peers import NodePeer

if TYPE_CHECKING:
    from lastword.server.desk import ApiRequest
    from lastword.server.operation import Operation

LEFT = "/v1/nodes/left"
STREAM = "text/event-stream"
_HEAD = 5.0  # seconds that an owner has for the head of a stream
_LEFT = 1.0  # and another server to say whether something has left


class Relaying:
    """One server's."""

    def __init__(self, forwarding: Forwarding) -> None:
        self.forwarding = forwarding
        self._relayed: dict[str, RelayedWatcher] = {}  # who watches here what another has

    async def left(self, request: Request) -> None:
        """Whoever has a session asks whether so much of a stream has left."""
        told = forwarded(request.scope)
        if told is None or told.kind != "left" or told.body != hash_of(await request.body()):
            raise Trouble("unauthorized", "this is for servers of the same database")
        if relayed := self._relayed.get(told.relay):
            await relayed.left(int(await request.body()))

    async def streamed(
        self,
        operation: Operation,
        asked: ApiRequest,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> bool:
        """Have it told by who has the session, if that is another; what another server relays is
        given to that one so. Whether either was."""
        if not operation.live:
            return False
        if operation.find:
            await operation.find(asked)
        if await self.forwarding.is_here(asked, scope):
            told = forwarded(scope)
            if told and told.kind == "relay":
                await self._relay(operation, asked, told, scope, receive, send)
            return bool(told) and told.kind == "relay"
        if operation.gives != STREAM:
            return await self.forwarding.answered(operation, asked, scope, send, stops=False)
        return await self._elsewhere(asked, scope, receive, send)

    async def _elsewhere(
        self, asked: ApiRequest, scope: Scope, receive: Receive, send: Send
    ) -> bool:
        for attempt in range(TRIES):
            if attempt:
                await asyncio.sleep(PAUSE)
            if (owner := await self.forwarding.owner(asked)) is None:
                return False
            if await self._watched(owner, asked, scope, receive, send):
                return True
        raise silent(asked.name)

    async def _watched(
        self, owner: NodePeer, asked: ApiRequest, scope: Scope, receive: Receive, send: Send
    ) -> bool:
        """Watch there; whether it is there."""
        id_, body = secrets.token_hex(16), await asked.sent()
        extensions: dict[str, Any] = scope.get("extensions") or {}
        watcher = RelayedWatcher(receive, send, extensions.get("lastword.paused", bool))
        self._relayed[id_] = watcher
        headers = self.forwarding.headers(owner, "relay", asked, scope, body, id_)
        target = target_of(scope)
        try:
            with asked.desk.shares.watcher(asked.who.principal):
                async with called(owner.url, scope["method"], target, headers, body) as response:
                    async with asyncio.timeout(_HEAD):
                        await response.head()
                    if response.status in AGAIN:
                        return False
                    start = {
                        "type": "http.response.start",
                        "status": response.status,
                        "headers": kept(response),
                    }
                    self.forwarding.counts["relayed"] += 1
                    if response.header(SILENCE):
                        await watcher.serve(response, start)
                        return True
                    told = await response.body()
                    await send(start)
                    for piece in in_pieces(told):
                        await send(piece)
                    return True
        except (Unreachable, Unanswered, TimeoutError) as error:
            raise silent(asked.name) from error
        finally:
            del self._relayed[id_]

    async def _relay(
        self,
        operation: Operation,
        asked: ApiRequest,
        told: Forwarded,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Tell another server what a watcher here is told, as one of those that a stop waits for"""

        async def ask(sent: int) -> None:
            await self._ask_whether_left(told, asked.who, b"%d" % sent)

        name, feed = f"to watchers at {told.url}", asked.session.feed
        stream = RelayedStream(name, self.forwarding.neighbours.silence, receive, send, ask)
        feed.relays.add(stream)
        try:
            handler = cast("Callable[..., Awaitable[None]]", operation.handler)
            await handler(asked, scope, stream.receive, stream.send)
        finally:
            stream.close()
            # what it told last may be on its way
            later = asyncio.get_running_loop().call_later
            later(2 * self.forwarding.neighbours.silence, feed.relays.discard, stream)

    async def _ask_whether_left(self, told: Forwarded, who: Who, body: bytes) -> None:
        signed = self.forwarding.neighbours.vouching.sign(
            kind="left",
            sender=self.forwarding.peers.epoch,
            receiver=told.sender,
            method="POST",
            target=LEFT,
            body=body,
            who=who,
            relay=told.relay,
        )
        async with asyncio.timeout(_LEFT):
            async with called(told.url, "POST", LEFT, {HEADER: signed}, body) as response:
                await response.head()
        if response.status != 200:
            raise Unanswered("it is another by now")
