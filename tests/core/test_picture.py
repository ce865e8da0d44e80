"""The laws of a picture, over every history there is within stated bounds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.core.picture_alphabet import BOUNDS, explore_picture

DEPTH = 4  # moves; six were explored once: 32,056 histories
DEEPER = {"collected": 5, "waiting": 5, "restart": 5}
FLOORS = {
    "words": 521,
    "calls": 260,
    "queue": 190,
    "collected": 600,
    "waiting": 200,
    "below": 100,
    "kept": 270,
    "notes": 365,
    "restart": 500,
    "beside": 390,
}


@pytest.mark.parametrize("bounds", BOUNDS)
def test_the_laws_of_a_picture_hold_in_every_history_cut_at_every_fact(
    bounds: str, record_property: Callable[[str, object], None]
) -> None:
    explored = explore_picture(bounds, DEEPER.get(bounds, DEPTH))

    record_property("explored", (explored.states, explored.transitions))
    assert explored.states >= FLOORS[bounds]
