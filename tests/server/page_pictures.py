"""What the server tells the page of a log, wherever it is cut: made by the server's own fold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from lastword.core.entries import Entry
from lastword.core.model import SessionId
from lastword.core.picture import Picture
from lastword.core.queue import QueueNews
from lastword.core.scene import Phase
from lastword.core.story import FeedEvent
from lastword.server.change_wire import Changes, Snapshot
from lastword.server.drawn import Drawn
from lastword.server.shapes import Shapes
from lastword.server.wire import SessionOut

DRAWN = Drawn(Shapes(""))


def past(entries: Sequence[Entry], before: int) -> Any:
    """What some entries show, which so many come before."""
    picture = Picture(SessionId("s"), notes=f"note before {before}")
    picture.record(entries)
    return msgspec.to_builtins(DRAWN.past(picture, before))


def told(log: Sequence[Entry], cut: int, heard: int, cuts: Iterable[int] = ()) -> dict[str, Any]:
    """A log of which a snapshot has the entries from a cut on, up to where events begin; the rest
    of what comes before it is fetched in parts."""
    picture = Picture(SessionId("s"))
    picture.record(log[cut:heard])
    active = picture.phase.active
    nothing = QueueNews((), hushed=False)
    picture.stands(seen=0, phase=Phase(picture.phase.generation, active), queue=nothing)
    shown = DRAWN.past(picture, cut)
    session = SessionOut("s", "", 1, False, active, "idle", 0.0)
    snapshot = Snapshot(
        id="e-0",
        generation=1,
        at=0.0,
        session=session,
        phase=DRAWN.phase(picture.phase),
        items=shown.items,
        messages=shown.messages,
        pending=shown.pending,
        queue=Shapes("").queue(nothing),
        questions=[],
        waits=shown.waits,
        processes=[],
        programs=[],
        before=shown.before,
        more=shown.more,
    )
    told = {"snapshot": msgspec.to_builtins(snapshot), "events": _events(picture, log[heard:])}
    ends = [*cuts, cut]
    parts = zip([0, *cuts], ends, strict=True)
    return told | {"past": [past(log[a:b], a) for a, b in reversed(list(parts)) if b > a]}


def _events(picture: Picture, entries: Iterable[Entry]) -> list[Any]:
    found, generation = list[Any](), picture.phase.generation
    for number, entry in enumerate(entries, 1):
        at = float(getattr(entry, "at", 0.0))
        generation = max(generation, getattr(entry, "generation", generation))
        event = FeedEvent(number, SessionId("s"), generation, entry, at)
        changes = [DRAWN.change(one) for one in picture.hear(event)]
        found.append(msgspec.to_builtins(Changes(f"e-{number}", 1, at, changes)))
    return found
