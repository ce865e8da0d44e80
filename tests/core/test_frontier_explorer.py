"""Every history of a cell within the bounds keeps every clause. The summary says how many."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.core.cell_alphabet import EVERY, Bounds, explore_cell


@pytest.mark.parametrize("bounds", EVERY, ids=lambda bounds: bounds.name)
def test_no_history_of_a_cell_within_the_bounds_breaks_the_promise(
    bounds: Bounds, record_property: Callable[[str, object], None]
) -> None:
    explored = explore_cell(bounds)

    record_property("explored", (explored.states, explored.transitions))
    assert explored.states >= bounds.floor


def test_both_kinds_of_cell_meet_failures_losses_observers_and_deaths() -> None:
    for kind in ("pausable", "continuing"):
        those = [bounds for bounds in EVERY if bounds.kind == kind]
        assert any(bounds.failures and bounds.losses for bounds in those)
        assert any(bounds.observed for bounds in those)
        assert any(bounds.crashes for bounds in those)
