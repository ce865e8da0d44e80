"""The store in a file: one writer for many, one owner for each session."""

import asyncio
import os
import stat
from pathlib import Path

import pytest

from lastword.core.entries import Said
from lastword.core.model import Generation, Message, MessageId, RunId, SessionId
from lastword.errors import OwnedElsewhere, StaleWrite, StoreError
from lastword.stores.contract import StoredSession, Write
from lastword.stores.sqlite import SqliteStore
from tests.stores.files import (
    S,
    by_hand,
    locked,
    names_in,
    numbers,
    opened,
    seems_dead,
    text,
    write,
)

FILES = ("it.db", "it.db-wal", "it.db-shm")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "it.db"


async def test_what_was_committed_is_there_when_the_file_is_opened_again(path: Path) -> None:
    async with opened(path) as store:
        await store.commit(write(1, generation=3))
    async with opened(path) as store:
        assert await store.entries(S) == (text(1),)
        assert await store.load(S) == StoredSession(Generation(3), 1)
        await store.commit(write(2, generation=3))

    async with opened(path) as store:
        assert numbers(await store.entries(S)) == [1, 2]
        assert await store.check() == []


async def test_a_new_file_is_for_its_owners_eyes_only(path: Path) -> None:
    async with opened(path) as store:
        await store.commit(write(1))
        modes = {name: stat.S_IMODE((path.parent / name).stat().st_mode) for name in FILES}
        assert modes == dict.fromkeys(FILES, 0o600)


async def test_who_waits_at_the_same_time_shares_one_sync(path: Path) -> None:
    async with opened(path) as store:
        with locked(path):  # the first may be tried alone; all the others find it waiting
            commits = [store.commit(write(1, session=f"s{n}")) for n in range(400)]
            everybody = asyncio.gather(*commits)
            await asyncio.sleep(0)
        await everybody

        assert store.transactions <= 2
        assert len(await store.sessions()) == 400


async def test_whoever_is_refused_is_refused_alone(path: Path) -> None:
    half = Said(Message(MessageId("\ud800"), "hello"), RunId("s#1"))
    bad = Write(
        session=SessionId("bad"), generation=Generation(1), serial=1, entries=(text(1), half)
    )  # it fails in the middle
    async with opened(path) as other, opened(path) as store:
        await other.commit(write(1, session="theirs"))
        await store.commit(write(1, session="moved on", generation=5))
        before = store.transactions
        with locked(path):
            writes = [
                write(1, session="a"),
                write(2, session="moved on", generation=4),
                write(2, session="b"),
                write(2, session="theirs"),
                bad,
                write(3, session="c"),
            ]
            everybody = asyncio.gather(*map(store.commit, writes), return_exceptions=True)
            await asyncio.sleep(0)
        a, stale, b, owned, unwritable, c = await everybody

        assert [a, b, c] == [None, None, None]
        assert isinstance(stale, StaleWrite)
        assert isinstance(owned, OwnedElsewhere)
        assert isinstance(unwritable, StoreError)
        assert store.transactions - before <= 2
        assert set(await store.sessions()) == {"a", "b", "c", "moved on", "theirs"}
        assert numbers(await store.entries(SessionId("theirs"))) == [1]


async def test_what_nobody_waits_for_any_more_is_done_all_the_same(path: Path) -> None:
    async with opened(path) as store:
        with locked(path):
            waiting = asyncio.create_task(store.commit(write(1)))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        await store.commit(write(2))

        assert numbers(await store.entries(S)) == [1, 2]


async def test_reading_does_not_wait_for_who_writes(path: Path) -> None:
    async with opened(path) as store:
        await store.commit(write(1))
        with locked(path):
            waiting = asyncio.create_task(store.commit(write(2)))
            assert numbers(await store.entries(S)) == [1]
            assert not waiting.done()
        await waiting


async def test_a_session_belongs_to_the_store_that_loaded_it_first(path: Path) -> None:
    async with opened(path) as one, opened(path) as two:
        assert await one.load(S) is None
        whose = rf"session s belongs to another store of this process \({os.getpid()}\), .* since"
        for attempt in (two.load(S), two.commit(write(1)), two.delete(S)):
            with pytest.raises(OwnedElsewhere, match=whose):
                await attempt

        await one.commit(write(1))
        assert numbers(await two.entries(S)) == [1]


async def test_a_session_belongs_to_the_store_that_wrote_it_first(path: Path) -> None:
    async with opened(path) as one, opened(path) as two:
        await one.commit(write(1))
        with pytest.raises(OwnedElsewhere):
            await two.load(S)

        await two.commit(write(1, session="another"))
        with pytest.raises(OwnedElsewhere):
            await one.commit(write(2, session="another"))


