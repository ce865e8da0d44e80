"""A lease, explored whole: nothing leaves that another has taken, whatever anybody's clock does."""

from __future__ import annotations

import pytest

from lastword.core.lease import Lease, Terms, Watch
from tests.core.explorer import Broken
from tests.core.lease_alphabet import CLOCKS, HOLDER, explore_lease

TERMS = Terms(10.0)


@pytest.mark.parametrize("clocks", CLOCKS)
def test_nothing_leaves_that_another_has_taken(clocks: str) -> None:
    holders, watchers = CLOCKS[clocks]
    explored = explore_lease(holders=holders, watchers=watchers)

    assert explored.states > 1000


def test_clocks_may_differ_by_the_margins_and_no_more() -> None:
    with pytest.raises(Broken):
        explore_lease(holders=0.7, watchers=1.0)


def counts(count: int) -> dict[int, tuple[int, Terms]]:
    return {HOLDER: (count, TERMS)}


def test_who_is_silent_for_as_long_as_that_is_dead() -> None:
    watch = Watch(TERMS)
    for now in range(0, 11, 2):
        assert not watch.answered(float(now), counts(7))
    assert watch.answered(11.0, counts(7)) == {HOLDER}


def test_who_moves_its_count_lives() -> None:
    watch = Watch(TERMS)
    assert not any(watch.answered(float(now), counts(now // 8)) for now in range(0, 100, 2))


def test_the_silence_of_who_was_not_watched_counts_for_nothing() -> None:
    watch = Watch(TERMS)
    watch.answered(0.0, counts(7))
    assert not watch.answered(60.0, counts(7))  # both may have slept
    assert not watch.answered(62.0, counts(7))


def test_each_is_waited_for_as_long_as_its_own_lease_says() -> None:
    watch = Watch(TERMS)
    both = {1: (0, Terms(10.0)), 2: (0, Terms(20.0))}
    dead = [watch.answered(float(now), both) for now in range(0, 30, 2)]
    assert dead[6] == {1}
    assert dead[-1] == {1, 2}


def test_a_lease_that_has_ended_is_renewed_by_nothing() -> None:
    held = Lease(TERMS)
    held.answered(0.0)
    assert held.good(8.9)
    assert not held.good(9.0)
    held.end()
    held.answered(5.0)
    assert not held.good(5.0)
