"""Messages and stops, over HTTP."""

import asyncio

import pytest

from lastword import Run
from tests.promise.workshop import until
from tests.server.client import serving_engine, upto


class Talker:
    """Says a word whenever it is let, for as long as it may."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.runs: list[Run] = []

    async def __call__(self, run: Run) -> None:
        self.runs.append(run)
        await run.emit(f"about {run.message.text}: ")
        await self.go.wait()
        while True:
            await run.emit("word ")
            await asyncio.sleep(0)


async def test_a_message_is_durable_when_it_is_answered_and_the_same_again_is_the_same() -> None:
    async with serving_engine(Talker()) as client:
        first = await client.send("s", "hello", id="mine")
        again = await client.send("s", "hello", id="mine")
        assert first.status == again.status == 202
        assert first.json == again.json
        assert first.json["placed"] == "starting"


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


async def test_a_stop_can_be_answered_at_the_fence() -> None:
    talker = Talker()
    async with serving_engine(talker) as client:
        await client.send("s", "one")
        await until(lambda: talker.runs)
        receipt = await client.stop("s", "?wait=fence")
        assert receipt["runs"] == ["s#1"]
        assert not talker.runs[0].current
