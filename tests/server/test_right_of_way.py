"""What has right of way: a stop, a delete and health are answered whatever else is asked, and by
whomever."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from lastword import Runtime
from lastword.server import ApiToken, Right, ServerLimits
from lastword.server.limits import RESERVE
from lastword.server.serve import AT_ONCE
from tests.promise.workshop import until
from tests.server.client import SECRET, Client, read_answer, read_head, served
from tests.server.engines import Doors
from tests.server.hostile import room_for

SENDER, OTHER = "the token of who sends only", "the token of somebody else"
_MESSAGES = "/v1/sessions/s/messages"


@asynccontextmanager
async def crowd(limits: ServerLimits) -> AsyncGenerator[tuple[Client, Doors]]:
    """A server in which something goes on that its person may want to stop."""
    engine, sends = Doors(), tuple[Right, ...](("send",))
    tokens = (
        ApiToken(SECRET, "ann"),
        ApiToken(SENDER, "hers", sends, "ann"),
        ApiToken(OTHER, "other"),
    )
    async with (
        Runtime(engine) as runtime,
        served(runtime, limits=limits, tokens=tokens) as client,
    ):
        assert (await client.send("s", "go")).status == 202
        await until(lambda: engine.runs)
        yield client, engine


async def slow(client: Client, path: str, stack: AsyncExitStack) -> asyncio.StreamReader:
    """A request whose body does not come."""
    reader, writer = await client.open()
    stack.callback(writer.close)
    writer.write(client.request("POST", path, b'{"text": "x"}')[:-1])
    return reader


@pytest.mark.scenario("W8", part="server")
async def test_bodies_that_do_not_come_keep_nobody_from_stopping_or_sending() -> None:
    async with crowd(ServerLimits(requests=4)) as (client, engine), AsyncExitStack() as stack:
        for _ in range(12):
            await slow(client.as_(SENDER), _MESSAGES, stack)
            await slow(client, "/v1/sessions/s/stop", stack)
        assert (await client.send("t", "hello")).status == 202, "it counts once it is here"
        assert (await client.stop("s"))["runs"] == ["s#1"]
        assert not engine.runs["go"].current
        assert (await client.ask("DELETE", "/v1/sessions/s")).status == 200


@pytest.mark.scenario("W8", part="server")
async def test_requests_that_are_being_answered_keep_no_stop_waiting() -> None:
    engine, limits = Doors(), ServerLimits(requests=0)
    async with Runtime(engine) as runtime, served(runtime, limits=limits) as client:
        refused = await client.send("s", "hello")
        assert (refused.status, refused.problem) == (429, "too-many")
        await runtime.session("s").send("go")
        assert (await client.get("/healthz")).status == 200
        assert (await client.get("/readyz")).status == 200
        said = await client.send("s", "Stop!", heed_stop=True)
        assert said.json["receipt"]["runs"] == ["s#1"]
        await runtime.session("s").send("more")
        assert (await client.stop("s"))["runs"] == ["s#2"]
        assert (await client.ask("DELETE", "/v1/sessions/s")).status == 200


@pytest.mark.scenario("W8", part="server")
async def test_streams_and_bodies_on_every_connection_keep_no_stop_out() -> None:
    limits = ServerLimits(connections=6)
    async with crowd(limits) as (client, engine), AsyncExitStack() as stack:
        for _ in range(3):
            events = await stack.enter_async_context(client.events("s"))
            await anext(events)
        for _ in range(20):
            await slow(client.as_(SENDER), _MESSAGES, stack)
        for _ in range(3):  # and those gave way
            events = await stack.enter_async_context(client.as_(OTHER).events("s"))
            await anext(events)
        for path in ("/v1/me", "/", "/v1/sessions/s"):
            answer = await client.get(path)
            assert (answer.status, answer.problem) == (429, "too-many"), "there is no more room"
        for _ in range(600):  # nor do those who only come, or are slow to say what they want
            _, writer = await client.open()
            stack.callback(writer.close)
        for _ in range(600):
            await slow(client.as_(OTHER), "/v1/sessions/s/stop", stack)
        assert (await client.get("/healthz")).status == 200
        assert (await client.stop("s"))["runs"] == ["s#1"]
        assert not engine.runs["go"].current
        assert (await client.ask("DELETE", "/v1/sessions/s")).status == 200


@pytest.mark.scenario("W8", part="server")
async def test_words_that_mean_stop_are_heard_when_every_connection_is_taken() -> None:
    async with crowd(ServerLimits(connections=2)) as (client, engine), AsyncExitStack() as stack:
        for _ in range(2):
            events = await stack.enter_async_context(client.events("s"))
            await anext(events)
        for text, heed in (("stop", False), ("hello", True), (f"stop {'x' * 2000}", True)):
            refused = await client.send("s", text, heed_stop=heed)
            assert (refused.status, refused.problem) == (429, "too-many"), text
        assert engine.runs["go"].current
        nobody = await client.as_(None).send("s", "stop", heed_stop=True)
        assert nobody.status == 401
        told = await client.send("s", "Stop, please!", heed_stop=True)
        assert told.json["receipt"]["runs"] == ["s#1"]
        assert not engine.runs["go"].current


@pytest.mark.scenario("W8", part="server")
async def test_only_so_many_bytes_of_bodies_are_waited_for_and_a_stops_are_not_among_them() -> None:
    async with crowd(ServerLimits(arriving=1 << 20)) as (client, _), AsyncExitStack() as stack:
        body = b'{"text": "' + b"x" * 600_000
        half = client.request("POST", _MESSAGES, body + b'"}')[:-2]
        readers = list[asyncio.StreamReader]()
        for _ in range(2):
            reader, writer = await client.open()
            stack.callback(writer.close)
            writer.write(half)
            readers.append(reader)
        told = [asyncio.create_task(read_answer(reader)) for reader in readers]
        done, waits = await asyncio.wait(told, return_when=asyncio.FIRST_COMPLETED)
        for one in waits:
            one.cancel()
        refused = done.pop().result()
        assert (refused.status, refused.problem) == (429, "too-many")
        assert (await client.stop("s", reason="enough"))["runs"] == ["s#1"]
        huge = await client.post("/v1/sessions/s/stop", {"reason": "x" * 20_000})
        assert (huge.status, huge.problem) == (413, "too-large")


@pytest.mark.scenario("W8", part="server")
async def test_words_that_mean_stop_are_heard_when_no_more_bytes_of_bodies_are_waited_for() -> None:
    engine, limits = Doors(), ServerLimits(arriving=10)
    async with Runtime(engine) as runtime, served(runtime, limits=limits) as client:
        await runtime.session("s").send("go")
        refused = await client.send("s", "x" * 2000)
        assert (refused.status, refused.problem) == (429, "too-many")
        said = await client.send("s", "stop", heed_stop=True)
        assert said.json["receipt"]["runs"] == ["s#1"]


@pytest.mark.scenario("W8", part="server")
async def test_a_connection_of_the_reserve_is_as_good_as_any_when_there_is_room() -> None:
    async with crowd(ServerLimits(connections=1)) as (client, _):
        async with client.events("s") as events:
            await anext(events)
            reader, writer = await client.open()
            ask = client.request("GET", "/healthz").replace(b"connection: close\r\n", b"")
            writer.write(ask)
            assert (await read_answer(reader)).status == 200
        while True:  # the stream is gone when the server has noticed
            writer.write(client.request("GET", "/v1/me").replace(b"connection: close\r\n", b""))
            status, headers = await read_head(reader)
            await reader.readexactly(int(headers["content-length"]))
            if status == 200:
                break
            writer.close()
            reader, writer = await client.open()
        writer.close()


@pytest.mark.scenario("W15", part="server")
async def test_a_flood_of_connections_is_taken_a_few_at_a_time_within_the_limit() -> None:
    flood, most = 1500, 20
    room_for(2 * flood + 500)
    async with crowd(ServerLimits(connections=most)) as (client, engine), AsyncExitStack() as stack:
        for _ in range(flood):  # nobody takes them: the loop waits for this
            one = stack.enter_context(socket.socket())
            one.connect(("127.0.0.1", client.port))
        before = highest = last = _descriptors()
        stopped = asyncio.create_task(client.stop("s"))
        while not stopped.done():
            await asyncio.sleep(0)
            now = _descriptors()
            assert now - last <= 2 * AT_ONCE, "in one step"
            highest, last = max(highest, now), now
        assert (await stopped)["runs"] == ["s#1"]
        assert not engine.runs["go"].current
        assert highest - before <= most + RESERVE + 4 * AT_ONCE


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - only counted


@pytest.mark.scenario("W15", part="server")
async def test_a_stop_waits_for_few_of_those_who_ask_at_the_same_time() -> None:
    many = 200
    async with crowd(ServerLimits()) as (client, engine), AsyncExitStack() as stack:
        page = client.as_(None).request("GET", "/v1/openapi.json")
        heads = [page] * many + [client.request("POST", "/v1/sessions/s/stop")]
        opened = [await client.open() for _ in heads]
        for _, writer in opened:
            stack.callback(writer.close)
        answered = [asyncio.ensure_future(reader.read(1)) for reader, _ in opened[:many]]
        for task in answered:
            stack.callback(task.cancel)
        for head, (_, writer) in zip(heads, opened, strict=True):  # all in one turn
            writer.write(head)
        told = await read_answer(opened[-1][0])
        assert told.json["receipt"]["runs"] == ["s#1"]
        assert not engine.runs["go"].current
        assert sum(task.done() for task in answered) < many // 2
