"""A server whose store takes no writes says so to whoever looks after it, and why."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lastword import Runtime
from lastword.stores.sqlite import SqliteStore
from tests.server.client import Client, served, upto
from tests.server.engines import echo
from tests.server.process import Server
from tests.server.test_metrics import told
from tests.stores.files import filled, locked

WRITABLE = "lastword_store_writable"


@asynccontextmanager
async def server_over(file: Path) -> AsyncGenerator[Client]:
    store = SqliteStore(file, lease=1.0, patience=0.05)
    async with Runtime(echo, store=store) as runtime, served(runtime) as client:
        assert (await client.send("s", "hello")).status == 202
        assert (await client.as_(None).get("/readyz")).status == 200
        assert (await told(client))[WRITABLE] == {(): 1}
        yield client


async def why_it_is_not_ready(client: Client) -> str:
    """What anybody is told; it names no place on the machine."""
    answer = await client.as_(None).get("/readyz")
    assert (answer.status, answer.problem) == (503, "undurable")
    assert (await told(client))[WRITABLE] == {(): 0}
    detail = str(answer.json["detail"])
    assert detail.startswith("the store: ")
    assert "/" not in detail
    return detail


async def until_it_is(client: Client, status: int) -> None:
    while (await client.as_(None).get("/readyz")).status != status:
        pass  # nobody writes meanwhile: it finds out by itself


@pytest.mark.scenario("O17")
async def test_a_server_on_a_full_disk_is_not_ready_and_says_why_once_until_there_is_room(
    small_disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with server_over(small_disk / "it.db") as client:
        filled(small_disk / "filler")
        while (await client.send("s", "x" * 5000)).status == 202:
            pass

        assert "the disk is full" in await why_it_is_not_ready(client)
        assert (await client.send("other", "x" * 5000)).status == 503
        assert "the disk is full" in await why_it_is_not_ready(client)

        (small_disk / "filler").unlink()
        await until_it_is(client, 200)
        assert (await told(client))[WRITABLE] == {(): 1}
        assert (await client.send("s", "again")).status == 202
    said = [line for line in caplog.messages if line.startswith("the store takes ")]
    assert len(said) == 2
    assert said[0].startswith(f"the store takes no writes: {small_disk}/it.db: the disk is full ")
    assert said[1] == "the store takes writes again"


@pytest.mark.scenario("O17")
async def test_a_server_whose_store_another_program_locks_is_not_ready_until_it_lets_go(
    tmp_path: Path,
) -> None:
    async with server_over(tmp_path / "it.db") as client:
        with locked(tmp_path / "it.db"):
            assert (await client.send("s", "not now")).status == 503
            assert "another program keeps it locked" in await why_it_is_not_ready(client)
        await until_it_is(client, 200)


@pytest.mark.scenario("O17")
async def test_a_server_finds_out_by_itself_that_its_store_was_replaced(tmp_path: Path) -> None:
    file = tmp_path / "it.db"
    async with server_over(file) as client:
        file.rename(tmp_path / "moved.db")
        file.touch()

        await until_it_is(client, 503)
        assert "deleted or replaced while it was open" in await why_it_is_not_ready(client)


@pytest.mark.scenario("O18")
async def test_runs_that_a_killed_server_lost_are_counted_and_logged_by_the_next(
    tmp_path: Path,
) -> None:
    server = Server(tmp_path)
    server.start()
    try:
        before = await told(server.client)
        async with server.client.events("s") as events:
            await server.client.send("s", "wait")
            await upto(events, "text")
        server.kill()
        server.start()
        after = await told(server.client)
    finally:
        server.kill()

    lost, since = "lastword_runs_total", "lastword_start_time_seconds"
    assert (before[lost]["lost",], after[lost]["lost",]) == (0, 1)
    assert before[since][()] < after[since][()]
    assert server.heard.count("recovered session=") == 1
    assert "lost=1 waiting=0" in server.heard
