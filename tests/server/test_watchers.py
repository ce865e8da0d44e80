"""Those who watch: slow ones, ones that leave, and many at once. No run waits for any of them."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from starlette.types import Message, Scope

from lastword import Run, Runtime
from lastword.server import ApiToken, ServerLimits, app
from tests.promise.workshop import until
from tests.server.asking import ends, entries, outcomes
from tests.server.client import SECRET, Client, events_in, read_head, served, serving_engine, upto
from tests.server.engines import Doors, Talker, echo

PIECE = "x" * 100_000


class Torrent:
    """Says so much at once that no socket takes it, and then has time."""

    def __init__(self, pieces: int = 100, *, then_waits: bool = True) -> None:
        self.said = 0
        self._pieces = pieces
        self._then_waits = then_waits

    async def __call__(self, run: Run) -> None:
        if run.message.text != "go":
            await run.emit("a word")
            return
        for _ in range(self._pieces):
            await run.emit(PIECE)
            await asyncio.sleep(0)
            self.said += 1
        if self._then_waits:
            await asyncio.Event().wait()


@asynccontextmanager
async def deaf(client: Client, query: str = "") -> AsyncGenerator[AsyncIterator[Any]]:
    """A watcher that reads when it is asked for something, and else leaves it to the socket."""
    small = socket.socket()
    small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    small.connect(("127.0.0.1", client.port))
    reader, writer = await asyncio.open_connection(sock=small, limit=1 << 12)
    writer.write(client.request("GET", f"/v1/sessions/s/events{query}"))
    status, _ = await read_head(reader)
    assert status == 200
    try:
        yield events_in(reader)
    finally:
        writer.close()


async def test_what_a_stop_overtook_on_its_way_to_a_watcher_comes_as_missed() -> None:
    engine = Torrent()
    async with serving_engine(engine) as client, deaf(client) as events:
        await upto(events, "snapshot")
        await client.send("s", "go")
        await until(lambda: engine.said == 100)
        await client.stop("s")
        seen = await upto(events, "stopped")

        kinds = [event["kind"] for event in seen if event["kind"] not in {"accepted", "started"}]
        written = kinds.count("text")
        assert kinds == [*["text"] * written, "missed", "ended", "stopped"]
        [missed] = [event for event in seen if event["kind"] == "missed"]
        assert len(missed["data"]["events"]) == 100 - written
        assert {event["kind"] for event in missed["data"]["events"]} == {"text"}
        [ended] = [event for event in seen if event["kind"] == "ended"]
        assert missed["generation"] == ended["generation"] > ended["data"]["generation"]
        assert "".join(e["text"] for e in missed["data"]["events"]) == PIECE * (100 - written)


async def test_what_a_takeover_overtook_comes_as_missed_and_what_follows_as_it_is() -> None:
    engine = Torrent()
    async with serving_engine(engine) as client, deaf(client) as events:
        await upto(events, "snapshot")
        await client.send("s", "go")
        await until(lambda: engine.said == 100)
        await client.send("s", "now")
        seen = await ends(events, 2)

        told = [(e["kind"], e["run"]) for e in seen if e["kind"] in {"text", "missed", "ended"}]
        assert told[told.index(("missed", None)) :] == [
            ("missed", None),
            ("ended", "s#1"),
            ("text", "s#2"),
            ("ended", "s#2"),
        ]


async def test_no_text_of_a_fenced_run_is_handed_to_the_server_after_the_fence() -> None:
    """The same at the seam itself: what the app hands out, and whether it was still allowed."""
    engine, room, handed = Torrent(5), asyncio.Event(), list[tuple[bool, bytes]]()
    room.set()

    async with Runtime(engine) as runtime:
        session = runtime.session("s")

        async def send(message: Message) -> None:
            handed.append((session.fenced > 0, message.get("body", b"")))
            await room.wait()

        async def watch() -> None:
            await app(runtime)(scope_of("s"), never, send)

        watching = asyncio.create_task(watch())
        await until(lambda: b'"snapshot"' in b"".join(body for _, body in handed))
        room.clear()  # from here on every write has to wait
        await session.send("go")
        await until(lambda: engine.said == 5)
        await session.stop()
        room.set()
        await until(lambda: b'"kind":"receipt"' in b"".join(body for _, body in handed))
        await runtime.close()
        await watching

    late = b"".join(body for fenced, body in handed if fenced)
    frames = [frame for frame in late.split(b"\n\n") if b"data: " in frame]
    assert b'"live":true' not in late
    [record] = [frame for frame in frames if PIECE.encode() in frame]
    assert record.count(PIECE.encode()) == 5
    assert late.index(record) <= late.index(b'"outcome":"stopped"')


async def test_what_was_said_in_the_step_of_the_stop_is_told_once_and_as_a_record() -> None:
    async def engine(run: Run) -> None:
        for word in "abcde":
            await run.emit(word)
        sessions[0].stop()
        await asyncio.Event().wait()

    async with Runtime(engine) as runtime, served(runtime) as client, client.events("s") as events:
        sessions = [runtime.session("s")]
        await upto(events, "snapshot")
        await client.send("s", "go")
        seen = await upto(events, "stopped")
        assert "text" not in [event["kind"] for event in seen], "it was fenced before anybody heard"
        missed = [
            one for event in seen if event["kind"] == "missed" for one in event["data"]["events"]
        ]
        assert "".join(one["text"] for one in missed) == "abcde"
        async with client.events("s") as others:
            [snapshot] = await upto(others, "snapshot")
        told = [one["text"] for one in snapshot["data"]["told"] if one["kind"] == "text"]
        assert told == ["abcde"]


async def test_a_picture_that_has_grown_long_is_drawn_anew_once_nothing_is_going(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lastword.server.hub._MOST", 10)
    async with serving_engine(echo) as client:
        async with client.events("s") as events:
            for text in "abcd":
                await client.send("s", text)
            seen = [event async for event in events]
        assert seen[-1]["kind"] != "closed", "it is told to come back"
        async with client.events("s", last_event_id=seen[-1]["id"]) as again:
            [snapshot] = await upto(again, "snapshot")
        said = [one["text"] for one in snapshot["data"]["told"] if one["kind"] == "accepted"]
        assert said == list("abcd")


async def never() -> Message:
    await asyncio.Event().wait()
    raise AssertionError("nothing comes")


def scope_of(session: str) -> Scope:
    path = f"/v1/sessions/{session}/events"
    return {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }


async def test_a_slow_watcher_is_dropped_and_no_run_waits_for_it() -> None:
    engine = Torrent(160, then_waits=False)
    async with (
        serving_engine(engine, feed_limit=80) as client,
        deaf(client) as events,
        client.events("s") as others,
    ):
        await upto(events, "snapshot")
        await upto(others, "snapshot")
        await client.send("s", "go")
        await upto(others, "ended")  # though one has not read a word of it
        slow = [event async for event in events]

        assert "ended" not in [event["kind"] for event in slow]
        async with client.events("s", last_event_id=slow[-1]["id"]) as again:
            snapshot = await anext(again)
        assert snapshot["kind"] == "snapshot"
        texts = [e["text"] for e in snapshot["data"]["told"] if e["kind"] == "text"]
        assert len("".join(texts)) == 160 * len(PIECE)


async def test_who_takes_nothing_for_too_long_holds_neither_a_stream_nor_a_connection() -> None:
    engine, limits = Torrent(), ServerLimits(stalled=0.05, connections=2)
    async with (
        Runtime(engine) as runtime,
        served(runtime, limits=limits) as client,
        deaf(client) as first,
        deaf(client) as second,
    ):
        await upto(first, "snapshot")
        await upto(second, "snapshot")
        full = await client.get("/v1/me")
        assert (full.status, full.problem) == (429, "too-many")
        await runtime.session("s").send("go")
        while (await client.get("/v1/me")).status != 200:
            await asyncio.sleep(0)
        await nobody_watches(client)
        assert (await client.get("/v1/sessions/s")).json["state"] == "running"


async def test_a_server_that_does_not_tell_of_its_sockets_lets_go_of_who_takes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lastword.server.streams._BEAT", 0.01)

    async def send(message: Message) -> None:
        if message.get("body"):
            await asyncio.Event().wait()

    async with Runtime(Doors()) as runtime:
        await app(runtime, limits=ServerLimits(stalled=0.01))(scope_of("s"), never, send)


async def test_two_who_watch_are_told_the_same_bytes() -> None:
    engine = Talker()
    async with serving_engine(engine) as client:
        connections = [await client.open() for _ in range(2)]
        for reader, writer in connections:
            writer.write(client.request("GET", "/v1/sessions/s/events"))
            await reader.readuntil(b'"snapshot"')
            await reader.readuntil(b"\n\n")
        await client.send("s", "go")
        told = [await reader.readuntil(b"about go: ") for reader, _ in connections]
        await client.stop("s")
        told = [
            before + await reader.readuntil(b'"kind":"receipt"')
            for before, (reader, _) in zip(told, connections, strict=True)
        ]
        for _, writer in connections:
            writer.close()

        assert frames(told[0]) == frames(told[1])
        assert len(frames(told[0])) > 4


def frames(told: bytes) -> list[bytes]:
    """The lines that tell something, however they were cut into chunks."""
    return [line for line in told.split(b"\n") if line.startswith((b"data: ", b"id: "))]


async def test_a_run_goes_on_when_all_who_watched_have_left() -> None:
    engine = Doors()
    async with serving_engine(engine) as client:
        async with client.events("s") as events:
            await client.send("s", "go", id="go")
            await upto(events, "text")
        await nobody_watches(client)
        assert engine.runs["go"].current
        engine.let("go")
        async with client.events("s") as events:
            if (await anext(events))["data"]["phase"]["active"]:
                await upto(events, "ended")
        assert await outcomes(client) == {"go": "completed"}


async def nobody_watches(client: Client) -> None:
    """Return when the server knows that they have left."""
    while b"lastword_watchers 0" not in (await client.get("/metrics")).body:
        await asyncio.sleep(0)


async def test_a_session_is_stopped_when_the_last_has_left_whose_leaving_is_to_stop_it() -> None:
    engine = Doors()
    async with serving_engine(engine) as client, client.events("s") as events:
        async with AsyncExitStack() as second:
            async with client.events("s", leaving="stop") as first:
                other = await second.enter_async_context(client.events("s", leaving="stop"))
                await client.send("s", "go", id="go")
                await upto(first, "text")
            await upto(other, "text")
            while b"lastword_watchers 2" not in (await client.get("/metrics")).body:
                await asyncio.sleep(0)
            assert engine.runs["go"].current, "one of the two is still there"
        seen = await upto(events, "stopped")

        assert (seen[-1]["data"]["reason"], seen[-1]["data"]["runs"]) == ("stopped", ["s#1"])
        assert await outcomes(client) == {"go": "stopped"}


async def test_who_may_not_stop_may_not_do_so_by_leaving() -> None:
    key, engine = "the token of a reader", Doors()
    tokens = (ApiToken(SECRET), ApiToken(key, "ann", ("read", "send"), "local"))
    async with Runtime(engine) as runtime, served(runtime, tokens=tokens) as client:
        ann = client.as_(key)
        answer = await ann.post("/v1/sessions/s/events?on_disconnect=stop")
        assert (answer.status, answer.problem) == (403, "forbidden")
        wrong = await client.post("/v1/sessions/s/events?on_disconnect=explode")
        assert (wrong.status, wrong.problem) == (400, "bad-request")
        await client.send("s", "go")
        async with ann.events("s") as events:
            await anext(events)
        await nobody_watches(client)
        assert engine.runs["go"].current


async def test_an_orderly_end_stops_runs_as_a_shutdown_and_ends_every_stream() -> None:
    engine = Doors()
    async with Runtime(engine) as runtime, AsyncExitStack() as watching:
        server = served(runtime)
        client = await server.__aenter__()
        plain = await watching.enter_async_context(client.events("s"))
        leaver = await watching.enter_async_context(client.events("s", leaving="stop"))
        idle = await watching.enter_async_context(client.events("other"))
        await client.send("s", "go", id="go")
        for events in (plain, leaver):
            await upto(events, "text")
        await server.__aexit__(None, None, None)

        for events in (plain, leaver):
            ended, stopped, closed = [event async for event in events]
            assert (ended["kind"], ended["text"]) == ("ended", "shutdown")
            assert (stopped["kind"], stopped["data"]["reason"]) == ("stopped", "shutdown")
            assert (closed["kind"], closed["data"]) == ("closed", {"why": "shutdown"})
        assert [event["kind"] async for event in idle] == ["snapshot", "closed"]


@pytest.mark.scenario("I4")
async def test_a_storm_of_stops_is_answered_and_disturbs_no_other_stream() -> None:
    async def engine(run: Run) -> None:
        number = 0
        while run.message.text == "stream":
            number += 1
            await run.emit(f"{number} ")
            await asyncio.sleep(0.02)

    names = [f"s{number}" for number in range(300)]
    streaming, stopped, others = names[:100], names[:50], names[50:100]

    async with serving_engine(engine) as client, AsyncExitStack() as watching:
        for name in names[100:]:
            assert (await client.send(name, "hello")).status == 202
        streams = {
            name: await watching.enter_async_context(client.events(name)) for name in streaming
        }
        for name in streaming:
            assert (await client.send(name, "stream")).status == 202
        for events in streams.values():
            await upto(events, "text")
        receipts = await asyncio.gather(*(client.stop(name) for name in stopped))
        heard = {name: [await upto(streams[name], "text") for _ in range(3)] for name in others}

        assert [receipt["runs"] for receipt in receipts] == [[f"{name}#1"] for name in stopped]
        assert all(receipt["quiet"] for receipt in receipts)
        for name in stopped:
            kinds = [event["kind"] for event in await upto(streams[name], "stopped")]
            assert "text" not in kinds[kinds.index("ended") :]
        for name, told in heard.items():
            numbers = [int(event["id"].rpartition("-")[2]) for part in told for event in part]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
            assert {event["run"] for part in told for event in part} == {f"{name}#1"}
            assert {event["kind"] for part in told for event in part} == {"text"}
        assert [e["outcome"] for e in await entries(client, "s200") if e["kind"] == "finished"] == [
            "completed"
        ]
