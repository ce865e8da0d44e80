"""Servers over one database that do not know of each other: a stop works from each all the same."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from lastword import Run
from tests.promise.stories import answer
from tests.server.client import Client, serving_engine, upto


async def waits(run: Run) -> None:
    await run.emit("working on it")
    await asyncio.Event().wait()


@asynccontextmanager
async def two(postgres: str) -> AsyncGenerator[tuple[Client, Client]]:
    async with (
        serving_engine(waits, store=postgres) as one,
        serving_engine(answer, store=postgres) as other,
    ):
        yield one, other


async def test_a_server_over_postgresql_answers_stops_and_shows(postgres: str) -> None:
    async with serving_engine(waits, store=postgres) as client:
        async with client.events("s") as watching:
            await upto(watching, "snapshot")
            assert (await client.send("s", "go")).status == 202
            await upto(watching, "text")
            assert (await client.stop("s"))["quiet"]
            await upto(watching, "stopped")
        assert (await client.get("/readyz")).status == 200
        [told] = (await client.get("/v1/sessions")).json["sessions"]
        assert (told["id"], told["state"]) == ("s", "idle")


async def test_a_stop_at_another_server_is_made_where_the_run_is(postgres: str) -> None:
    async with two(postgres) as (one, other), one.events("s") as watching:
        await upto(watching, "snapshot")
        await one.send("s", "go")
        await upto(watching, "text")
        stopped = await other.stop("s")
        assert stopped["quiet"]
        assert stopped["runs"] == ["s#1"]
        await upto(watching, "stopped")


async def test_a_message_at_another_server_takes_over_and_one_that_waits_is_refused(
    postgres: str,
) -> None:
    async with two(postgres) as (one, other):
        await one.send("s", "go")
        await one.get("/v1/sessions/s/log")  # until what began is durable
        refused = await other.send("s", "after that", on_message="queue")
        assert (refused.status, refused.problem) == (409, "owned-elsewhere")
        assert (await other.send("s", "instead")).status == 202
        found = (await other.get("/v1/sessions/s/receipts")).json["receipts"]
        assert [one["reason"] for one in found] == ["superseded"]
