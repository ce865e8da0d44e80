"""No request holds the loop: what is long is made beside it, and leaves in pieces."""

from __future__ import annotations

import asyncio
import threading
from typing import ClassVar

import pytest
from starlette.types import ASGIApp
from starlette.types import Message as MessageOfAsgi

from lastword import Run, Runtime
from lastword.core.entries import Began, Entry, Finished, Said, Text
from lastword.core.model import (
    Generation,
    Message,
    MessageId,
    Outcome,
    Reason,
    RunId,
    SessionId,
)
from lastword.core.receipt import Receipt
from lastword.server import app
from lastword.server.records import PIECE
from lastword.stores.aside import Breathe, aside
from lastword.stores.contract import Write
from lastword.stores.memory import MemoryStore
from tests.server.client import read_head, served
from tests.server.engines import Doors
from tests.server.turns import longest_turn


@pytest.mark.scenario("W9", part="server")
async def test_an_export_leaves_in_pieces_and_a_stop_is_answered_in_between() -> None:
    engine = Doors()
    async with Runtime(engine) as runtime, served(runtime) as client:
        for number in range(40):
            await client.send("s", f"{number} " + "x" * 60_000)
        whole = (await client.get("/v1/sessions/s/export")).body
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port, limit=1 << 12)
        writer.write(client.request("GET", "/v1/sessions/s/export"))
        assert (await read_head(reader))[0] == 200
        assert (await client.stop("s"))["runs"], "nobody has taken the export yet"
        pieces = list[int]()
        while size := int(await reader.readline(), 16):
            pieces.append(size)
            await reader.readexactly(size + 2)
        writer.close()
    assert sum(pieces) == len(whole)
    assert whole.count(b'"kind": "said"') == 40
    assert max(pieces) <= PIECE + 61_000, "no step makes more than this"


@pytest.mark.scenario("W25", part="server")
@pytest.mark.parametrize("path", ["log?limit=100", "receipts?limit=20", "events", "export"])
async def test_a_turn_of_the_loop_is_as_long_for_a_long_session_as_for_a_short_one(
    path: str,
) -> None:
    turns = [await _turn_of(f"/v1/sessions/s/{path}", entries=n) for n in (2_000, 40_000)]
    assert turns[1] < 2 * turns[0], turns


@pytest.mark.scenario("W25", part="server")
async def test_a_turn_of_the_loop_is_as_long_in_a_list_of_many_sessions_as_of_few() -> None:
    turns = [await _turn_of("/v1/sessions?limit=1000", sessions=n) for n in (2_000, 20_000)]
    assert turns[1] < 2 * turns[0], turns
    short = await _turn_of("/v1/sessions?limit=100", sessions=2_000)
    assert turns[0] < 2 * short, "nor for a longer page"


async def _turn_of(path: str, *, entries: int = 0, sessions: int = 0) -> int:
    """The longest turn in which it is asked for, of a session, or among sessions, so long."""
    store = MemoryStore()
    for name in [f"n{number}" for number in range(sessions)] or ["s"]:
        run, id_ = RunId(f"{name}#1"), MessageId("m")
        log: list[Entry] = [Said(Message(id_, "go"), run), Began(run, Generation(1), (id_,))]
        stopped = Receipt(SessionId(name), Generation(1), Reason.STOPPED, fenced_at=0.0, took=0.0)
        for _ in range(entries // 10):
            log += [*[Text(run, "word ")] * 9, stopped]
        log.append(Finished(run, Outcome.COMPLETED, (id_,), started=True))
        written = Write(
            session=SessionId(name), generation=Generation(1), serial=1, entries=tuple(log)
        )
        await store.commit(written)
    async with Runtime(Doors(), store=store) as runtime:
        asked = app(runtime)
        await _answered(asked, path)  # what is done once has been
        return await longest_turn(_answered(asked, path))


async def _answered(asked: ASGIApp, path: str) -> list[int]:
    """The sizes of the pieces in which it is answered to somebody who leaves after the first."""
    place, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": "GET",
        "path": place,
        "raw_path": place.encode(),
        "query_string": query.encode(),
        "headers": [(b"host", b"localhost")],
    }
    told, pieces = asyncio.Event(), list[int]()

    async def receive() -> MessageOfAsgi:
        await told.wait()
        return {"type": "http.disconnect"}

    async def send(message: MessageOfAsgi) -> None:
        if message["type"] == "http.response.start":
            assert message["status"] == 200
        elif message.get("body"):
            pieces.append(len(message["body"]))
            if place.endswith("/events"):
                told.set()

    await asked(scope, receive, send)
    return pieces


@pytest.mark.scenario("W25", part="server")
@pytest.mark.parametrize("what", ["log", "events", "export", "transcript"])
async def test_what_is_long_leaves_in_pieces(what: str) -> None:
    async def engine(run: Run) -> None:
        await run.emit("x" * 3_000_000)

    async with Runtime(engine) as runtime:
        await (await runtime.session("s").send("go")).outcome()
        pieces = await _answered(app(runtime), f"/v1/sessions/s/{what}")
    assert sum(pieces) > 3_000_000
    assert max(pieces) <= 256 << 10


class Told:
    """It knows in which threads it was put into bytes."""

    threads: ClassVar[list[int]] = []

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        self.threads.append(threading.get_ident())
        return str, ("told",)


@pytest.mark.scenario("W25", part="server")
async def test_what_a_process_is_given_is_put_together_beside_the_loop() -> None:
    answers = list[int]()

    async def engine(run: Run) -> None:
        answers.append(await run.isolate(len, Told()))

    async with Runtime(engine) as runtime:
        await (await runtime.session("s").send("go")).outcome()
    assert answers == [4]
    assert Told.threads, "it was handed over"
    assert threading.get_ident() not in Told.threads


@pytest.mark.scenario("W30", part="server")
async def test_an_export_waits_for_its_turn_and_a_stop_for_none() -> None:
    engine, taken, given = Doors(), threading.Event(), threading.Event()

    def long(_: Breathe) -> None:
        taken.set()
        given.wait()

    async with Runtime(engine) as runtime, served(runtime) as client:
        await client.send("s", "go")
        busy = asyncio.create_task(asyncio.to_thread(aside, long))
        try:
            await asyncio.to_thread(taken.wait)
            export = asyncio.create_task(client.get("/v1/sessions/s/export"))
            for _ in range(50):
                assert (await client.get("/healthz")).status == 200
            assert (await client.stop("s"))["runs"] == ["s#1"]
            assert not export.done(), "somebody else has the turn"
        finally:
            given.set()
            await busy
        assert (await export).status == 200
