"""Who has what in the file, and how much a commit is worth there."""

import asyncio
import os
import platform
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lastword.core.entries import Finished, Said
from lastword.core.model import Generation, Message, MessageId, Outcome, RunId, SessionId
from lastword.errors import OwnedElsewhere, StoreError
from lastword.stores.contract import Write
from lastword.stores.sqlite import SqliteStore
from lastword.stores.sqlite.tables import Encoded, Tables
from tests.promise.workshop import until
from tests.stores.files import S, by_hand, known_to, numbers, opened, seems_dead, text, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "it.db"


def count_of(path: Path, epoch: int) -> int:
    """How often an owner was heard of."""
    with by_hand(path) as db:
        found = db.execute("SELECT beats FROM owners WHERE epoch = ?", (epoch,)).fetchone()
        return found[0] if found else -1


def in_each_commit(
    monkeypatch: pytest.MonkeyPatch, look: Callable[[sqlite3.Connection, Encoded], None]
) -> None:
    """Look at the connection on which a write is about to be made."""
    commit = Tables.commit

    def looked_at(own: Tables, db: sqlite3.Connection, encoded: Encoded) -> None:
        look(db, encoded)
        commit(own, db, encoded)

    monkeypatch.setattr(Tables, "commit", looked_at)


# a commit


async def test_a_commit_is_made_where_each_is_synced(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels: list[int] = []

    def look(db: sqlite3.Connection, _: Encoded) -> None:
        (level,) = db.execute("PRAGMA synchronous").fetchone()
        levels.append(level)

    in_each_commit(monkeypatch, look)
    async with opened(path) as store:
        await store.commit(write(1))
    async with opened(path) as store:  # a file that was there before
        await store.commit(write(2))

    assert levels == [2, 2]  # which is FULL


async def test_the_files_own_trouble_with_one_of_several_commits_refuses_them_all(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def look(_: sqlite3.Connection, encoded: Encoded) -> None:
        if encoded.write.session == "first":
            inside.set()
            go_on.wait()  # so that all the others wait for the next transaction
        if encoded.write.session == "c":
            raise sqlite3.OperationalError("disk I/O error")

    in_each_commit(monkeypatch, look)
    async with opened(path) as store:
        first = asyncio.create_task(store.commit(write(1, session="first")))
        await until(inside.is_set)
        writes = [write(1, session=name) for name in "abcd"]
        several = asyncio.gather(*map(store.commit, writes), return_exceptions=True)
        await asyncio.sleep(0)
        go_on.set()
        await first
        refused = await several

        assert all(isinstance(error, StoreError) for error in refused), refused
        assert await store.sessions() == ("first",)


async def test_a_childs_log_goes_with_its_parent_whoever_wrote_to_it_last(path: Path) -> None:
    child = SessionId("s#1/1")
    async with opened(path) as store:
        await store.commit(write(1))
        await store.commit(
            Write(session=child, generation=Generation(1), serial=1, entries=(text(1),), parent=S)
        )
    async with opened(path) as store:
        await store.load(S)
        await store.commit(
            Write(session=child, generation=Generation(2), serial=1, entries=(text(2),))
        )  # as a recovery does

        await store.delete(S)
        assert await store.entries(child) == ()
        assert await store.sessions() == ()


# an owner


async def test_who_writes_without_a_word_has_the_session_from_then_on(path: Path) -> None:
    async with opened(path) as store:
        await store.commit(write(1))
    async with opened(path) as store, opened(path) as other:
        await store.commit(write(2))

        with pytest.raises(OwnedElsewhere):
            await other.load(S)
        with pytest.raises(OwnedElsewhere):
            await other.commit(write(3))
        assert numbers(await other.entries(S)) == [1, 2]


async def test_who_is_busy_without_a_pause_is_heard_of_all_the_same(path: Path) -> None:
    async with opened(path, lease=1.0) as busy, opened(path) as other:
        first = count_of(path, 1)
        for number in range(1, 20_000):
            await busy.commit(write(number))
            if count_of(path, 1) > first:
                break

        with pytest.raises(OwnedElsewhere):
            await other.load(S)


async def test_who_was_forgotten_is_known_again_with_the_next_heartbeat(path: Path) -> None:
    async with opened(path, lease=1.0) as store, opened(path) as other:
        await store.commit(write(1))
        seems_dead(path, 1)
        await until(lambda: known_to(path) == [1, 2])

        with pytest.raises(OwnedElsewhere, match="another store of this process"):
            await other.load(S)


async def test_who_opens_the_file_forgets_the_dead_and_nobody_else(path: Path) -> None:
    async with opened(path), opened(path), opened(path):
        with by_hand(path) as db:
            db.execute("UPDATE owners SET started = started - 1 WHERE epoch = 2")
        async with opened(path):
            assert known_to(path) == [1, 3, 4]


async def test_a_silence_is_as_long_as_who_is_silent_says(path: Path) -> None:
    async with opened(path, lease=1000.0) as silent, opened(path, lease=1.0) as keen:
        await silent.commit(write(1))
        first = count_of(path, 2)
        await until(lambda: count_of(path, 2) > first + 20)  # four of its own leases
        with pytest.raises(OwnedElsewhere):
            await keen.load(S)


async def test_whose_a_session_is_can_be_told(path: Path) -> None:
    async with opened(path) as store, opened(path) as other:
        await store.commit(replace(write(1), state="running"))
        with pytest.raises(OwnedElsewhere) as told:
            await other.load(S)
        assert told.value.process == os.getpid()
        assert told.value.host == platform.node()
        assert told.value.since > 0
        seen, mine = await other.overview(S), await store.overview(S)
        assert seen
        assert mine
        assert (seen.state, mine.state) == ("running", "running")
        assert seen.owner
        assert seen.owner.process == os.getpid()
        assert mine.owner is None


async def test_what_a_dead_owner_was_running_is_not_said_to_run(path: Path) -> None:
    async with opened(path, lease=1000.0) as store, opened(path) as other:
        await store.commit(replace(write(1), state="running"))
        seems_dead(path, 1)
        [seen] = await other.recent("", 10)
        assert (seen.state, seen.owner) == ("waiting", None)


@pytest.mark.parametrize("lease", [0.0, 0.5, -1.0, float("nan")])
def test_a_lease_has_a_shortest_length(path: Path, lease: float) -> None:
    with pytest.raises(ValueError, match="lease must be 1 s or more"):
        SqliteStore(path, lease=lease)


# a file


async def test_a_check_finds_an_index_that_lacks_a_row(path: Path) -> None:
    said = Said(Message(MessageId("m1"), "hello"), RunId("s#1"))
    ended = Finished(RunId("s#1"), Outcome.STOPPED, (MessageId("m1"),), started=False)
    async with opened(path) as store:
        await store.commit(
            Write(session=S, generation=Generation(1), serial=1, entries=(said, ended))
        )
        assert await store.check() == []
    index = "name = 'messages_unfinished'"
    with by_hand(path) as db:
        row = db.execute(f"SELECT * FROM sqlite_master WHERE {index}").fetchone()  # noqa: S608
        db.execute("PRAGMA writable_schema = ON")
        db.execute(f"DELETE FROM sqlite_master WHERE {index}")  # noqa: S608
    with by_hand(path) as db:
        db.execute("UPDATE messages SET outcome = NULL")  # which the index is not told
        db.execute("PRAGMA writable_schema = ON")
        db.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)

    async with opened(path) as store:
        [line, *_] = await store.check()
        assert "messages_unfinished" in line
