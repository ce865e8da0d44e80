"""Those who want too much, or take too long: they are refused, or let go of, and everybody else is
answered meanwhile."""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest

from lastword import Runtime
from lastword.server import ApiToken, ServerLimits
from lastword.server.limits import RESERVE
from tests.promise.workshop import until
from tests.server.client import SECRET, Client, read_answer, read_head, served, serving_engine
from tests.server.engines import Doors, echo
from tests.server.hostile import room_for

OTHER = "the token of somebody else"
QUICK = ServerLimits(arrival=0.2, idle=1.0, stalled=0.2)


@asynccontextmanager
async def small(limits: ServerLimits) -> AsyncGenerator[Client]:
    """A server of little patience, or little room."""
    tokens = ApiToken(SECRET), ApiToken(OTHER, "other")
    async with Runtime(echo) as runtime, served(runtime, limits=limits, tokens=tokens) as client:
        yield client


async def count(client: Client, what: str) -> int:
    """One of the server's own counts."""
    lines = (await client.get("/metrics")).body.decode().splitlines()
    return int(next(line for line in lines if line.startswith(f"lastword_{what} ")).split()[1])


def staying(client: Client, method: str, path: str, body: bytes = b"") -> bytes:
    """A request after which the connection stays."""
    return client.request(method, path, body).replace(b"connection: close\r\n", b"")


async def closed(reader: asyncio.StreamReader) -> bytes:
    """What comes until the other side has hung up."""
    told = b""
    with suppress(ConnectionError):
        while piece := await reader.read(1 << 16):
            told += piece
    return told


# too much


@pytest.mark.parametrize("expects", ["", "expect: 100-continue\r\n"])
async def test_a_body_that_says_it_is_too_large_is_refused_unread(expects: str) -> None:
    async with serving_engine(echo) as client:
        head = client.request("POST", "/v1/sessions/s/messages", b"{")[:-3].decode()
        told = f"{head}{expects}\r\n".replace("content-length: 1", f"content-length: {100 << 20}")
        reader, writer = await client.open()
        writer.write(told.encode())
        answer = await read_answer(reader)
        writer.close()
        assert (answer.status, answer.problem) == (413, "too-large")
        assert (await client.get("/v1/sessions")).json["sessions"] == []


async def test_a_body_that_does_not_end_is_refused_where_the_limit_is() -> None:
    async with serving_engine(echo) as client:
        json = b"content-type: application/json\r\n"
        head = staying(client, "POST", "/v1/sessions/s/messages")[:-2] + json
        reader, writer = await client.open()
        writer.write(head + b"transfer-encoding: chunked\r\n\r\n")
        piece = b"x" * (1 << 20)
        with suppress(ConnectionError):
            for _ in range(100):
                writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                await writer.drain()
        answer = await read_answer(reader)
        writer.close()
        assert (answer.status, answer.problem) == (413, "too-large")
        assert (await client.send("s", "hello")).status == 202


async def test_a_head_or_a_tail_that_does_not_end_is_cut_off() -> None:
    async with serving_engine(echo) as client:
        nobody = staying(client.as_(None), "POST", "/v1/sessions/s/stop")
        post = nobody[:-2] + b"transfer-encoding: chunked\r\n\r\n"
        for start in (
            *(b"GET /", b"GET / HTTP/1.1\r\nx: ", b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 7000),
            *(post + b"0\r\nx: ", post + b"1;x="),  # after what could be a body
        ):
            reader, writer = await client.open()
            writer.write(start)
            with suppress(ConnectionError):
                while not reader.at_eof() and not writer.is_closing():
                    writer.write(b"a" * 10_000)
                    await writer.drain()
                    await asyncio.sleep(0)
            writer.close()
        answer = await client.get("/v1/me", x="a" * 40_000)
        assert (answer.status, answer.problem) == (431, "head-too-large")


async def test_only_so_many_requests_wait_behind_one_another() -> None:
    async with serving_engine(echo) as client:
        reader, writer = await client.open()
        writer.write(staying(client, "GET", "/v1/sessions/s/events"))
        await read_head(reader)
        writer.write(staying(client, "GET", "/healthz") * 1000)
        assert b"HTTP/1.1" not in await closed(reader), "nothing is said in the middle of a stream"
        writer.close()
        await until_none_watch(client)


async def until_none_watch(client: Client) -> None:
    while await count(client, "watchers"):
        pass


