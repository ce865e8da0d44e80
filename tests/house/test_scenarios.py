"""The count of kept scenarios can be believed."""

from tests.scenarios import ROOT, Mark, Tally, all_scenarios, marks_in, read

DOCUMENT = """
| id | story | parts |
|---|---|---|
| A1 | one → done | |
| A2 | two | library, server |
| B1 | three | |
"""


def test_a_scenario_is_kept_when_each_part_has_a_test_and_none_failed() -> None:
    tally = Tally(read(DOCUMENT))

    tally.passed(Mark("A1"))
    tally.passed(Mark("A2", "library"))
    assert tally.lines() == [
        "scenarios kept: A 1/2  B 0/1  total 1/3",
        "partly kept: A2 (not server)",
    ]

    tally.passed(Mark("A2", "server"))
    tally.failed(Mark("A1"))
    assert tally.lines() == ["scenarios kept: A 1/2  B 0/1  total 1/3", "broken: A1"]


def test_a_test_that_names_no_part_shows_none() -> None:
    tally = Tally(read(DOCUMENT))

    tally.passed(Mark("A2"))

    assert tally.lines()[0] == "scenarios kept: A 0/2  B 0/1  total 0/3"


def test_where_nothing_was_marked_there_is_nothing_to_count() -> None:
    assert Tally(read(DOCUMENT)).lines() == []


def test_there_are_a_hundred_and_forty_six_scenarios_and_none_was_lost() -> None:
    numbers: dict[str, list[int]] = {}
    for scenario in all_scenarios().values():
        numbers.setdefault(scenario.letter, []).append(int(scenario.id[1:]))

    assert "".join(numbers) == "ASGTPCXDFIRELWYUHQBZNOK"
    assert all(those == list(range(1, len(those) + 1)) for those in numbers.values())
    assert sum(map(len, numbers.values())) >= 181


def test_every_mark_names_a_scenario_that_exists_and_a_part_that_it_lists() -> None:
    scenarios = all_scenarios()
    wrong: list[str] = []
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for mark in marks_in(file.read_text(encoding="utf-8")):
            listed = scenarios[mark.id].parts if mark.id in scenarios else frozenset[str]()
            if mark.part not in listed:
                parts = ", ".join(sorted(str(part) for part in listed)) or "no such story"
                wrong.append(f"{file.name}: {mark.id}, part {mark.part} (there is: {parts})")

    assert wrong == []
