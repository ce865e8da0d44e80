"""Q. What is counted, as Prometheus reads it; and nothing that grows with what happens."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from lastword import Outcome, Run, Runtime
from lastword.errors import StoreError
from lastword.stores.contract import StoreSize
from lastword.stores.memory import MemoryStore
from tests.server.client import Client, served, serving_engine

MEANT = 'odd "name" of a \\ model\nin two lines'


async def told(client: Client) -> dict[str, dict[tuple[str, ...], float]]:
    """Each sample's value, by its name and the values of its labels."""
    answer = await client.get("/metrics")
    assert answer.status == 200
    found = dict[str, dict[tuple[str, ...], float]]()
    for family in text_string_to_metric_families(answer.body.decode()):
        assert family.documentation
        assert family.type in {"counter", "gauge", "histogram"}
        for sample in family.samples:
            values = tuple(sample.labels.values())
            found.setdefault(sample.name, {})[values] = sample.value
    return found


async def nothing() -> None:
    pass


async def engine(run: Run) -> None:
    with run.model_request(MEANT) as request:
        request.first()
        request.used(120, 45)
    await run.call(nothing)
    if run.message.text == "fail":
        with run.model_request("other one"):
            raise TimeoutError
    if run.message.text == "wait":
        await run.emit("up")
        await run.call(asyncio.Event().wait)


@pytest.mark.scenario("Q8")
async def test_what_models_and_tools_did_is_counted_in_a_form_that_a_parser_takes(
    tmp_path: Path,
) -> None:
    async with (
        Runtime(engine, store=f"sqlite:{tmp_path / 'it.db'}") as runtime,
        served(runtime) as client,
    ):
        session = runtime.session("s")
        assert await (await session.send("go")).outcome() == Outcome.COMPLETED
        assert await (await session.send("fail")).outcome() == Outcome.FAILED
        watching = session.events()
        await session.send("wait")
        async for event in watching:
            if event.kind == "begun" and event.text == "wait":
                break
        await session.stop()
        found = await told(client)

    requests = found["lastword_model_requests_total"]
    assert requests[MEANT, "completed"] == 3
    assert requests["other one", "failed"] == 1
    assert found["lastword_model_errors_total"] == {("other one", "TimeoutError"): 1}
    tokens = found["lastword_model_tokens_total"]
    assert (tokens[MEANT, "input"], tokens[MEANT, "output"]) == (360, 135)
    assert found["lastword_model_request_seconds_count"][(MEANT,)] == 3
    assert found["lastword_model_request_seconds_bucket"][MEANT, "+Inf"] == 3
    assert found["lastword_model_first_token_seconds_count"][(MEANT,)] == 3
    assert found["lastword_model_first_token_seconds_count"][("other one",)] == 0
    calls = found["lastword_tool_calls_total"]
    assert calls == {("completed",): 3, ("not started",): 0, ("may have executed",): 1}
    stops = found["lastword_stops_total"]
    assert (stops["stopped",], stops["superseded",]) == (1, 0)
    assert found["lastword_stop_seconds_count"] == {(): 1}
    assert found["lastword_store_sessions"] == {(): 1}
    size = found["lastword_store_bytes"]
    assert set(size) == {("database",), ("wal",)}
    assert all(value > 0 for value in size.values())


@pytest.mark.scenario("Q8")
async def test_a_takeover_is_counted_by_its_own_reason() -> None:
    async with serving_engine(engine) as client:
        await client.send("s", "wait")
        await client.send("s", "go")
        while (found := await told(client))["lastword_runs_total"]["completed",] < 1:
            await asyncio.sleep(0)

    assert found["lastword_stops_total"]["superseded",] == 1
    assert found["lastword_runs_total"]["superseded",] == 1


class Silent(MemoryStore):
    """It does not say how much it holds."""

    def __init__(self, error: Exception | None) -> None:
        super().__init__()
        self.error = error

    async def size(self) -> StoreSize:
        if self.error:
            raise self.error
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.scenario("Q8")
@pytest.mark.parametrize("error", [StoreError("the disk is gone"), None], ids=["raises", "hangs"])
async def test_a_store_that_does_not_answer_leaves_the_rest_to_be_told(
    error: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lastword.server.metrics._PATIENCE", 0.01)
    async with serving_engine(engine, store=Silent(error)) as client:
        found = await told(client)

    assert found["lastword_runs_active"] == {(): 0}
    assert "lastword_store_sessions" not in found


@pytest.mark.scenario("Q8")
async def test_what_is_told_does_not_grow_with_sessions_people_or_tools() -> None:
    async def busy(run: Run) -> None:
        await run.asked(f"tool of {run.session}", "{}", nothing)()

    async with Runtime(busy) as runtime, served(runtime) as client:
        sizes = set[int]()
        for number in range(3):
            session = runtime.session(f"session {number}")
            await (await session.send("go", by=f"person {number}")).outcome()
            sizes.add(sum(map(len, (await told(client)).values())))
            text = (await client.get("/metrics")).body.decode()
            assert not any(word in text for word in ("session 0", "person 0", "tool of"))

    assert len(sizes) == 1
