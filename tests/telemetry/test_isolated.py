"""Q. What an isolated run traces itself, in its process, is below the spans of its host."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lastword import Outcome
from lastword.engines.isolated import Isolated
from tests.telemetry.spans import Spans, key, trace_of


@pytest.mark.scenario("Q10")
async def test_what_a_process_of_a_run_traces_is_below_that_run_and_its_calls(
    tmp_path: Path,
) -> None:
    spans, told = Spans(), tmp_path / "told"
    async with spans.runtime(Isolated("tests.telemetry.apart_traced:engine")) as runtime:
        ticket = await runtime.session("s").send(str(told))
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    run = spans.one("lastword.run")
    above = {
        "waits": spans.one("execute_tool first"),
        "looks": spans.one("execute_tool second"),
        "thinks": run,
    }
    found = json.loads(told.read_text())
    assert {one["name"]: one["parent"] for one in found} == {n: key(s) for n, s in above.items()}
    assert {one["trace"] for one in found} == {trace_of(run)}
