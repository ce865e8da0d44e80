"""`…/events`: a session, from now on or from where one left off."""

from __future__ import annotations

from contextlib import suppress

from starlette.types import Receive, Scope, Send

from lastword.errors import LastwordError
from lastword.runtime.clock import time_of_day
from lastword.runtime.session import Session
from lastword.server import wire
from lastword.server.desk import Asked
from lastword.server.problems import Trouble
from lastword.server.sessions import session_out
from lastword.server.shapes import encode
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
    session, shapes = hub.session, asked.shapes
    overview = await session.overview()
    view = await session.view()  # and from here on nothing is waited for: all is of one moment
    earlier, entries = shapes.newest(view.entries, len(view.entries), _ENTRIES)
    queue = shapes.queue(session.waiting)
    active = shapes.out(session.active) if session.active else None
    snapshot = wire.Snapshot(
        session=session_out(asked, session, overview),
        active=active,
        typing=view.typing,
        queue=queue.messages,
        hushed=queue.hushed,
        questions=[shapes.question(one) for one in asked.questions()],
        processes=[shapes.process(span) for span in session.spans],
        cells=[shapes.cell(one.stored) for one in session.shelf.cells],
        entries=entries,
        more=earlier > 0,
        messages=shapes.said_before(view.entries, earlier, len(view.entries)),
        ending=[str(shapes.left(one)) for one in session.ending],
    )
    id_ = hub.id_of(view.number)
    event = wire.Event(id_, "snapshot", view.generation, active, time_of_day(), "", snapshot)
    return view.number, b"id: %b\ndata: %b\n\n" % (id_.encode(), encode(event))