async def test_a_watcher_who_leaves_is_gone_whatever_else_it_has_asked_for() -> None:
    async with small(ServerLimits(watchers=2)) as client:
        for _ in range(6):
            reader, writer = await client.open()
            writer.write(staying(client, "GET", "/v1/sessions/s/events"))
            status, _ = await read_head(reader)
            assert status == 200
            writer.write(staying(client, "GET", "/healthz"))
            writer.close()
            await until_none_watch(client)


async def test_leaving_is_a_stop_whatever_else_was_asked_for() -> None:
    engine = Doors()
    async with serving_engine(engine) as client:
        await client.send("s", "go")
        await until(lambda: engine.runs)
        reader, writer = await client.open()
        writer.write(staying(client, "POST", "/v1/sessions/s/events?on_disconnect=stop"))
        await read_head(reader)
        writer.write(staying(client, "GET", "/healthz"))
        writer.close()
        await until(lambda: not engine.runs["go"].current)


async def test_names_that_nobody_has_spoken_in_take_no_room() -> None:
    async with small(ServerLimits(sessions=3)) as client:
        for number in range(20):
            for rest in ("", "/log", "/export", "/processes"):
                assert (await client.get(f"/v1/sessions/n{number}{rest}")).status == 404
        assert await count(client, "sessions_at_hand") == 0
        for number in range(20):
            answer = await client.post(f"/v1/sessions/n{number}/stop")
            assert answer.status == (200 if number < 3 else 404), number
            assert (await client.get(f"/v1/sessions/n{number}/queue")).status == answer.status
        assert await count(client, "sessions_at_hand") == 3
        other = client.as_(OTHER)
        assert (await other.send("n0", "hello")).status == 202
        assert (await client.send("mine", "hello")).status == 202
        assert not (await client.stop("mine"))["unconfirmed"]


async def test_what_is_shown_at_once_is_bounded_however_long_the_texts_are() -> None:
    async with serving_engine(Doors()) as client:
        for _ in range(18):
            await client.send("s", "x" * 1_000_000)
        async with client.events("s") as events:
            shown = (await anext(events))["data"]
        log = (await client.get("/v1/sessions/s/log?limit=1000")).json
        page = (await client.get("/v1/sessions/s/transcript?limit=1000")).json
        assert shown["more"]
        assert log["more"]
        assert page["next"]
        numbers: list[int] = []
        while True:
            numbers = [*(one["number"] for one in log["entries"]), *numbers]
            if not log["more"]:
                break
            before = f"/v1/sessions/s/log?limit=1000&before={numbers[0]}"
            log = (await client.get(before)).json
        assert numbers == list(range(1, len(numbers) + 1))


# too slow


async def test_a_request_that_does_not_arrive_is_not_waited_for() -> None:
    async with small(QUICK) as client:
        whole = staying(client, "POST", "/v1/sessions/s/messages", b'{"text": "x"}')
        for part in (b"", b"GET / HT", whole[:60], whole[:-1]):
            reader, writer = await client.open()
            writer.write(part)
            answer = await read_answer(reader)
            writer.close()
            assert (answer.status, answer.problem) == (408, "too-slow"), part
        assert (await client.get("/v1/sessions")).json["sessions"] == []


@pytest.mark.parametrize("drop", [b"\r\n", b"x"], ids=["between requests", "in a body"])
async def test_nobody_keeps_a_connection_by_a_drop_now_and_then(drop: bytes) -> None:
    async with small(QUICK) as client:
        nobody = client.as_(None)
        body = b"{" + b" " * 5_000_000 if drop == b"x" else b""
        request = staying(nobody, "POST", "/v1/sessions/s/messages", body)
        reader, writer = await client.open()
        writer.write(request[:-5_000_000] if body else request)
        assert (await read_answer(reader)).status == 401
        with suppress(ConnectionError):
            while not reader.at_eof() and not writer.is_closing():
                writer.write(drop)
                await writer.drain()
                await asyncio.sleep(0)
        writer.close()


async def test_who_does_not_take_an_answer_is_let_go_of() -> None:
    limits = ServerLimits(connections=1, stalled=0.2)
    async with Runtime(Doors()) as runtime, served(runtime, limits=limits) as client:
        for _ in range(12):
            await client.send("s", "x" * 1_000_000)
        deaf = socket.socket()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", client.port))
        reader, writer = await asyncio.open_connection(sock=deaf, limit=1 << 12)
        writer.write(client.request("GET", "/v1/sessions/s/export"))
        status, _ = await read_head(reader)
        assert status == 200
        while (await client.get("/v1/me")).status == 429:
            pass
        assert not (await closed(reader)).endswith(b"0\r\n\r\n"), "it did not come to its end"
        writer.close()


