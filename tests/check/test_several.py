"""Several targets in one file, several runs of one story, and what was not kept, told again."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.check.judging import PLANTED
from tests.check.test_command import OF, checked

FORGETS = "forgets-results"
STORY = ("--only", "next.history")


def file_of(folder: Path, *faults: str) -> str:
    """A target for each fault; *good* is none."""
    commands = [[*OF, fault] if fault != "good" else OF for fault in faults]
    tables = [f'[[target]]\nkind = "acp"\ncommand = {json.dumps(one)}\n' for one in commands]
    file = folder / f"{'-and-'.join(faults)}.toml"
    file.write_text("\n".join(tables), encoding="utf-8")
    return str(file)


def report(file: Path) -> list[dict[str, Any]]:
    return json.loads(file.read_text("utf-8"))["targets"]


@pytest.mark.scenario("K16")
async def test_what_one_of_several_targets_breaks_has_not_healed(tmp_path: Path) -> None:
    known, written = tmp_path / "known", tmp_path / "report.json"
    known.write_text("next.history\n", encoding="utf-8")
    listed = (*STORY, "--baseline", str(known))

    (one, told), (both, healed) = await asyncio.gather(
        checked("all", file_of(tmp_path, FORGETS, "good"), *listed, "--json", str(written)),
        checked("all", file_of(tmp_path, "good", "good"), *listed),
    )

    assert (one, both) == (0, 1)
    assert "take it out" not in told
    assert "next.history is in the baseline, and is kept: take it out" in healed
    names = [target["target"]["name"] for target in report(written)]
    assert names == ["planted forgets-results 1", "planted good 1"]


@pytest.mark.scenario("K16")
async def test_what_was_not_kept_is_told_again_and_as_often_as_it_is_said(tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    stories = ("--only", "text.silent-model,next.history")

    await checked("acp", *stories, "--json", str(first), "--", *OF, FORGETS)
    again = ("--again", str(first), "--repeat", "2", "--json", str(second))
    code, _ = await checked("acp", *again, "--", *OF)

    assert code == 0
    [target] = report(second)
    found = {story["id"]: [run["verdict"] for run in story["runs"]] for story in target["stories"]}
    assert found == {"next.history": ["kept", "kept"]}


@pytest.mark.scenario("K10")
async def test_a_must_that_cannot_be_told_has_an_end_of_its_own() -> None:
    blind = ("acp", *STORY, "--journal", "/dev/null")

    ends = await asyncio.gather(
        checked(*blind, "--", *OF),
        checked(*blind, "--allow-unknown", "--", *OF),
    )

    assert [code for code, _ in ends] == [3, 0]
    assert "cannot tell" in ends[0][1]


async def test_a_server_that_is_started_here_is_not_called_after_its_port() -> None:
    file = str(Path(PLANTED).with_name("as_responses.py"))
    where = "http://127.0.0.1:{port}/v1/responses"

    code, told = await checked(
        "responses",
        where,
        "--only",
        "text.silent-model",
        "--",
        sys.executable,
        file,
        "{port}",
        "good",
    )

    assert code == 0
    assert "http://127.0.0.1/v1/responses, check 1" in told
    assert "{port}" not in told
