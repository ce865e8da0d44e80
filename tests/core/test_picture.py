"""The laws of a picture, over every history there is within stated bounds."""

from __future__ import annotations

import pytest

from tests.core.picture_alphabet import BOUNDS, explore_picture

DEPTH = 4  # moves; six were explored once: 32,056 histories
DEEPER = {"collected": 5, "waiting": 5}
FLOORS = {
    "words": 521,
    "calls": 260,
    "queue": 190,
    "collected": 600,
    "waiting": 200,
    "below": 100,
    "kept": 270,
    "notes": 365,
    "beside": 390,
}


@pytest.mark.parametrize("bounds", BOUNDS)
def test_the_laws_of_a_picture_hold_in_every_history(bounds: str) -> None:
    assert explore_picture(bounds, DEEPER.get(bounds, DEPTH)) >= FLOORS[bounds]
