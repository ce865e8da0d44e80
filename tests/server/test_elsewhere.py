"""L. Two servers on one file: to look takes nothing, and an error says whose a session is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lastword import Run, Runtime
from lastword.errors import OwnedElsewhere
from tests.promise.stories import answer
from tests.promise.workshop import until
from tests.server.client import Client, served, serving_engine, upto


async def waits(run: Run) -> None:
    await run.emit("working on it")
    await asyncio.Event().wait()


@asynccontextmanager
async def two_servers(file: Path) -> AsyncGenerator[tuple[Client, Client]]:
    store = f"sqlite:{file}"
    async with (
        serving_engine(waits, store=store) as one,
        serving_engine(waits, store=store) as other,
    ):
        yield one, other


@pytest.mark.scenario("L5", part="server")
async def test_to_watch_a_session_takes_nothing_from_who_is_sent_its_first_message(
    tmp_path: Path,
) -> None:
    async with two_servers(tmp_path / "it.db") as (one, other):
        async with other.events("s") as watching:
            await upto(watching, "snapshot")
            assert (await one.send("s", "go")).status == 202
        for path in ("", "/log", "/transcript", "/receipts", "/export", "/queue", "/cells"):
            assert (await other.get(f"/v1/sessions/s{path}")).status == 200, path
        assert (await one.send("s", "more")).status == 202


@pytest.mark.scenario("L6", part="server")
async def test_who_sends_to_another_servers_session_is_told_whose_it_is(tmp_path: Path) -> None:
    async with two_servers(tmp_path / "it.db") as (one, other):
        await one.send("s", "go")
        answer = await other.send("s", "mine, too")
        assert answer.status == 409
        assert answer.problem == "owned-elsewhere"
        assert answer.json["owner"]["process"] == os.getpid()
        assert str(os.getpid()) in answer.json["detail"]
        stopped = await other.stop("s")
        assert not stopped["quiet"]
        assert "could not be stopped from here" in stopped["words"]


@pytest.mark.scenario("L6", part="server")
async def test_a_list_says_what_runs_in_another_server(tmp_path: Path) -> None:
    async with two_servers(tmp_path / "it.db") as (one, other):
        await one.send("s", "go")
        async with one.events("s") as watching:
            await upto(watching, "snapshot")
        await one.get("/v1/sessions/s/log")  # until what began is durable
        for told in (
            (await other.get("/v1/sessions")).json["sessions"][0],
            (await other.get("/v1/sessions/s")).json,
        ):
            assert told["state"] == "running"
            assert told["busy"]
            assert told["owner"]["process"] == os.getpid()
        [told] = (await one.get("/v1/sessions")).json["sessions"]
        assert told["owner"] is None


async def sent_once_it_is_free(runtime: Runtime, text: str) -> None:
    """Whoever had the session lets it go, and nobody is told when."""
    while True:
        try:
            ticket = await runtime.session("s").send(text)
        except OwnedElsewhere:
            await asyncio.sleep(0.01)  # the other's rest
        else:
            await ticket.outcome()
            return


def words_in(snapshot: Any) -> list[str]:
    assert snapshot["kind"] == "snapshot"
    parts = [part for item in snapshot["items"] for part in item.get("parts", ())]
    return [part["text"] for part in parts if part["kind"] == "text"]


@pytest.mark.scenario("W69", part="server")
async def test_who_was_cut_off_while_another_process_acted_is_shown_all_of_it(
    tmp_path: Path,
) -> None:
    store = f"sqlite:{tmp_path / 'it.db'}"
    async with Runtime(answer, store=store, rest=0.01) as mine, served(mine) as client:
        await sent_once_it_is_free(mine, "one")
        async with client.events("s") as watching:
            [seen] = await upto(watching, "snapshot")
        assert words_in(seen) == ["re: one"]

        await until(lambda: not mine.session("s").known)
        async with Runtime(answer, store=store, rest=0.01) as theirs:
            await sent_once_it_is_free(theirs, "two")
            async with client.events("s", last_event_id=seen["id"]) as again:
                elsewhere = await anext(again)
        assert words_in(elsewhere) == ["re: one", "re: two"]

        await sent_once_it_is_free(mine, "three")
        for id_ in (seen["id"], elsewhere["id"]):
            async with client.events("s", last_event_id=id_) as again:
                assert words_in(await anext(again)) == ["re: one", "re: two", "re: three"]
