"""What must hold of a picture, whatever happens: each law raises what was broken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lastword.core.model import Status
from lastword.core.picture import Picture
from lastword.core.scene import (
    CallPart,
    Change,
    Phase,
    ReceiptItem,
    TurnItem,
    Words,
    is_live,
)
from lastword.core.story import FeedEvent
from tests.core.picture_world import SESSION, World
from tests.core.screen import Screen, seen_in


class Broken(AssertionError):
    pass


def must(held: object, law: str) -> None:
    if not held:
        raise Broken(law)


def prompt(world: World) -> Picture:
    """Who heard everything as it happened; and whoever draws what it was told is different."""
    picture, screen = Picture(SESSION), Screen()
    for event in world.events:
        changes = picture.hear(event, event.generation)
        screen.draw(changes)
        must(picture.hear(event, event.generation) == [], "a fact heard twice changes nothing")
    must(seen_in(screen) == seen_in(picture), "the changes, applied, are the picture")
    return picture


def drawn(picture: Picture) -> None:
    screen = Screen()
    screen.draw(picture.drawn())
    must(seen_in(screen) == seen_in(picture), "a picture is drawn out of nothing")


def from_the_log(world: World, then: World, whole: dict[str, object]) -> None:
    """Who came at that moment read the log, and was told how all else stood; and then the rest."""
    picture = Picture(SESSION)
    picture.record([entry for _, entry in world.log])
    picture.stands(
        seen=len(world.events),
        phase=world.phase,
        queue=world.queue,
        questions=[world.question] if world.question else [],
        programs=[world.program] if world.program else [],
        processes=world.spans,
    )
    for event in then.events:
        picture.hear(event, event.generation)
    must(lasting(picture) == whole, "the log at any fact, and the rest, are all of it")


def lagging(world: World, behind: int, whole: dict[str, object]) -> None:
    """Who heard so many facts in time, and the rest after the last fence."""
    picture = Picture(SESSION)
    fenced = max((e.generation for e in world.events), default=0)
    changes: list[tuple[FeedEvent, Change]] = []
    for event in world.events[:behind]:
        picture.hear(event, event.generation)
    for event in world.events[behind:]:
        changes += [(event, change) for change in picture.hear(event, fenced)]
    late = [c for event, c in changes if is_live(c) and event.generation < fenced]
    must(not late, "no live change follows the fence of its generation")
    if world.active is None:  # else some of it may wait for its end
        must(lasting(picture) == whole, "what was let out before a fence is on record")


def lasting(picture: Picture) -> dict[str, object]:
    """All but what only passes: what a call wrote, that it began, what a run told of its doing."""
    seen = seen_in(picture)
    items: list[object] = []
    for item in picture.items:
        if isinstance(item, TurnItem):
            parts = [
                replace(
                    part,
                    output="",
                    began=0.0,
                    status=Status.INTENDED if part.status is Status.BEGUN else part.status,
                )
                if isinstance(part, CallPart)
                else replace(part, at=0.0, until=0.0)
                if isinstance(part, Words)
                else part
                for part in item.parts
                if not (isinstance(part, Words) and part.kind == "progress")
            ]
            items.append((item.head, _joined(parts)))
        elif isinstance(item, ReceiptItem):
            items.append((item.key, item.settled or item.receipt.quiet))
        else:
            items.append(item)
    phase = picture.phase
    return seen | {"items": items, "phase": Phase(phase.generation, phase.active, phase.typing)}


def _joined(parts: Sequence[object]) -> list[object]:
    """Words between which something passed are the same words."""
    found: list[object] = []
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, Words) and isinstance(last, Words) and last.kind == part.kind:
            found[-1] = Words(last.kind, [last.text + part.text])
        elif isinstance(part, Words):
            found.append(Words(part.kind, [part.text]))
        else:
            found.append(part)
    return found
