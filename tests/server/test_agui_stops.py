"""AG-UI's own client: a stop, a takeover, and what waits for its turn."""

from __future__ import annotations

import asyncio

import pytest

from tests.promise.workshop import until
from tests.server.agui_stories import (
    CANCELLED,
    SUCCESS,
    Speaker,
    Worker,
    agents,
    body,
    gone,
    told,
    user,
)
from tests.server.engines import Doors

W59 = pytest.mark.scenario("W59", part="server")
W60 = pytest.mark.scenario("W60", part="server")


# stops


@W59
async def test_after_a_stop_the_stream_has_the_receipt_and_an_end_and_nothing_else() -> None:
    engine = Speaker()
    async with agents(engine) as (client, node):
        agent = node.agent("a", "t")
        await agent.run("all day")
        await agent.upto("TEXT_MESSAGE_CONTENT")
        receipt = await client.stop("t")
        end = await agent.end()

        rows = [one["words"] for one in receipt["rows"]]
        custom = agent.events[-2]
        assert agent.kinds[-3:] == ["TEXT_MESSAGE_END", "lastword.receipt", "RUN_FINISHED"]
        assert [one["words"] for one in custom["value"]["rows"]] == rows
        assert end["last"]["outcome"] == CANCELLED
        assert end["last"]["result"]["outcome"] == "stopped"
        assert end["last"]["result"]["words"].startswith("Stopped: 1 answer cut off")
        log = (await client.get("/v1/sessions/t/log?limit=1000")).json["entries"]
        stored = "".join(one["text"] for one in log if one["kind"] == "text")
        assert stored.startswith(agent.text)
        assert end["messages"][-1]["content"] == agent.text


@W59
async def test_a_call_that_a_stop_cut_off_is_told_as_one_that_may_have_been_made() -> None:
    engine = Worker()
    async with agents(engine) as (client, node):
        agent = node.agent("a", "t")
        await agent.run("go")
        await agent.upto("TOOL_CALL_END")
        await engine.began.wait()
        await client.stop("t")
        end = await agent.end()

        assert end["messages"][-1]["content"] == "[may have executed]"
        assert agent.kinds[-3:] == ["TOOL_CALL_RESULT", "lastword.receipt", "RUN_FINISHED"]


@W59
async def test_who_hangs_up_has_stopped_the_run_and_is_told_so_when_they_come_back() -> None:
    engine = Speaker()
    async with agents(engine) as (client, node):
        agent = node.agent("a", "t")
        await agent.run("all day")
        await agent.upto("TEXT_MESSAGE_CONTENT")
        await agent.abort()
        end = await agent.end()
        assert (end["last"]["type"], end["last"]["code"]) == ("RUN_ERROR", "abort")
        await until(lambda: not engine.runs[0].current)
        [receipt] = (await client.get("/v1/sessions/t/receipts")).json["receipts"]
        assert (receipt["reason"], receipt["runs"]) == ("stopped", ["t#1"])

        again = await agent.said()  # no words: to see what there is
        shown = [one for one in again["messages"] if one["role"] == "activity"]
        assert [one["content"]["words"] for one in shown] == [receipt["words"]]
        assert again["last"]["outcome"] == SUCCESS, "nothing is going"


@W59
async def test_who_says_that_they_come_back_stops_nothing_and_hears_the_rest() -> None:
    engine = Doors()
    async with agents(engine) as (client, node):
        agent = node.agent("a", "t")
        await agent.run("long", query="?on_disconnect=continue")
        await agent.upto("TEXT_MESSAGE_CONTENT")
        await agent.abort()
        await agent.end()
        await gone(client)
        await agent.run()
        await agent.upto("MESSAGES_SNAPSHOT")
        engine.let("long")
        end = await agent.end()

        assert end["last"]["outcome"] == SUCCESS
        assert [one["content"] for one in end["messages"]] == ["long", "re: long"]
        assert (await client.get("/v1/sessions/t/receipts")).json["receipts"] == []


@W59
async def test_a_client_of_before_1_0_is_told_no_outcome_that_it_does_not_know() -> None:
    engine = Doors()
    async with agents(engine) as (client, _):
        asked = asyncio.create_task(client.post("/v1/agui", body(messages=[user("long")])))
        await until(lambda: "long" in engine.runs)
        await client.stop("t")
        *_, last = told(await asked)

        assert last["type"] == "RUN_FINISHED"
        assert last["result"]["outcome"] == "stopped"
        assert "outcome" not in last


