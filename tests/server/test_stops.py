"""Stops, over HTTP."""

import pytest

from lastword import Outcome
from lastword.core.entries import Finished
from lastword.core.model import SessionId
from tests.promise.disk import Disk
from tests.promise.workshop import until
from tests.server.client import serving_engine, upto
from tests.server.engines import Talker


@pytest.mark.scenario("S1")
async def test_nothing_of_a_stopped_run_is_told_after_its_end() -> None:
    talker = Talker()
    async with serving_engine(talker) as client, client.events("s") as events:
        await client.send("s", "hello")
        await upto(events, "text")
        talker.go.set()
        await upto(events, "text")
        receipt = await client.stop("s")
        assert receipt["quiet"]
        assert receipt["runs"] == ["s#1"]
        seen = await upto(events, "stopped")
        after = [event["kind"] for event in seen]
        assert "text" not in after[after.index("ended") :]


async def test_the_reason_of_a_stop_is_told_to_the_model_and_an_idle_one_is_nobodys() -> None:
    async with serving_engine(Talker()) as client:
        await client.post("/v1/sessions/s/stop", {"reason": "for nothing"})
        await client.send("s", "hello")
        await client.stop("s", reason="wrong file")
        shown = (await client.get("/v1/sessions/s/transcript")).json["items"]
        notes = " ".join(item["text"] for item in shown if item["role"] == "note")
        assert "wrong file" in notes
        assert "for nothing" not in notes


async def test_an_idle_stop_says_so_and_touches_nothing() -> None:
    async with serving_engine(Talker()) as client:
        receipt = await client.stop("s")
        assert receipt["idle"]
        assert (await client.send("s", "hello")).json["generation"] == 1


@pytest.mark.scenario("S13")
async def test_a_stop_of_another_run_is_refused_and_touches_nothing() -> None:
    talker = Talker()
    async with serving_engine(talker) as client:
        await client.send("s", "one")
        await client.send("s", "two")
        await until(lambda: len(talker.runs) == 2)
        answer = await client.post("/v1/sessions/s/stop", {"run": "s#1"})
        assert (answer.status, answer.problem) == (409, "stale-run")
        assert answer.json["active"] == "s#2"
        assert talker.runs[1].current


@pytest.mark.scenario("R27", part="server")
async def test_a_stop_can_be_answered_at_the_fence_and_is_stored_by_then() -> None:
    talker, disk = Talker(), Disk()
    async with serving_engine(talker, store=disk) as client:
        await client.send("s", "one")
        await until(lambda: talker.runs)
        receipt = await client.stop("s", "?wait=fence")
        [finished] = [
            e for e in await disk.found().entries(SessionId("s")) if isinstance(e, Finished)
        ]
        assert receipt["runs"] == ["s#1"]
        assert receipt["durable"]
        assert finished.outcome == Outcome.STOPPED
        assert not talker.runs[0].current
