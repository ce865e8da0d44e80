"""AG-UI's own client hangs up: what it asked for ends, and nothing that others asked for."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from lastword import Run, Runtime
from lastword.agent.permission import Questions
from lastword.server import ApiToken, Right
from tests.promise.workshop import until
from tests.server.agui_stories import OTHER, SUCCESS, agents, body, gone, told, user
from tests.server.client import SECRET, Client, served
from tests.server.engines import Doors

W59 = pytest.mark.scenario("W59", part="server")
W60 = pytest.mark.scenario("W60", part="server")
ALL: tuple[Right, ...] = ("read", "send", "stop")


async def waiting(client: Client) -> list[str]:
    """What waits for its turn."""
    return [one["text"] for one in (await client.get("/v1/sessions/t/queue")).json["messages"]]


async def receipts(client: Client) -> list[Any]:
    return (await client.get("/v1/sessions/t/receipts")).json["receipts"]


async def asked(client: Client, **more: object) -> asyncio.StreamWriter:
    """A request that is not npm's, from when it has been told where it begins."""
    reader, writer = await client.open()
    writer.write(client.request("POST", "/v1/agui", json.dumps(body(**more)).encode()))
    await reader.readuntil(b"MESSAGES_SNAPSHOT")
    return writer


@W59
async def test_who_leaves_takes_back_their_own_words_and_nobody_elses_of_the_same_turn() -> None:
    engine = Doors()
    async with agents(engine, ALL, on_message="collect") as (client, node):
        await client.send("t", "one")
        first, second = node.agent("a", "t"), node.agent("b", "t", OTHER)
        await first.run("ann's")
        await first.upto("lastword.queue")
        await second.run("bob's")
        await second.upto("lastword.queue")
        assert await waiting(client) == ["ann's", "bob's"]
        await second.abort()
        await second.end()
        await gone(client, but=1)

        assert await waiting(client) == ["ann's"]
        assert await receipts(client) == []


@W59
async def test_who_leaves_takes_back_all_that_the_request_said_and_that_waits() -> None:
    engine = Doors()
    async with agents(engine, on_message="queue") as (client, _):
        await client.send("t", "one")
        await client.send("t", "in another way")
        writer = await asked(client, messages=[user("two"), user("three")])
        assert await waiting(client) == ["in another way", "two", "three"]
        writer.close()
        await gone(client)

        assert await waiting(client) == ["in another way"]
        assert engine.order == ["one"]


@W59
async def test_a_turn_of_several_that_one_request_said_is_stopped_by_leaving() -> None:
    engine = Doors()
    async with agents(engine) as (client, _):
        writer = await asked(client, messages=[user("two"), user("three")])
        await until(lambda: "two\n\nthree" in engine.runs)
        writer.close()
        await gone(client)

        assert not engine.runs["two\n\nthree"].current
        assert [one["reason"] for one in await receipts(client)] == ["stopped"]


@W59
async def test_who_leaves_a_turn_that_answers_others_too_stops_nothing() -> None:
    engine, both = Doors(), "ann's\n\nbob's"
    async with agents(engine, ALL, on_message="steer") as (client, node):
        first, second = node.agent("a", "t"), node.agent("b", "t", OTHER)
        await client.send("t", "one")
        for agent, text in ((first, "ann's"), (second, "bob's")):
            await agent.run(text)
            await agent.upto("lastword.queue")
        engine.let("one")
        await until(lambda: both in engine.runs)
        await second.abort()
        await second.end()
        await gone(client, but=1)
        engine.let(both)

        assert (await first.end())["last"]["outcome"] == SUCCESS
        assert await receipts(client) == []


class Steered:
    """Takes up what is sent to steer it, once it is let, and goes on until it is let end."""

    def __init__(self) -> None:
        self.take, self.taken, self.end = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def __call__(self, run: Run) -> None:
        await run.emit("I begin. ")
        await self.take.wait()
        await run.steering()
        self.taken.set()
        await self.end.wait()


@W59
@pytest.mark.parametrize("token", [SECRET, OTHER])
async def test_who_leaves_after_their_words_were_taken_up_stops_nothing(token: str) -> None:
    engine = Steered()
    async with agents(engine, ALL, on_message="steer") as (client, node):
        first, second = node.agent("a", "t"), node.agent("b", "t", token)
        await first.run("begin")
        await first.upto("TEXT_MESSAGE_CONTENT")
        await second.run("steer")
        await second.upto("lastword.queue")
        engine.take.set()
        await engine.taken.wait()
        await second.abort()
        await second.end()
        await gone(client, but=1)
        engine.end.set()

        assert (await first.end())["last"]["outcome"] == SUCCESS
        assert await receipts(client) == []


@W60
async def test_of_several_words_the_rest_is_answered_when_one_is_taken_back() -> None:
    engine = Steered()
    async with agents(engine, on_message="steer") as (client, node):
        first = node.agent("a", "t")
        await first.run("begin")
        await first.upto("TEXT_MESSAGE_CONTENT")
        both = body(messages=[user("one"), user("two")])
        second = asyncio.create_task(client.post("/v1/agui", both))
        await gone(client, but=2)
        await client.ask("DELETE", "/v1/sessions/t/queue/said%20two")
        engine.take.set()
        await engine.taken.wait()
        engine.end.set()

        assert (await first.end())["last"]["outcome"] == SUCCESS
        assert told(await second)[-1]["outcome"] == SUCCESS


@W59
async def test_the_same_message_sent_again_by_somebody_else_is_not_theirs_to_take_back() -> None:
    engine = Doors()
    async with agents(engine, ALL, on_message="queue") as (client, node):
        await client.send("t", "one")
        first, second = node.agent("a", "t"), node.agent("b", "t", OTHER)
        await first.run("two")
        await first.upto("lastword.queue")
        await second.run("two")
        await second.upto("MESSAGES_SNAPSHOT")
        await second.abort()
        await second.end()
        await gone(client, but=1)

        assert await waiting(client) == ["two"]


class Parent:
    """Starts a run that outlives it and asks; to other words it answers behind a door."""

    def __init__(self) -> None:
        self.doors = Doors()

    async def __call__(self, run: Run) -> None:
        if run.message.text == "begin":
            await run.child("asks", engine=self.child, keep=True)
        else:
            await self.doors(run)

    async def child(self, run: Run) -> None:
        async def pay() -> str:
            return "paid"

        await run.call(pay)


@W59
async def test_who_answers_for_what_outlived_its_run_stops_no_other_run_by_leaving() -> None:
    engine, questions = Parent(), Questions()
    tokens = (ApiToken(SECRET, "ann", principal="home"), ApiToken(OTHER, "bob", ALL, "home"))
    async with (
        Runtime(engine, before_tool=questions.as_before_tool()) as runtime,
        served(runtime, questions=questions, tokens=tokens) as client,
    ):
        await client.send("t", "begin")
        await until(lambda: questions.open() and not runtime.session("home/t").busy)
        await client.as_(OTHER).send("t", "bob's")
        await until(lambda: "bob's" in engine.doors.runs)
        [question] = questions.open()
        yes = {"status": "resolved", "payload": {"approved": True}}
        interrupt = f"{question.id}@{question.generation}"
        writer = await asked(client, resume=[{"interruptId": interrupt, **yes}])
        assert questions.open() == ()
        writer.close()
        await gone(client)

        assert engine.doors.runs["bob's"].current
        assert await receipts(client) == []
