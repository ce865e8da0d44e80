"""Whose each turn is, and who may stop it, worked out a second time from the promise."""

from __future__ import annotations

from collections.abc import Iterable

from lastword.core.events import Accepted
from lastword.core.model import MessageId, Turn
from lastword.core.session import SessionMachine
from tests.core.ghost import Ghost, arrived


def turns_of(machine: SessionMachine) -> tuple[Turn, ...]:
    active = (machine.active,) if machine.active else ()
    return (*active, *machine.steering, *(w.turn for w in machine.waiting))


def ids_of(turns: Iterable[Turn]) -> list[MessageId]:
    return [m.id for turn in turns for m in turn.messages]


def owner(turn: Turn, ghost: Ghost) -> str:
    """Whose it is: of those who were told the name of its first message, the first person's."""
    told = dict(ghost.told)
    first = turn.messages[0]
    began = [m for m in turn.messages if told.get(m.id) == told.get(first.id)]
    return next((m.by for m in began if m.origin == "person"), first.by)


def may(before: SessionMachine, by: str | None, whose: str | None) -> bool:
    """Whoever has the right may stop all, and everybody their own."""
    allowed = before.settings.stoppers
    return allowed is None or by is None or by in allowed or (whose is not None and whose == by)


def entitled(
    before: SessionMachine, by: str | None, turns: Iterable[Turn], ghost: Ghost
) -> list[Turn]:
    """Of these turns, those that are theirs to stop: all, or what they began."""
    return [turn for turn in turns if may(before, by, owner(turn, ghost))]


def people(event: Accepted) -> list[str]:
    """Whose words have arrived."""
    return [m.by for m in arrived(event).messages if m.origin == "person"]


def overtaking(
    before: SessionMachine, event: Accepted, turns: Iterable[Turn], ghost: Ghost
) -> list[Turn]:
    """Of these turns, those that one of the people may stop whose words have arrived."""
    return [t for t in turns if any(may(before, by, owner(t, ghost)) for by in people(event))]