async def test_what_is_unfinished_is_told_only_to_who_may_have_it(path: Path) -> None:
    said = Said(Message(MessageId("m1"), "hello"), RunId("s#1"))
    async with opened(path) as one, opened(path) as two:
        await one.commit(Write(session=S, generation=Generation(1), serial=1, entries=(said,)))
        assert await one.unfinished() == (S,)
        assert await two.unfinished() == ()

        await one.close()
        assert await two.unfinished() == (S,)
        assert await two.load(S) == StoredSession(Generation(1), 1, unfinished=True)


async def test_closing_lets_go_of_every_session(path: Path) -> None:
    async with opened(path) as two:
        async with opened(path) as one:
            await one.commit(write(1))
        await two.commit(write(2))

        assert numbers(await two.entries(S)) == [1, 2]


async def test_who_was_not_heard_of_for_long_loses_what_another_loads(path: Path) -> None:
    async with opened(path, lease=1000) as silent, opened(path) as keen:
        await silent.commit(write(1))
        await silent.commit(write(1, session="left alone"))
        seems_dead(path, 1)
        assert await keen.load(S) == StoredSession(Generation(1), 1)

        with pytest.raises(OwnedElsewhere):
            await silent.commit(write(2))
        await silent.commit(write(2, session="left alone"))
        await keen.close()
        with pytest.raises(OwnedElsewhere, match="took it over while this one was not heard of"):
            await silent.commit(write(2))

        assert numbers(await silent.entries(S)) == [1]
        await silent.load(S)  # it learns where the session stands, and goes on from there
        await silent.commit(write(2))


async def test_who_is_heard_of_keeps_its_sessions(path: Path) -> None:
    async with opened(path, lease=1.0) as alive, opened(path, lease=1.0) as keen:
        await alive.commit(write(1))
        with by_hand(path) as db:
            heard = "SELECT beats FROM owners WHERE epoch = 1"
            first = db.execute(heard).fetchone()
            while db.execute(heard).fetchone() == first:
                await asyncio.sleep(0)
        with pytest.raises(OwnedElsewhere):
            await keen.load(S)


async def test_whoever_has_a_dead_owners_number_now_is_not_that_owner(path: Path) -> None:
    async with opened(path) as one, opened(path) as two:
        await one.commit(write(1))
        with by_hand(path) as db:
            db.execute("UPDATE owners SET started = started - 1 WHERE epoch = 1")

        assert await two.load(S) == StoredSession(Generation(1), 1)


async def test_a_failed_claim_is_not_taken_for_a_loss(path: Path) -> None:
    async with opened(path, patience=0.01) as store:
        with locked(path), pytest.raises(StoreError, match="keeps it locked"):
            await store.commit(write(1))
        async with opened(path) as other:
            await other.commit(write(1))
        await store.commit(write(2))

        assert numbers(await store.entries(S)) == [1, 2]


async def test_a_close_waits_for_what_was_asked_but_not_for_ever(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(path)
    await store.open()
    monkeypatch.setattr("lastword.stores.sqlite.store.CLOSING", 0.05)
    with locked(path):
        commit = asyncio.create_task(store.commit(write(1)))
        await asyncio.sleep(0)
        await store.close()
        assert not commit.done()
    await commit

    with pytest.raises(StoreError, match="has been closed"):
        await store.commit(write(2))
    async with opened(path) as again:
        assert numbers(await again.entries(S)) == [1]


async def test_a_store_that_is_not_open_says_so(path: Path) -> None:
    store = SqliteStore(path)
    for attempt in (store.load(S), store.commit(write(1)), store.entries(S), store.sessions()):
        with pytest.raises(StoreError, match=r"it\.db: the store is not open yet"):
            await attempt
    await store.close()
    assert names_in(path.parent) == []


async def test_an_opening_that_nobody_waits_for_leaves_no_owner_behind(path: Path) -> None:
    store = SqliteStore(path)
    opening = asyncio.create_task(store.open())
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    await store.open()

    with by_hand(path) as db:
        while db.execute("SELECT count(*) FROM owners").fetchone() != (1,):
            await asyncio.sleep(0)
    await store.commit(write(1))
    await store.close()


async def test_an_id_that_is_no_text_is_refused_and_nothing_else_is(path: Path) -> None:
    nobody = SessionId("\ud800")
    async with opened(path) as store:
        await store.commit(write(1))
        for attempt in (store.load(nobody), store.entries(nobody), store.delete(nobody)):
            with pytest.raises(StoreError, match="surrogates not allowed"):
                await attempt

        await store.commit(write(2))
        assert numbers(await store.entries(S)) == [1, 2]


async def test_any_id_that_is_text_will_do(path: Path) -> None:
    names = ["with space", "ünï", "a\0b", "a", "%'\";--", "x" * 5000, "🙂"]
    async with opened(path) as store:
        for name in names:
            await store.commit(write(1, session=name))

        assert await store.sessions() == tuple(names)
        assert [await store.load(SessionId(name)) for name in names] == [
            StoredSession(Generation(1), 1)
        ] * len(names)