# takeover


@W60
async def test_a_second_run_of_a_thread_ends_the_first_which_says_so_and_nothing_more() -> None:
    engine = Doors("new words")
    async with agents(engine) as (_, node):
        first, second = node.agent("a", "t"), node.agent("b", "t")
        await first.run("long")
        await first.upto("TEXT_MESSAGE_CONTENT")
        came = await second.said("new words")
        went = await first.end()

        assert went["last"]["outcome"] == CANCELLED
        assert went["last"]["result"]["outcome"] == "superseded"
        assert first.kinds[-3:] == ["TEXT_MESSAGE_END", "lastword.receipt", "RUN_FINISHED"]
        assert first.text == "re: long"
        assert came["last"]["outcome"] == SUCCESS
        assert second.text == "re: new words"
        [receipt] = [one["value"] for one in second.events if one.get("name") == "lastword.receipt"]
        assert receipt["reason"] == "superseded", "who took over hears what they ended"


@W60
async def test_of_many_runs_that_take_over_from_each_other_each_stream_has_its_end() -> None:
    engine = Speaker()
    async with agents(engine) as (client, node):
        every = [node.agent(f"{number}", "t") for number in range(8)]
        for number, agent in enumerate(every):
            await agent.run(f"number {number}")
            await agent.upto("RUN_STARTED")
        await every[-1].upto("TEXT_MESSAGE_CONTENT")
        await client.stop("t")
        ends = [await agent.end() for agent in every]

        assert [end["last"]["outcome"] for end in ends] == [CANCELLED] * 8
        outcomes = [end["last"]["result"]["outcome"] for end in ends]
        assert outcomes == ["superseded"] * 7 + ["stopped"]
        for number, agent in enumerate(every):
            others = [f"number {other}" for other in range(8) if other != number]
            assert not any(other in agent.text for other in others), "each tells of its own run"


@W60
async def test_what_waits_for_its_turn_is_told_so_and_ends_when_it_is_taken_back() -> None:
    engine = Doors()
    async with agents(engine, on_message="queue") as (client, node):
        first, second, third = (node.agent(name, "t") for name in "abc")
        await first.run("one")
        await first.upto("TEXT_MESSAGE_CONTENT")
        await second.run("two", id_="two")
        assert [
            one["id"] for one in (await second.upto("lastword.queue"))["value"]["messages"]
        ] == ["two"]
        await third.run("three")
        await third.upto("lastword.queue")
        await client.ask("DELETE", "/v1/sessions/t/queue/two")
        end = await second.end()
        assert end["last"]["outcome"] == CANCELLED
        words = "Taken back before its turn came: nothing of it was done."
        assert end["last"]["result"] == {"outcome": "withdrawn", "words": words}
        engine.let("one", "three")

        assert (await first.end())["last"]["outcome"] == SUCCESS
        assert (await third.end())["last"]["outcome"] == SUCCESS
        assert (second.text, third.text) == ("", "re: three")


@W60
async def test_a_stop_ends_the_streams_of_what_waited_too() -> None:
    engine = Doors()
    async with agents(engine, on_message="queue") as (client, node):
        first, second = node.agent("a", "t"), node.agent("b", "t")
        await first.run("one")
        await first.upto("TEXT_MESSAGE_CONTENT")
        await second.run("two")
        await second.upto("lastword.queue")
        await client.stop("t")

        for end in (await first.end(), await second.end()):
            assert end["last"]["result"]["outcome"] == "stopped"
        assert engine.order == ["one"]


@W59
async def test_who_only_joined_stops_nothing_by_leaving() -> None:
    engine = Doors()
    async with agents(engine) as (client, node):
        first, second = node.agent("a", "t"), node.agent("b", "t")
        await first.run("long")
        await first.upto("TEXT_MESSAGE_CONTENT")
        await second.run()
        await second.upto("MESSAGES_SNAPSHOT")
        await second.abort()
        await second.end()
        await gone(client, but=1)
        engine.let("long")

        assert (await first.end())["last"]["outcome"] == SUCCESS
        assert (await client.get("/v1/sessions/t/receipts")).json["receipts"] == []
