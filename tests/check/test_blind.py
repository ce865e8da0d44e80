"""Silence counts only after a control: a kit that cannot see does not say *kept*."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lastword.check.asked import Subject
from lastword.check.catalogue import BY_ID
from lastword.check.contract import CannotStart
from lastword.check.judge import Commission, Judge
from lastword.check.machine import TOO_LATE, Lag
from lastword.check.recipes import Recipe
from lastword.check.targets.acp import AcpTarget
from lastword.testing.provider import Provider
from tests.check.judging import BUSY, PLANTED, judged, planted_acp, planted_python, told

ON_TOOLS = ("tool.no-effect", "tool.deaf", "tool.once", "next.history", "next.truth")


class WithoutOurTools(AcpTarget):
    def make(self, method: str, params: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        return super().make(
            method, {**params, "mcpServers": []} if "mcpServers" in params else params
        )


@pytest.mark.scenario("K3")
async def test_nothing_is_known_of_tools_that_are_not_offered() -> None:
    def make() -> AcpTarget:
        return WithoutOurTools([sys.executable, PLANTED], Recipe())

    report = await judged(make, *ON_TOOLS, "text.quiet")

    assert told(report, "cannot tell") == dict.fromkeys(ON_TOOLS, "mcp: our tools are not offered")
    assert set(told(report, "kept")) == {"text.quiet"}


@pytest.mark.scenario("K3")
async def test_nothing_is_known_of_deeds_when_the_journal_is_lost() -> None:
    report = await judged(planted_python(), *ON_TOOLS, journal=Path("/dev/null"))

    lost = "the journal: what is written there is not read here"
    assert told(report, "cannot tell") == dict.fromkeys(ON_TOOLS, lost)


@pytest.mark.scenario("K3")
async def test_nothing_is_known_of_processes_that_give_no_sign_of_life() -> None:
    report = await judged(planted_acp("runs-no-trees"), "shell.tree")

    assert told(report, "cannot tell") == {"shell.tree": "the processes did not start (end_turn)"}


@pytest.mark.scenario("K3")
async def test_a_check_does_not_begin_when_another_model_is_asked() -> None:
    async with Provider(strict=False) as other:
        other.always(lambda _: "hello")
        env = {"OPENAI_BASE_URL": f"{other.url}/v1"}
        make = Subject("acp", command=[sys.executable, PLANTED], env=env).maker()
        with pytest.raises(CannotStart, match="does not ask our model"):
            await judged(make)


def _late(*_: object) -> float:
    return TOO_LATE * 2


@pytest.mark.scenario("K3")
async def test_what_was_seen_on_a_machine_that_was_too_busy_is_not_believed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Lag, "since", _late)

    story = BY_ID["next.history"]
    report = await Judge(planted_acp("forgets-results"), Commission([story])).report()

    [why] = told(report, "cannot tell").values()
    assert why == f"{BUSY} (0.5 s late)"
