"""The database as it is opened: by which lastword, which database it is, and after a failover."""

import asyncio
from dataclasses import replace

import pytest

from lastword.core.entries import Said
from lastword.core.model import Message, MessageId, RunId, SessionId
from lastword.core.queue import Standing
from lastword.errors import StoreError
from lastword.stores.postgres import PostgresStore
from tests.promise.workshop import until
from tests.stores.databases import (
    by_hand,
    nodes,
    opened,
    renewed,
    seems_dead,
    somebody_waits,
    taken,
    terminate,
)
from tests.stores.files import S, write

ONE = Message(MessageId("one"), "hello")


async def test_all_who_open_an_empty_database_at_once_have_it(postgres: str) -> None:
    stores = [PostgresStore(postgres) for _ in range(4)]
    await asyncio.gather(*(store.open() for store in stores))

    assert len(await nodes(postgres)) == 4
    await asyncio.gather(*(store.close() for store in stores))
    assert await nodes(postgres) == []


async def test_what_a_newer_lastword_wrote_is_not_opened(postgres: str) -> None:
    async with opened(postgres):
        pass
    async with by_hand(postgres) as db:
        await db.execute("UPDATE lastword.store SET version = 99")
        with pytest.raises(StoreError, match=r"written by a newer lastword .schema 99; this one"):
            await PostgresStore(postgres).open()
        assert await db.fetchval("SELECT count(*) FROM lastword.nodes") == 0


@pytest.mark.parametrize("died", [False, True])
async def test_who_had_it_open_before_a_newer_lastword_goes_on_beside_it(
    postgres: str, caplog: pytest.LogCaptureFixture, *, died: bool
) -> None:
    """Also when the connections are lost, and when its row was deleted: that is no opening."""
    async with opened(postgres, lease=1.0) as store, by_hand(postgres) as db:
        await store.commit(write(1))
        mine, before = store.claim(S), await nodes(postgres)
        await db.execute("UPDATE lastword.store SET version = 99")
        if died:
            await seems_dead(postgres)
            await until(lambda: mine.ended)
        await terminate(postgres)
        await renewed(db)  # on another connection
        await taken(store, S)

        await store.commit(write(2))
        assert (await nodes(postgres) == before) is not died
        assert "written by a newer" not in caplog.text


async def test_a_lease_that_is_not_renewed_is_told_of_while_it_still_lasts(
    postgres: str, caplog: pytest.LogCaptureFixture
) -> None:
    def told(words: str) -> bool:
        return any(words in record.message for record in caplog.records)

    async with opened(postgres, lease=2.0) as store, by_hand(postgres) as db:
        await store.load(S)
        mine = store.claim(S)
        await db.execute("ALTER TABLE lastword.nodes RENAME TO elsewhere")
        await until(lambda: told("could not be renewed for half its length"))
        assert "the lease could not be renewed" in str(store.trouble)
        await db.execute("ALTER TABLE lastword.elsewhere RENAME TO nodes")
        await until(lambda: told("the lease is renewed again"))
        assert store.trouble is None
        await mine.known()
        assert mine.good
        assert len([one for one in caplog.records if "half its length" in one.message]) == 1


async def test_after_a_failover_a_large_store_is_opened_however_long_that_takes(
    postgres: str,
) -> None:
    """Its lease is a second, and the rows are looked through for longer; but none is written that
    was nobody's."""
    rows = "SELECT array_agg(ctid::text ORDER BY key) FROM lastword.sessions WHERE id <> 's'"
    async with opened(postgres) as store:
        await store.commit(replace(write(7, generation=5), entries=(Said(ONE, RunId("s#1")),)))
    async with by_hand(postgres) as db, by_hand(postgres) as looks:
        await db.execute(
            "INSERT INTO lastword.sessions (id, generation) SELECT 'x' || n, 3"
            " FROM generate_series(1, 50) n"
        )
        there = await db.fetchval(rows)
        await db.execute("UPDATE lastword.store SET timeline = 'before'")
        store = PostgresStore(postgres, lease=1.0)
        async with db.transaction():
            await db.execute("LOCK TABLE lastword.sessions")
            opening = asyncio.ensure_future(store.open())
            await somebody_waits(looks)
            await db.execute("SELECT pg_sleep(2.5)")  # longer than any of its timeouts
        await opening
        try:
            assert await db.fetchval(rows) == there
            found = await store.load(S)
            assert found
            assert min(found.generation, found.serial) > 1_000_000_000_000
            await store.commit(write(found.serial, generation=found.generation))
        finally:
            await store.close()


async def test_another_programs_schema_is_not_touched(postgres: str) -> None:
    async with by_hand(postgres) as db:
        await db.execute("CREATE SCHEMA lastword; CREATE TABLE lastword.theirs (a int)")
        with pytest.raises(StoreError, match="another program's; it was not touched"):
            await PostgresStore(postgres).open()


async def test_a_copy_gives_out_no_number_twice_and_starts_nothing_by_itself(
    postgres: str,
) -> None:
    name = postgres.partition("?")[0].rpartition("/")[2]
    run, standing = RunId("s#1"), Standing(order=(ONE.id,))
    async with opened(postgres) as store:
        said = replace(write(7, generation=5), entries=(Said(ONE, run),), standing=standing)
        await store.commit(said)
    async with by_hand(postgres.replace(name, "postgres")) as db:
        await db.execute(f"CREATE DATABASE {name}_copy TEMPLATE {name}")

    async with opened(postgres.replace(name, f"{name}_copy")) as copy:
        found = await copy.load(S)
        assert found
        assert min(found.generation, found.serial) > 1_000_000_000_000
        assert (found.standing.hushed, found.standing.held) == (True, (ONE.id,))
        new = await copy.load(SessionId("never heard of"))
        assert new
        assert new.generation == found.generation
    async with opened(postgres) as store:  # this one is where it was
        found = await store.load(S)
        assert found
        assert (found.generation, found.serial) == (5, 7)
    async with by_hand(postgres.replace(name, "postgres")) as db:
        await db.execute(f"DROP DATABASE {name}_copy WITH (FORCE)")


async def test_a_database_that_cannot_hold_every_text_is_not_opened(
    postgres: str,
) -> None:
    name = postgres.partition("?")[0].rpartition("/")[2]
    other = postgres.replace(name, f"{name}_latin")
    async with by_hand(postgres.replace(name, "postgres")) as db:
        await db.execute(
            f"CREATE DATABASE {name}_latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
        )
        with pytest.raises(StoreError, match="its encoding is LATIN1"):
            await PostgresStore(other).open()
        await db.execute(f"DROP DATABASE {name}_latin WITH (FORCE)")


async def test_what_cannot_be_reached_is_said_without_a_password() -> None:
    store = PostgresStore("postgresql://me:secret@127.0.0.1:1/it")
    with pytest.raises(StoreError) as told:
        await store.open()
    assert "postgresql://me@127.0.0.1:1/it: the database cannot be reached" in str(told.value)
    assert "secret" not in str(told.value)
