"""The quick lane has something of everything, and with the deep lane's rest it is all there is."""

from __future__ import annotations

from tests.lanes import Case, quick_lane
from tests.scenarios import ROOT, Mark

DEEP = [Case(f"deep[{number}]", "deep", quick=3) for number in range(50)]
PLAIN = [Case(f"plain[{number}]") for number in range(5)]


def test_what_is_not_deep_is_in_the_quick_lane_and_of_the_rest_as_many_cases_as_it_says() -> None:
    chosen = quick_lane([*PLAIN, *DEEP], seed=1)

    assert {case.id for case in PLAIN} <= chosen
    assert len(chosen) == len(PLAIN) + 3


def test_another_seed_is_another_sample_and_the_same_seed_the_same() -> None:
    samples = [quick_lane(DEEP, seed=seed) for seed in range(20)]

    assert quick_lane(DEEP[::-1], seed=0) == samples[0]
    assert len({frozenset(sample) for sample in samples}) > 10


def test_a_story_that_only_deep_tests_keep_is_kept_in_the_quick_lane_by_one_of_them() -> None:
    story = frozenset({Mark("S1"), Mark("S2", "server")})
    costly = [Case(f"costly[{number}]", "costly", quick=0, marks=story) for number in range(9)]
    kept = Case("plain", marks=frozenset({Mark("S3")}))
    again = Case("again", "again", quick=0, marks=kept.marks)

    for seed in range(20):
        chosen = quick_lane([*costly, kept, again], seed)
        assert len(chosen) == 2
        assert "plain" in chosen


def test_a_function_with_fewer_cases_than_it_may_show_shows_all() -> None:
    assert quick_lane([Case("a", "f", quick=5), Case("b", "f", quick=5)], seed=3) == {"a", "b"}


def test_no_module_takes_its_own_mark_back() -> None:
    files = {file.name: file.read_text(encoding="utf-8") for file in ROOT.glob("tests/*/test_*.py")}

    assert [name for name, text in files.items() if text.count("\npytestmark = ") > 1] == []
