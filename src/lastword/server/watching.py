"""`…/events`: a session, from now on or from where one left off.

Who comes is given a picture, and then exactly what changed in it; if a stop comes while it is put
into words, it is drawn anew, so that nothing of what was stopped is told as going on.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import NamedTuple

from starlette.types import Receive, Scope, Send

from lastword.core.picture import Picture
from lastword.errors import LastwordError
from lastword.runtime.clock import time_of_day
from lastword.runtime.session import Session
from lastword.server import wire
from lastword.server.change_wire import Snapshot
from lastword.server.desk import ApiRequest
from lastword.server.drawn import Drawn, still
from lastword.server.hub import Hub, framed
from lastword.server.problems import Trouble
from lastword.server.records import folded
from lastword.server.sessions import session_out
from lastword.server.shapes import PAGE, Shapes
from lastword.server.streams import Watcher
from lastword.surfaces.following import standing

_ENTRIES = 300  # of the log that a snapshot has


async def events(asked: ApiRequest, scope: Scope, receive: Receive, send: Send) -> None:
    """What happens in a session, as server-sent events. To look acts on nothing."""
    if "on_disconnect" in asked.request.query_params:
        raise Trouble(
            "method-not-allowed",
            "on_disconnect may stop something, so it is said with POST",
            headers={"allow": "POST"},
        )
    await _watch(asked, scope, receive, send, stops=False)


async def follow(asked: ApiRequest, scope: Scope, receive: Receive, send: Send) -> None:
    """The same, for who may have the session stopped by leaving."""
    stops = asked.choice("on_disconnect", "continue", "stop") == "stop"
    await _watch(asked, scope, receive, send, stops=stops)


async def _watch(
    asked: ApiRequest, scope: Scope, receive: Receive, send: Send, *, stops: bool
) -> None:
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


async def _from_where(asked: ApiRequest, hub: Hub[Watcher]) -> tuple[int, bytes]:
    """The number after which to go on, and what comes before it: nothing, or a snapshot."""
    told = asked.request.headers.get("last-event-id") or asked.request.query_params.get("after")
    if told and (number := hub.number_of(told)) is not None:
        return number, b""
    session = hub.session
    while True:
        overview = await session.overview()
        await asked.looked_at(session.programs)
        async with hub.making:
            picture = hub.picture(alone=len(hub.watchers) == 1) or await _begun(hub)
        if picture is None:
            continue  # so much came meanwhile that nobody has all of it
        # and from here on nothing is waited for
        id_, fenced = hub.id_of(picture.seen), session.fenced
        about = session_out(asked, session, overview)
        moment = _Moment(id_, about, still(picture, fenced, session.questions), hub.before)
        frame = await asyncio.to_thread(moment.frame, asked.shapes)
        if session.fenced == fenced:  # if not, it would tell of what was stopped since
            return moment.picture.seen, frame


class _Moment(NamedTuple):
    """A session as it stands in one step. To put it into words may take longer than a step may."""

    id: str
    session: wire.SessionOut
    picture: Picture
    before: int

    def frame(self, shapes: Shapes) -> bytes:
        """It as an event."""
        picture, drawn = self.picture, Drawn(shapes)
        past = drawn.past(picture, self.before)
        snapshot = Snapshot(
            id=self.id,
            generation=picture.phase.generation,
            at=time_of_day(),
            session=self.session,
            phase=drawn.phase(picture.phase),
            items=past.items,
            messages=past.messages,
            pending=past.pending,
            queue=shapes.queue(picture.queue),
            questions=[shapes.question(one) for one in picture.questions.values()],
            waits=past.waits,
            processes=[shapes.process(span) for span in picture.processes.values()],
            programs=[shapes.cell(one) for one in picture.programs.values()],
            before=past.before,
            more=past.more,
        )
        return framed(snapshot)


async def _begun(hub: Hub[Watcher]) -> Picture | None:
    """The hub hears afterwards of what happened while the log was folded, from its number on."""
    return hub.begin(*await pictured(hub.session, _ENTRIES))


async def pictured(session: Session, most: int) -> tuple[Picture, str, int]:
    """A picture of the newest of the log, and of how all else stands at that moment; the epoch of
    its number, and how many entries come before it. While the log is folded things happen."""
    page = await session.record.page(None, most, PAGE)  # and from here on nothing is waited for
    epoch = session.feed.epoch
    stands = standing(session, page)
    earlier, picture = await folded(session, page)
    stands(picture)
    return picture, epoch, earlier
