"""The quick lane has something of everything, and with the deep lane's rest it is all there is."""

from __future__ import annotations

import pytest

from tests.costs import CHEAP, of, worth_keeping
from tests.lanes import Case, affordable
from tests.scenarios import ROOT, Mark

CHEAPS = [Case(f"cheap[{number}]", CHEAP / 2) for number in range(5)]
DEARS = [Case(f"dear[{number}]", cost=1.0) for number in range(50)]
STORY = frozenset({Mark("S1"), Mark("S2", "server")})


def test_what_is_cheap_is_there_whatever_the_budget_and_of_the_rest_as_much_as_fits() -> None:
    chosen = affordable([*CHEAPS, *DEARS], 3.5, seed=1)

    assert {case.id for case in CHEAPS} <= chosen
    assert len(chosen) == len(CHEAPS) + 3
    assert affordable([*CHEAPS, *DEARS], 0, seed=1) == {case.id for case in CHEAPS}


def test_without_a_bound_to_the_budget_everything_is_there() -> None:
    assert len(affordable([*CHEAPS, *DEARS], float("inf"), seed=1)) == len(CHEAPS) + len(DEARS)


def test_another_seed_is_another_sample_and_the_same_seed_the_same() -> None:
    samples = [affordable(DEARS, 3, seed=seed) for seed in range(20)]

    assert affordable(DEARS[::-1], 3, seed=0) == samples[0]
    assert len({frozenset(sample) for sample in samples}) > 10


def test_each_function_has_a_case_in_the_sample_before_one_has_two() -> None:
    others = [Case(f"other{number}[{case}]", 1.0) for number in range(5) for case in range(2)]

    chosen = affordable([*DEARS, *others], 6, seed=2)

    assert {name.partition("[")[0] for name in chosen} == {"dear", *(f"other{n}" for n in range(5))}


def test_a_story_that_only_dear_tests_keep_is_kept_by_the_cheapest_whatever_the_budget() -> None:
    dear = [Case(f"dear[{number}]", 5.0 + number, STORY) for number in range(9)]
    kept = Case("cheap", CHEAP / 2, frozenset({Mark("S3")}))
    again = Case("again", 9.0, kept.marks)

    for seed in range(20):
        assert affordable([*dear, kept, again], 0, seed) == {"dear[0]", "cheap"}


def test_a_story_that_another_lane_keeps_is_not_kept_again_out_of_turn() -> None:
    assert affordable([Case("dear", 5.0, STORY)], 0, 1, kept=STORY) == set()


@pytest.mark.parametrize("lane", ["quick", "deep"])
def test_what_was_measured_in_one_lane_alone_is_taken_to_cost_the_same_in_the_other(
    lane: str,
) -> None:
    costs = {"quick": {"both": 1.0, "one": 3.0}, "deep": {"both": 2.0, "other": 4.0}}

    assert of(costs, lane, "both[a]") == {"quick": 1.0, "deep": 2.0}[lane]
    assert of(costs, lane, "one[a]") == 3.0
    assert of(costs, lane, "other") == 4.0
    assert of(costs, lane, "never measured") < CHEAP


def test_a_case_that_costs_much_more_than_the_others_of_its_function_is_known_by_itself() -> None:
    cases = {"f[a]": 0.2, "f[b]": 0.4, "f[c]": 9.0}

    kept = worth_keeping("f", cases)

    assert kept == {"f": 0.3, "f[c]": 9.0}
    costs = {"quick": kept, "deep": {}}
    assert [of(costs, "quick", case) for case in cases] == [0.3, 0.3, 9.0]
    assert worth_keeping("g", {"g[a]": 0.01, "g[b]": 0.02}) == {}


def test_no_module_takes_its_own_mark_back() -> None:
    files = {file.name: file.read_text(encoding="utf-8") for file in ROOT.glob("tests/*/test_*.py")}

    assert [name for name, text in files.items() if text.count("\npytestmark = ") > 1] == []
