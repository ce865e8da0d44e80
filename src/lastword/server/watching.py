"""`…/events`: a session, from now on or from where one left off."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import NamedTuple

from starlette.types import Receive, Scope, Send

from lastword.agent.permission import Question
from lastword.core.cell import StoredCell
from lastword.core.queue import QueueNews
from lastword.core.receipt import Unconfirmed
from lastword.core.scene import Span
from lastword.errors import LastwordError
from lastword.runtime.clock import time_of_day
from lastword.runtime.record import Page
from lastword.runtime.session import Session
from lastword.server import wire
from lastword.server.desk import Asked
from lastword.server.problems import Trouble
from lastword.server.records import shown
from lastword.server.sessions import session_out
from lastword.server.shapes import PAGE, Shapes, encode
from lastword.server.streams import Hub, Watcher

_ENTRIES = 300  # of the log that a snapshot has


async def events(asked: Asked, scope: Scope, receive: Receive, send: Send) -> None:
    """What happens in a session, as server-sent events. To look acts on nothing."""
    if "on_disconnect" in asked.request.query_params:
        raise Trouble(
            "method-not-allowed",
            "on_disconnect may stop something, so it is said with POST",
            headers={"allow": "POST"},
        )
    await _watch(asked, scope, receive, send, stops=False)


async def follow(asked: Asked, scope: Scope, receive: Receive, send: Send) -> None:
    """The same, for who may have the session stopped by leaving."""
    stops = asked.choice("on_disconnect", "continue", "stop") == "stop"
    await _watch(asked, scope, receive, send, stops=stops)


async def _watch(asked: Asked, scope: Scope, receive: Receive, send: Send, *, stops: bool) -> None:
    desk, session = asked.desk, await asked.named()
    if stops and "stop" not in asked.who.rights:
        raise Trouble("forbidden", f"{asked.who.name} has no right to stop, on leaving or before")
    hub = desk.streams.hub(session, asked.shapes)
    with desk.shares.watcher(asked.who.principal):
        watcher = Watcher(hub, scope, receive, send)
        with desk.streams.watched(hub, watcher):
            number, first = await _from_where(asked, hub)
            if stops:
                hub.leavers.add(watcher)
            try:
                await watcher.serve(number, first)
            finally:
                hub.leavers.discard(watcher)
                if stops and not hub.leavers and not desk.closing:
                    _stop(session, asked.who.name)


def _stop(session: Session, by: str) -> None:
    """The last of those has left whose leaving is a stop."""
    with suppress(LastwordError, RuntimeError):
        session.stop(by=by)


async def _from_where(asked: Asked, hub: Hub) -> tuple[int, bytes]:
    """The number after which to go on, and what comes before it: nothing, or a snapshot."""
    told = asked.request.headers.get("last-event-id") or asked.request.query_params.get("after")
    if told and (number := hub.number_of(told)) is not None:
        return number, b""
    while True:
        moment = await _moment(asked, hub)
        earlier, entries, missing = await asyncio.to_thread(shown, asked.shapes, moment.page)
        messages = await hub.session.record.said(missing)
        log = wire.Log(entries, earlier > 0, [asked.shapes.message(one) for one in messages])
        frame = await asyncio.to_thread(moment.frame, asked.shapes, log)
        if hub.session.fenced == moment.fenced:  # if not, it would tell of what was stopped since
            return moment.page.number, frame


class _Moment(NamedTuple):
    """A session as it stands in one step. To put it into words may take longer than a step may."""

    page: Page
    id: str
    session: wire.SessionOut
    queue: QueueNews
    questions: tuple[Question, ...]
    spans: tuple[Span, ...]
    cells: tuple[StoredCell, ...]
    ending: tuple[Unconfirmed, ...]
    fenced: int

    def frame(self, shapes: Shapes, log: wire.Log) -> bytes:
        """It as an event, with some of the log."""
        queue, active = shapes.queue(self.queue), self.session.active
        snapshot = wire.Snapshot(
            session=self.session,
            active=active,
            typing=self.page.typing,
            queue=queue.messages,
            hushed=queue.hushed,
            questions=[shapes.question(one) for one in self.questions],
            processes=[shapes.process(span) for span in self.spans],
            cells=[shapes.cell(one) for one in self.cells],
            entries=log.entries,
            more=log.more,
            messages=log.messages,
            ending=[str(shapes.left(one)) for one in self.ending],
        )
        generation, now = self.page.generation, time_of_day()
        event = wire.Event(self.id, "snapshot", generation, active, now, "", snapshot)
        return b"id: %b\ndata: %b\n\n" % (self.id.encode(), encode(event))


async def _moment(asked: Asked, hub: Hub) -> _Moment:
    session = hub.session
    overview = await session.overview()
    await asked.looked_at([one.stored for one in session.shelf.cells])
    page = await session.record.page(None, _ENTRIES, PAGE)  # and from here on nothing is waited for
    return _Moment(
        page,
        hub.id_of(page.number),
        session_out(asked, session, overview),
        session.waiting,
        asked.questions(),
        tuple(session.spans),
        tuple(one.stored for one in session.shelf.cells),
        session.ending,
        session.fenced,
    )
