"""Stories that every surface is told, some of every kind."""

from __future__ import annotations

import random
from typing import Any

from tests.core.picture_alphabet import BOUNDS, histories
from tests.core.picture_world import World

STORIES = 80


def stories() -> list[tuple[str, ...]]:
    """Some of every kind, among them all facts that are told."""
    rng = random.Random(7)
    found: list[tuple[str, ...]] = []
    for bounds in BOUNDS:
        whole = [moves for moves in histories(bounds, 5) if len(moves) == 5]
        found += rng.sample(whole, STORIES // len(BOUNDS))
    return found


def of(world: World, kind: type[Any]) -> list[Any]:
    """What it tells, of one kind."""
    return [event.fact for event in world.events if isinstance(event.fact, kind)]
