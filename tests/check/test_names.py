"""What an answer names as going on, and whom that excuses."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lastword.check.deeds import Deed
from lastword.check.names import still_going, unnamed
from tests.check.judging import judged, planted_acp, told

STORIES = ("tool.no-effect", "shell.tree")


def deed(pid: int, tool: str = "tree", **more: Any) -> Deed:
    return {"tool": tool, "run": "qb", "pid": pid, "what": "effect", **more}


def excused(names: list[str], *deeds: Deed) -> list[int]:
    left, _ = unnamed(names, deeds)
    return [one["pid"] for one in deeds if one not in left]


@pytest.mark.scenario("K13")
def test_a_name_excuses_what_it_names_and_nothing_else() -> None:
    two = deed(12, part="plain"), deed(123, part="daemon")
    calls = [deed(9, "lw_slow", n=number) for number in range(3)]

    assert excused(["something quite unrelated", "pid 1", "1234"], *two) == []
    assert excused(["process 12, which is being ended"], *two) == [12]
    assert excused(["sh -c 'witness.py tree journal qb'"], *two) == [12, 123]
    assert excused(["lw_slowly", "lw_deaf"], *calls) == []
    assert len(unnamed(["tool lw_slow"], calls)[0]) == 2
    assert len(unnamed(["tool lw_slow"] * 3, calls)[0]) == 0


def test_names_are_found_wherever_an_answer_lists_them() -> None:
    receipt = {"unconfirmed": [{"kind": "tool", "name": "lw_slow"}], "quiet": False}

    assert still_going({"lastword": {"receipt": receipt}}) == [
        '{"kind": "tool", "name": "lw_slow"}'
    ]
    assert still_going({"kept": ["a", "b"], "stillGoing": "c", "words": ["d"]}) == ["a", "b", "c"]
    assert still_going({"kept": [], "unconfirmed": None}) == []


@pytest.mark.scenario("K13")
async def test_an_agent_that_names_something_else_is_not_excused() -> None:
    another, itself = await asyncio.gather(
        judged(planted_acp("names-something-else"), *STORIES, repeat=1),
        judged(planted_acp("names-what-goes-on"), *STORIES, repeat=1),
    )

    assert set(told(another, "broken")) == set(STORIES)
    assert set(told(itself, "kept")) == set(STORIES)
    assert all("pid" in one.named[0] for one in itself.results)
