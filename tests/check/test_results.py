"""The page of results says what the raw data beside it say."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from lastword.check.reports import as_json
from tests.scenarios import ROOT

PAGE = (ROOT / "docs" / "check" / "results.md").read_text("utf-8")
FOLDER = ROOT / "docs" / "check" / "results"
FILES = sorted(FOLDER.glob("*.json"))
OF_A_TREE = {"plain", "deaf", "session", "orphan", "daemon"}
SAYS = {"kept": ".", "cannot tell": "?", "not asked": "–"}  # noqa: RUF001 - as it is printed


def of(name: str) -> list[dict[str, Any]]:
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))["targets"]


def cell(story: dict[str, Any]) -> str:
    """As the page has it."""
    if story["verdict"] != "broken":
        return SAYS[story["verdict"]]
    runs, parts = story["runs"], story["parts"]
    broken = sum(run["verdict"] == "broken" for run in runs)
    which = [name for name in parts if name in OF_A_TREE and parts[name]["verdict"] == "broken"]
    some = f" ({', '.join(which)})" if 0 < len(which) < len(OF_A_TREE) else ""
    return f"**broken**{some}" + (f" {broken}/{len(runs)}" if broken < len(runs) else "")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_raw_data_are_as_the_schema_says(file: Any) -> None:
    jsonschema.validate(json.loads(file.read_text("utf-8")), as_json.schema())


def test_every_cell_of_the_table_is_what_the_raw_data_say() -> None:
    rows = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
    [head] = [row for row in rows if row[:2] == ["story", "level"]]
    names = head[2:]
    told = [[f"`{story['id']}`", story["level"]] for story in of(names[0])[0]["stories"]]
    told = [row for row in told if row[0] != "`tool.thread`"]
    for name in names:
        [target] = of(name)
        cells = {f"`{story['id']}`": cell(story) for story in target["stories"]}
        for row in told:
            row.append(cells[row[0]])

    shown = [row for row in rows if row[0] in {one[0] for one in told} and len(row) == len(head)]

    assert shown == told
    assert names == ["lastword", *sorted(names[1:])]
    assert {*names, "frameworks"} == {file.stem for file in FILES}


def test_every_date_and_time_is_what_the_raw_data_say() -> None:
    for file in FILES:
        targets = of(file.stem)
        [row] = [line for line in PAGE.splitlines() if f"(results/{file.name})" in line]

        assert targets[0]["date"] in row
        if len(targets) == 1:
            assert f"| {targets[0]['target']['name']} |" in row
            assert f"| {targets[0]['seconds']:.0f} s |" in row


def test_what_a_framework_breaks_is_what_the_raw_data_say() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")]
    for target in of("frameworks"):
        named, who = target["target"]["name"].rpartition(".")[2].split(":")
        [row] = [line for line in rows if line.startswith(f"| {named.replace('_', '-')} ")]
        bare, inside = row.split("|")[2:4]
        broken = [one["id"] for one in target["stories"] if one["verdict"] == "broken"]
        kept = sum(one["verdict"] == "kept" for one in target["stories"])
        if who == "Bare":
            assert [one for one in broken if f"`{one}`" not in bare] == []
            assert bare.count("`") == 2 * len(broken)
        else:
            assert (broken, f"keeps all {kept}") == ([], inside.strip())
