"""Every history within the bounds keeps every clause. The summary says how many there were."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.core.bounds import GROUPS
from tests.core.explorer import Bounds, explore

FLOOR = {  # states; an exploration that shrinks has stopped proving something
    "every policy": 28_000,
    "every reason": 1_300,
    "four messages": 18_000,
    "the queue": 15_000,
    "the limit": 6_000,
    "rights": 9_000,
    "the clock": 18_000,
    "after a restart": 9_000,
}


@pytest.mark.parametrize("group", GROUPS)
def test_no_history_within_the_bounds_breaks_the_promise(
    group: str, record_property: Callable[[str, object], None]
) -> None:
    found = {bounds.name: explore(bounds) for bounds in GROUPS[group]}

    for explored in found.values():
        record_property("explored", (explored.states, explored.transitions))
    assert sum(explored.states for explored in found.values()) >= FLOOR[group]


def test_the_histories_have_three_messages_and_two_stops_at_least() -> None:
    everything = GROUPS["every policy"]

    assert all(bounds.messages >= 3 and bounds.stops >= 2 for bounds in everything)
    assert {bounds.settings.queue_on_stop for bounds in everything} == {"drop", "keep"}
    assert all(_mixes_people_and_timers(bounds) for bounds in everything)


def _mixes_people_and_timers(bounds: Bounds) -> bool:
    return len({origin == "person" for _, origin in bounds.senders}) == 2
