"""Every history within the bounds keeps every clause. The summary says how many there were."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.core.bounds import GROUPS
from tests.core.session_alphabet import Bounds, explore_session

EVERY = [bounds for group in GROUPS.values() for bounds in group]


@pytest.mark.parametrize("bounds", EVERY, ids=lambda bounds: bounds.name)
def test_no_history_within_the_bounds_breaks_the_promise(
    bounds: Bounds, record_property: Callable[[str, object], None]
) -> None:
    explored = explore_session(bounds)

    record_property("explored", (explored.states, explored.transitions))
    assert explored.states >= bounds.floor


def test_the_histories_have_three_messages_and_two_stops_at_least() -> None:
    everything = GROUPS["every policy"]

    assert all(bounds.messages >= 3 and bounds.stops >= 2 for bounds in everything)
    assert {bounds.settings.queue_on_stop for bounds in everything} == {"drop", "keep"}
    assert all(_mixes_people_and_timers(bounds) for bounds in everything)


def _mixes_people_and_timers(bounds: Bounds) -> bool:
    return len({origin == "person" for _, origin in bounds.senders}) == 2