# too many


async def test_those_who_rest_give_way_and_those_who_are_being_answered_do_not() -> None:
    async with small(ServerLimits(connections=8)) as client, AsyncExitStack() as stack:
        watching = [await stack.enter_async_context(client.events("s")) for _ in range(4)]
        for events in watching:
            await anext(events)
        idle = [await client.open() for _ in range(4 + RESERVE + 40)]
        await asyncio.gather(*(closed(reader) for reader, _ in idle[4:44]))
        assert (await client.get("/v1/me")).status == 200
        await closed(idle[0][0])
        more = [await stack.enter_async_context(client.events("s")) for _ in range(4)]
        for events in more:
            await anext(events)
        refused = await client.get("/v1/me")
        assert (refused.status, refused.problem) == (429, "too-many")
        assert refused.headers["retry-after"]
        for _, writer in idle:
            writer.close()


async def test_ten_thousand_watchers_are_refused_politely_and_everybody_else_is_answered() -> None:
    limits = ServerLimits()
    engine, tokens = Doors(), (ApiToken(SECRET), ApiToken(OTHER, "other"))
    room_for(2 * limits.watchers + 200)
    async with Runtime(engine) as runtime, served(runtime, tokens=tokens) as client:
        other = client.as_(OTHER)
        await other.send("s", "go")
        asks = staying(client, "GET", "/v1/sessions/s/events")
        watching = [await _asked(client, asks) for _ in range(limits.watchers)]
        assert [status for status, _, _ in watching] == [200] * limits.watchers
        reader, writer = await client.open()
        for _ in range(10_000 // 16 - limits.watchers // 16):
            writer.write(asks * 16)
            for _ in range(16):
                refused = await read_answer(reader)
                assert (refused.status, refused.problem) == (429, "too-many")
        writer.close()

        assert (await client.get("/v1/me")).status == 200
        async with other.events("s") as events:
            assert (await anext(events))["data"]["phase"]["active"] == "s#1"
        assert (await other.stop("s"))["runs"] == ["s#1"]
        for _, _, writer in watching:
            writer.transport.abort()
        await until_none_watch(client)
        async with client.events("s") as events:
            assert (await anext(events))["kind"] == "snapshot"


async def _asked(
    client: Client, request: bytes
) -> tuple[int, asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await client.open()
    writer.write(request)
    status, _ = await read_head(reader)
    return status, reader, writer


def test_a_server_has_no_more_connections_than_files_that_it_may_open() -> None:
    before = soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, soft), hard))
        limits = ServerLimits().within_reach()
        now, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        assert limits.connections < now
        assert limits.all_watchers < limits.connections
        many = ServerLimits(connections=1 << 40).within_reach()
        assert many.all_watchers < many.connections < hard
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


async def test_nobody_who_is_unknown_takes_what_others_may_have(tmp_path: Path) -> None:
    store, limits = f"sqlite:{tmp_path}/lastword.db", ServerLimits(requests=1)
    async with Runtime(echo, store=store) as runtime, served(runtime, limits=limits) as client:
        nobody, own = await client.open(), await client.open()
        for _ in range(20):  # what a store is asked takes a moment
            nobody[1].write(staying(client.as_(None), "GET", "/readyz"))
            own[1].write(staying(client, "GET", "/v1/me"))
            assert (await read_answer(nobody[0])).status == 200
            assert (await read_answer(own[0])).status == 200
        nobody[1].close()
        own[1].close()


async def test_a_server_comes_to_its_end_whoever_is_still_there() -> None:
    engine = Doors()
    ways = (b"", b"GET / HT", b"GET /v1/sessions/s/events", b"GET /v1/sessions/s/export")
    async with AsyncExitStack() as stack:
        async with Runtime(engine) as runtime, served(runtime) as client:
            for _ in range(12):
                await client.send("s", "x" * 1_000_000)
            post = client.request("POST", "/v1/sessions/s/messages", b'{"text": "late"}')[:-1]
            whole = [client.request("GET", way.split()[1].decode()) for way in ways[2:]]
            for said in (*ways[:2], post, *whole, whole[0] * 3):
                deaf = stack.enter_context(socket.socket())
                deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                deaf.connect(("127.0.0.1", client.port))
                deaf.sendall(said)
            while await count(client, "watchers") < 2:
                pass
        assert not engine.runs["x" * 1_000_000].current
