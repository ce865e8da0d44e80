"""A page costs what it holds: nothing else of a long log is read for it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from lastword import Run, Runtime
from lastword.core.entries import Entry, Text
from lastword.core.model import SessionId
from lastword.stores.contract import LogPart
from lastword.stores.memory import MemoryStore
from tests.promise.workshop import until
from tests.server.client import served
from tests.server.engines import Doors, echo


class Counting(MemoryStore):
    """It knows how many entries it has handed out."""

    def __init__(self) -> None:
        super().__init__()
        self.given = 0

    async def entries(self, session: SessionId, after: int = 0) -> tuple[Entry, ...]:
        found = await super().entries(session, after)
        self.given += len(found)
        return found

    async def part(
        self, session: SessionId, before: int | None = None, *, most: int, size: int | None = None
    ) -> LogPart:
        found = await super().part(session, before, most=most, size=size)
        self.given += len(found.entries)
        return found


@pytest.mark.scenario("W24", part="server")
async def test_pages_of_a_long_log_take_from_the_store_what_they_show() -> None:
    store = Counting()
    async with Runtime(echo, store=store) as runtime, served(runtime) as client:
        for number in range(40):
            await (await runtime.session("s").send(str(number))).outcome()
        whole = (await client.get("/v1/sessions/s/log?limit=1000")).json["entries"]
        assert len(whole) == 160
        for query, most in (("limit=1", 1), ("limit=3&before=50", 3), ("limit=5&before=9999", 5)):
            store.given = 0
            page = (await client.get(f"/v1/sessions/s/log?{query}")).json
            assert len(page["entries"]) == most
            assert page["entries"] == [e for e in whole if e in page["entries"]]
            assert store.given == most, query
        store.given = 0
        assert (await client.get("/v1/sessions/s/receipts?limit=1")).json["receipts"] == []
        assert store.given == 0
        store.given = 0
        async with client.events("s") as events:
            assert len((await anext(events))["data"]["items"]) == 80
        assert store.given == 160, "they are fewer than a snapshot has, and are read once"
        lines = (await client.get("/v1/sessions/s/export")).body.decode().splitlines()
        assert [json.loads(line)["kind"] for line in lines] == [entry["kind"] for entry in whole]


@pytest.mark.scenario("W24", part="server")
async def test_no_other_row_of_a_file_is_read_for_a_page(tmp_path: Path) -> None:
    engine, file = Doors(), tmp_path / "it.db"
    async with Runtime(engine, store=f"sqlite:{file}") as runtime:
        for text in ("one", "two", "three"):
            await runtime.session("s").send(text)
            await until(lambda text=text: text in engine.runs)
            await runtime.session("s").stop()
    with sqlite3.connect(file) as db:  # as a newer lastword might, or a bad disk
        db.execute("UPDATE entries SET kind = 'unheard of' WHERE number = 1")
    db.close()
    async with Runtime(engine, store=f"sqlite:{file}") as runtime, served(runtime) as client:
        whole = await client.get("/v1/sessions/s/log?limit=1000")
        assert (whole.status, whole.problem) == (503, "undurable"), "it cannot be read"
        page = await client.get("/v1/sessions/s/log?limit=1")
        assert page.status == 200
        [entry] = page.json["entries"]
        again = await client.get(f"/v1/sessions/s/log?limit=4&before={entry['number']}")
        assert [one["number"] for one in again.json["entries"]] == [
            entry["number"] - back for back in (4, 3, 2, 1)
        ]
        found = (await client.get("/v1/sessions/s/receipts?limit=2")).json
        assert [one["runs"] for one in found["receipts"]] == [["s#3"], ["s#2"]]
        assert found["next"] == 2


@pytest.mark.scenario("W24", part="server")
async def test_what_nobody_saw_is_in_no_page_however_far_on_that_is_told(tmp_path: Path) -> None:
    """What was taken back is told behind it; a page may end before that."""

    async def sink(event: object) -> None:
        if "never" in getattr(event, "text", ""):
            raise ConnectionError("nobody is there")

    async def engine(run: Run) -> None:
        await run.emit("before ")
        with suppress(ConnectionError):
            await run.emit("never seen ")
        await run.emit("after")

    async with Runtime(engine, store=f"sqlite:{tmp_path / 'it.db'}", sink=sink) as runtime:
        session = runtime.session("s")
        await (await session.send("go")).outcome()
        seen = (await session.view()).entries
        assert "".join(e.text for e in seen if isinstance(e, Text)) == "before after"
        for last in range(1, len(seen) + 1):
            for most in range(1, last + 1):
                page = await session.record.page(last + 1, most, 1 << 20)
                assert page.entries() == seen[last - most : last], (last, most)
                assert page.before == last - most
