"""Commands that look after a store, over a database."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from lastword import Outcome, Run, Runtime
from lastword.core.entries import Said
from lastword.core.model import Message, MessageId, RunId, SessionId
from lastword.errors import StoreError
from lastword.stores.contract import Write
from lastword.stores.moving import move
from lastword.stores.opening import open_store
from lastword.stores.postgres import PostgresStore
from lastword.stores.postgres.health import traits
from tests.promise.stories import answer
from tests.stores.databases import by_hand, opened


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lastword", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


async def lastword(*words: str) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(ran, *words)


async def told(address: str) -> dict[str, object]:
    """All that can be read of a store."""
    store = open_store(address)
    await store.open()
    try:
        return {
            name: (
                await store.entries(name),
                await store.peek(name),
                await store.overview(name),
                await store.cells(name),
                await store.values(name),
            )
            for name in await store.sessions()
        }
    finally:
        await store.close()


async def something_happens(address: str) -> None:
    async def engine(run: Run) -> None:
        if run.message.text == "ask somebody":
            await (await run.child("work", engine=answer)).outcome()
        await run.emit(f"re: {run.message.text}")
        if run.message.text == "wait":
            await asyncio.Event().wait()

    async with Runtime(engine, store=address, on_message="queue", queue_on_stop="keep") as runtime:
        for name in ("a", "b/c"):
            ticket = await runtime.session(name).send("ask somebody")
            assert await ticket.outcome() == Outcome.COMPLETED
        waiting = await runtime.session("a").send("wait")
        await waiting.started()
        await runtime.session("a").send("after that")
        await runtime.session("a").stop()


async def test_a_file_is_moved_whole_and_is_a_backup_from_then_on(
    tmp_path: Path, postgres: str
) -> None:
    file = f"sqlite:{tmp_path / 'it.db'}"
    await something_happens(file)
    before = await told(file)
    moved = await lastword("move-store", file, postgres)

    assert moved.stdout.startswith("Moved 4 sessions, with "), moved.stderr
    assert await told(postgres) == before
    async with Runtime(answer, store=postgres) as runtime:
        ticket = await runtime.session("a").send("and on", on_message="queue")
        assert await ticket.outcome() == Outcome.COMPLETED
    with pytest.raises(StoreError, match="this is a backup, and no store"):
        await told(file)


async def test_what_has_sessions_already_or_is_in_use_is_not_moved_to_or_from(
    tmp_path: Path, postgres: str
) -> None:
    path = tmp_path / "it.db"
    await something_happens(f"sqlite:{path}")
    async with Runtime(answer, store=f"sqlite:{path}"):
        with pytest.raises(StoreError, match=r"is in use by .*nothing was moved"):
            await move(path, postgres)
    async with opened(postgres):
        with pytest.raises(StoreError, match="is in use; end that first; nothing was moved"):
            await move(path, postgres)
    await something_happens(postgres)
    with pytest.raises(StoreError, match="has 4 sessions already; nothing was moved"):
        await move(path, postgres)
    assert len(await told(f"sqlite:{path}")) == 4
    nowhere = await lastword("move-store", postgres, f"sqlite:{path}")
    assert nowhere.returncode == 1
    assert "it goes from sqlite:PATH to postgresql://HOST/DATABASE" in nowhere.stderr


async def test_doctor_says_how_a_database_keeps_what_is_stored(postgres: str) -> None:
    await something_happens(postgres)
    said = await lastword("doctor", "--store", postgres)
    words = " ".join(said.stdout.split())

    assert said.returncode == 0
    assert "is whole, 4 sessions" in words
    assert "version PostgreSQL" in words
    assert "on disk RISK: The server has fsync and full_page_writes off" in words
    async with by_hand(postgres) as db:
        await db.execute("DELETE FROM lastword.entries WHERE number = 1")
    said = await lastword("doctor", "--store", postgres)
    assert said.returncode == 1
    assert "entries are missing from its log" in " ".join(said.stdout.split())


async def test_a_clock_that_is_far_off_is_told_and_is_no_risk(postgres: str) -> None:
    async with opened(postgres), by_hand(postgres) as db:
        now = float(await db.fetchval("SELECT extract(epoch FROM clock_timestamp())"))
        found = {trait.name: trait for trait in await traits(db, now - 100)}
    assert found["clock"].kind == "note"
    assert found["clock"].told.startswith("100 s ahead of this machine's")


async def test_what_nobody_used_is_pruned_and_a_file_is_asked_for_where_it_takes_one(
    postgres: str,
) -> None:
    await something_happens(postgres)
    store = PostgresStore(postgres)
    await store.open()
    found = await store.load(SessionId("a"))
    assert found
    said = Said(Message(MessageId("late"), "wait for it"), RunId("a#9"))
    await store.commit(
        Write(
            session=SessionId("a"),
            generation=found.generation,
            serial=9,
            entries=(said,),
            claim=store.claim(SessionId("a")),
        )
    )
    [a, b] = await store.unused(float("inf"))
    assert (a.session, a.waits, b.session, b.waits) == ("b/c", False, "a", True)
    assert not await store.prune(b.session, float("inf"))
    assert await store.prune(a.session, float("inf"))
    assert [name for name in await store.sessions() if name.startswith("b")] == []
    await store.close()

    refused = await lastword("backup", "--store", postgres, "x")
    assert refused.returncode == 1
    assert "is a database, which its own tools look after" in refused.stderr
