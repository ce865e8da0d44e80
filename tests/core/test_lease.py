"""A lease, explored whole: nothing leaves that another has taken, whatever anybody's clock does."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from types import ModuleType

import pytest

from lastword.core import lease
from lastword.core.lease import Lease, Terms, Watch
from tests.core.lease_explorer import HOLDER, Broken, explore

TERMS = Terms(10.0)
CLOCKS = {"alike": (1.0, 1.0), "apart": (0.92, 1.08), "apart the other way": (1.08, 0.92)}


@dataclass(frozen=True)
class Mutation:
    """A mistake."""

    name: str
    old: str
    new: str


MUTATIONS = (
    Mutation("the holder counts from the answer", "asked + self.terms", "0.0 + self.terms"),
    Mutation(
        "the holder's margin is on the wrong side", "length - self.terms", "length + self.terms"
    ),
    Mutation(
        "the watcher has no margin", "terms.length + terms.margin", "terms.length - terms.margin"
    ),
    Mutation("who renews late does not look", "return now >= self.until", "return False"),
    Mutation("a count that moved is not looked at", "seen.count == count", "seen.count <= count"),
    Mutation("a lease is good for ever", "return now < self.until", "return self.until > NEVER"),
)


@pytest.mark.parametrize("clocks", CLOCKS)
def test_nothing_leaves_that_another_has_taken(clocks: str) -> None:
    holders, watchers = CLOCKS[clocks]
    assert explore(lease, holders=holders, watchers=watchers) > 1000


def test_clocks_may_differ_by_the_margins_and_no_more() -> None:
    with pytest.raises(Broken):
        explore(lease, holders=0.7, watchers=1.0)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_broken_lease_is_found_out(mutation: Mutation) -> None:
    source = inspect.getsource(lease)
    assert source.count(mutation.old) == 1
    broken = ModuleType("broken_lease")
    sys.modules[broken.__name__] = broken  # where its dataclasses look for their types
    try:
        made = compile(source.replace(mutation.old, mutation.new), "broken_lease", "exec")
        exec(made, vars(broken))  # noqa: S102 - ours
        with pytest.raises(Broken):
            explore(broken, holders=0.92, watchers=1.08)
    finally:
        del sys.modules[broken.__name__]


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
