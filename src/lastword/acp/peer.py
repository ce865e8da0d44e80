"""The conversation with one client: each line is dealt with in the order it came, before the next.

What a request asks for has taken its first step before the next line is looked at, so a cancel that
stands right behind a prompt finds it accepted. What takes time is answered later.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TypeAlias

from lastword.acp.outbox import Outbox
from lastword.acp.wire import (
    CANCELLED,
    INTERNAL,
    INVALID_REQUEST,
    NO_METHOD,
    Bad,
    Id,
    Lines,
    Notification,
    Params,
    RpcError,
    RpcReply,
    RpcRequest,
    error_of,
    read,
)
from lastword.errors import LastwordError
from lastword.runtime.tasks import Tasks

log = logging.getLogger("lastword")

Method: TypeAlias = Callable[["ClientRequest"], Awaitable[Params] | Params | None]
"""Gives the answer, or what will; or None, and answers later."""


class ClientRequest:
    """A request of the client's, which is answered once."""

    def __init__(self, peer: Peer, request: RpcRequest) -> None:
        self.id = request.id
        self.method = request.method
        self.params = request.params
        self.on_cancel: Callable[[], object] | None = None
        self.answered = asyncio.Event()
        self._peer = peer

    def answer(self, result: Params) -> None:
        """This is the answer; the first one holds."""
        if not self.answered.is_set():
            self.answered.set()
            self._peer.settle(self, {"result": result})

    def refuse(self, error: RpcError) -> None:
        """It cannot be done."""
        if not self.answered.is_set():
            self.answered.set()
            self._peer.settle(self, {"error": error_of(error)})


class Peer:
    """One client, as long as it is there."""

    def __init__(
        self,
        outbox: Outbox,
        methods: Mapping[str, Method],
        notifications: Mapping[str, Callable[[Params], object]],
    ) -> None:
        self.outbox = outbox
        self.tasks = Tasks("acp:", loud=True)
        self._methods = methods
        self._notifications = {**notifications, "$/cancel_request": self._call_off}
        self._lines = Lines()
        self._open: dict[Id, ClientRequest] = {}  # what the client waits for
        self._asked: dict[Id, asyncio.Future[object]] = {}  # what is waited for here
        self._number = 0

    # what comes

    async def hear(self, data: bytes) -> None:
        """Bytes have come. Before the next line is looked at, what this one asks for has begun."""
        for line in self._lines.feed(data):
            for said in read(line):
                self._take(said)
                await asyncio.sleep(0)
                await self.outbox.some_room()

    def _take(self, said: RpcRequest | Notification | RpcReply | Bad) -> None:
        match said:
            case RpcRequest():
                self._do(said)
            case Notification(method=method, params=params):
                self._note(method, params)
            case RpcReply():
                self._answered(said)
            case Bad(id=id_, error=error):
                self.outbox.send({"id": id_, "error": error_of(error)})

    def _do(self, request: RpcRequest) -> None:
        asked = ClientRequest(self, request)
        if request.id in self._open:
            why = f"id {request.id!r} is that of a request which is not answered yet"
            error = error_of(RpcError(INVALID_REQUEST, why))
            self.outbox.send({"id": request.id, "error": error})
            return
        self._open[request.id] = asked
        method = self._methods.get(request.method, _unknown)
        try:
            given = method(asked)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next line is another matter
            self._fail(asked, error)
            return
        if isinstance(given, dict):
            asked.answer(given)
        elif given is not None:
            task = self.tasks.start(self._finish(asked, given), name=request.method)
            asked.on_cancel = asked.on_cancel or task.cancel

    async def _finish(self, asked: ClientRequest, work: Awaitable[Params]) -> None:
        try:
            asked.answer(await work)
        except asyncio.CancelledError:
            asked.refuse(RpcError(CANCELLED, f"{asked.method} was cancelled"))
        except Exception as error:  # noqa: BLE001 - as above
            self._fail(asked, error)

    def _fail(self, asked: ClientRequest, error: Exception) -> None:
        match error:
            case RpcError():
                asked.refuse(error)
            case LastwordError() | ValueError() | OSError():
                asked.refuse(RpcError(INTERNAL, str(error)))
            case _:
                name = type(error).__name__
                log.error("request failed method=%s error=%s", asked.method, name)
                log.debug("request failed method=%s", asked.method, exc_info=error)
                asked.refuse(RpcError(INTERNAL, f"{asked.method} failed: {name}"))

    def _note(self, method: str, params: Params) -> None:
        act = self._notifications.get(method)
        if act is None:
            return  # what nobody knows is nobody's, by the protocol
        try:
            act(params)
        except Exception as error:  # noqa: BLE001 - nobody waits for an answer to it
            log.warning("notification refused method=%s error=%s", method, type(error).__name__)

    def _call_off(self, params: Params) -> None:
        asked = self._open.get(params.get("requestId"))
        if asked and asked.on_cancel:
            asked.on_cancel()

    def settle(self, asked: ClientRequest, answer: Params) -> None:
        """The client need not wait for this any longer."""
        if self._open.get(asked.id) is asked:
            del self._open[asked.id]
        self.outbox.send({"id": asked.id, **answer})

    async def all_answered(self, seconds: float) -> None:
        """Return when nobody waits for an answer, or so much time has passed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                for asked in tuple(self._open.values()):
                    await asked.answered.wait()

    # what is asked

    def notify(self, method: str, params: Params, while_: Callable[[], bool]) -> None:
        """Tell the client, if that is still so when it leaves."""
        self.outbox.send({"method": method, "params": params}, while_)

    async def ask(self, method: str, params: Params, while_: Callable[[], bool]) -> object:
        """Ask the client. Whoever is cancelled meanwhile takes the question back."""
        self._number += 1
        id_ = f"lastword-{self._number}"
        answer: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._asked[id_] = answer
        self.outbox.send({"id": id_, "method": method, "params": params}, while_)
        try:
            return await answer
        except asyncio.CancelledError:
            self.outbox.send({"method": "$/cancel_request", "params": {"requestId": id_}})
            raise
        finally:
            del self._asked[id_]

    def _answered(self, answer: RpcReply) -> None:
        waiting = self._asked.get(answer.id)
        if waiting is None or waiting.done():
            return  # it came too late, or to nothing that was asked
        if answer.error:
            waiting.set_exception(answer.error)
        else:
            waiting.set_result(answer.result)


def _unknown(asked: ClientRequest) -> Params:
    raise RpcError(NO_METHOD, f"there is no method {asked.method:.200}")
