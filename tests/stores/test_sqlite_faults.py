"""What goes wrong with files and disks: a clear error each time, and nothing half accepted."""

import asyncio
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lastword.core.model import SessionId
from lastword.errors import StoreError
from lastword.stores.sqlite import SqliteStore
from tests.stores.files import (
    S,
    allow,
    by_hand,
    content,
    filled,
    locked,
    move,
    names_in,
    numbers,
    opened,
    put,
    write,
)

SMALL = 1 << 20


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "it.db"


def read_only(disk: Path) -> None:
    mount = shutil.which("mount") or ""
    subprocess.run([mount, "-o", "remount,ro", str(disk)], check=True)


async def until_it_is_full(store: SqliteStore) -> list[int]:
    """What was acknowledged before what SQLite had in reserve was used up."""
    for number in range(2, 1000):
        try:
            await store.commit(write(number, size=5000))
        except StoreError as error:
            assert re.search(r"it\.db: the disk is full .*nothing of this was stored", str(error))
            return list(range(2, number))
    raise AssertionError("it is never full")


async def test_a_full_disk_is_told_to_who_sent_and_keeps_what_was_acknowledged(
    small_disk: Path,
) -> None:
    async with opened(small_disk / "it.db", lease=1.0) as store:
        await store.commit(write(1))
        filled(small_disk / "filler")
        taken = [1, *await until_it_is_full(store)]
        everybody = await asyncio.gather(
            *(store.commit(write(1, session=f"s{n}", size=5000)) for n in range(20)),
            return_exceptions=True,
        )

        assert all(isinstance(answer, StoreError) for answer in everybody)
        assert numbers(await store.entries(S)) == taken
        assert await store.sessions() == (S,)
        (small_disk / "filler").unlink()
        async with opened(small_disk / "it.db") as other:
            await other.commit(write(1, session="s3"))
        await store.commit(write(2, session="s3"))  # what it never had it has not lost
        await store.commit(write(1000))
        assert numbers(await store.entries(S)) == [*taken, 1000]
        assert await store.check() == []
    async with opened(small_disk / "it.db") as store:
        assert numbers(await store.entries(S)) == [*taken, 1000]


@pytest.mark.scenario("O17")
async def test_a_write_that_just_fits_on_a_full_disk_is_no_sign_that_the_next_one_will(
    small_disk: Path,
) -> None:
    filler = small_disk / "filler"
    async with opened(small_disk / "it.db") as store:
        await store.commit(write(1))
        filled(filler)
        os.truncate(filler, filler.stat().st_size - 40_960)
        with pytest.raises(StoreError, match="the disk is full"):
            await store.commit(write(2, size=100_000))
        await store.commit(write(2))  # where what had failed has made the log longer
        assert "the disk is full" in str(store.trouble)

        filler.unlink()
        await store.commit(write(3, size=100_000))
        assert store.trouble is None


async def test_a_disk_that_is_full_from_the_start_opens_when_it_is_not(small_disk: Path) -> None:
    filled(small_disk / "filler")
    store = SqliteStore(small_disk / "it.db")
    with pytest.raises(StoreError, match=r"it\.db: the disk is full .*it was not opened"):
        await store.open()

    (small_disk / "filler").unlink()
    await store.open()
    await store.commit(write(1))
    await store.close()


async def test_a_read_only_disk_is_not_opened(small_disk: Path) -> None:
    async with opened(small_disk / "it.db") as store:
        await store.commit(write(1))
    read_only(small_disk)

    with pytest.raises(StoreError, match=r"it\.db: the file is read-only here"):
        await SqliteStore(small_disk / "it.db").open()
    with pytest.raises(StoreError, match=r"new\.db: the directory .*disk is read-only here"):
        await SqliteStore(small_disk / "new.db").open()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
async def test_a_file_or_directory_that_may_not_be_written_is_not_opened(path: Path) -> None:
    async with opened(path) as store:
        await store.commit(write(1))
    allow(path, 0o444)
    with pytest.raises(StoreError, match=r"it\.db: the file is read-only here"):
        await SqliteStore(path).open()

    allow(path, 0o644)
    allow(path.parent, 0o555)
    with pytest.raises(StoreError, match=r"it\.db: the directory .* is read-only here"):
        await SqliteStore(path).open()
    allow(path.parent, 0o755)


async def test_a_place_that_is_none_is_named(path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no directory .*nowhere; it was not opened"):
        await SqliteStore(path.parent / "nowhere" / "it.db").open()
    with pytest.raises(StoreError, match="this is a directory"):
        await SqliteStore(path.parent).open()
    assert names_in(path.parent) == []


@pytest.mark.parametrize("damage", [b"not a database, but a letter to you" * 9, bytes(4096)])
async def test_a_file_without_its_head_is_not_opened_and_not_touched(
    path: Path, damage: bytes
) -> None:
    async with opened(path) as store:
        await store.commit(write(1))
    whole = content(path)
    put(path, damage + whole[len(damage) :])
    broken = content(path)

    with pytest.raises(StoreError, match=r"it\.db: the file is damaged.*it was not opened"):
        await SqliteStore(path).open()
    assert content(path) == broken


async def test_a_file_damaged_in_the_middle_says_so_when_it_is_read_or_checked(path: Path) -> None:
    async with opened(path) as store:
        for number in range(1, 200):
            await store.commit(write(number, size=500))
    whole = content(path)
    kept = 4096 * 12  # the tables and their roots
    put(path, whole[:kept] + random.Random(1).randbytes(len(whole) - kept))

    async with opened(path) as store:
        with pytest.raises(StoreError, match=r"it\.db: the file is damaged .*nothing was read"):
            await store.entries(S)
        with pytest.raises(StoreError, match=r"it\.db: the file is damaged .*nothing of this was"):
            await store.commit(write(200))
        assert any("damaged" in line for line in await store.check())


async def test_a_check_finds_what_only_we_can_know(path: Path) -> None:
    async with opened(path) as store:
        for session in ("gap", "back", "whole"):
            for number in (1, 2, 3):
                await store.commit(write(number, session=session, generation=number))
        with by_hand(path) as db:
            db.execute("DELETE FROM entries WHERE session = 1 AND number = 2")
            db.execute("UPDATE entries SET generation = 9 WHERE session = 2 AND number = 2")
            db.execute("INSERT INTO messages VALUES (3, 'm1', 7, 0, NULL)")

        assert await store.check() == [
            "session gap: entries are missing from its log",
            "session back: its log has an entry of an older generation behind one of a newer",
            "session whole: a message's text is not where it should be",
        ]


async def test_a_file_of_a_newer_lastword_is_not_opened(path: Path) -> None:
    async with opened(path):
        pass
    with by_hand(path) as db:
        db.execute("PRAGMA user_version = 8")

    with pytest.raises(
        StoreError, match=r"it\.db: written by a newer lastword \(schema 8; this one knows 7\)"
    ):
        await SqliteStore(path).open()


@pytest.mark.parametrize(
    "mark", ["CREATE TABLE notes (x)", "PRAGMA user_version = 1", "PRAGMA application_id = 1"]
)
async def test_the_database_of_another_program_is_not_touched(path: Path, mark: str) -> None:
    with by_hand(path) as db:
        db.execute(mark)
    before = content(path)

    with pytest.raises(StoreError, match=r"it\.db: this is the database of another program"):
        await SqliteStore(path).open()
    assert content(path) == before
    assert names_in(path.parent) == ["it.db"]


async def test_an_empty_file_is_a_new_one(path: Path) -> None:
    put(path, b"")
    async with opened(path) as store:
        await store.commit(write(1))
        assert await store.check() == []


async def test_a_file_that_another_program_keeps_locked_takes_nothing_until_it_is_not(
    path: Path,
) -> None:
    async with opened(path, patience=0.05) as store:
        with locked(path):
            everybody = await asyncio.gather(
                *(store.commit(write(1, session=f"s{n}")) for n in range(5)),
                return_exceptions=True,
            )
            with pytest.raises(StoreError, match=r"keeps it locked for more than 0\.05 s"):
                await store.load(S)
            with pytest.raises(StoreError, match=r"keeps it locked .* was not opened"):
                await SqliteStore(path, patience=0.05).open()

        why = [str(answer) for answer in everybody]
        assert all("keeps it locked for more than 0.05 s" in line for line in why)
        assert all("it.db" in line and "nothing of this was stored" in line for line in why)
        assert await store.sessions() == ()
        await store.commit(write(1))


async def test_a_file_that_was_deleted_under_the_store_takes_nothing_more(path: Path) -> None:
    async with opened(path) as store:
        await store.commit(write(1))
        move(path, path.with_suffix(".old"))
        with pytest.raises(StoreError, match="deleted or replaced while it was open"):
            await store.commit(write(2))
        move(path.with_suffix(".old"), path)

        await store.commit(write(3))
        assert numbers(await store.entries(S)) == [1, 3]


@pytest.mark.parametrize("how", ["cut", "garbled"])
async def test_of_a_torn_log_what_is_left_is_a_clean_beginning(tmp_path: Path, how: str) -> None:
    draw = random.Random(4)
    async with opened(tmp_path / "whole.db") as store:
        for number in range(1, 31):
            await store.commit(write(number, size=draw.randrange(3000)))
        whole = (tmp_path / "whole.db").read_bytes()
        log = (tmp_path / "whole.db-wal").read_bytes()

    seen = set[int]()
    cuts = sorted({0, 31, 32, 56, len(log), *(draw.randrange(len(log)) for _ in range(60))})
    for cut in cuts:
        torn = tmp_path / f"{cut}.db"
        torn.write_bytes(whole)
        rest = b"" if how == "cut" else draw.randbytes(min(64, len(log) - cut)) + log[cut + 64 :]
        torn.with_name(f"{cut}.db-wal").write_bytes(log[:cut] + rest)
        async with opened(torn) as store:
            left = numbers(await store.entries(S))
            assert await store.check() == []
        assert left == list(range(1, len(left) + 1))
        seen.add(len(left))

    assert 30 in seen
    assert len(seen) > 10


async def test_a_session_whose_first_write_failed_is_taken_when_it_is_tried_again(
    small_disk: Path,
) -> None:
    async with opened(small_disk / "it.db") as store:
        await store.commit(write(1))
        filled(small_disk / "filler")
        await until_it_is_full(store)
        with pytest.raises(StoreError, match="the disk is full"):
            await store.commit(write(1, session="a", size=5000))
        (small_disk / "filler").unlink()

        await store.commit(write(1, session="b"))
        await store.commit(write(1, session="a"))

        assert numbers(await store.entries(SessionId("a"))) == [1]


async def test_a_store_that_is_not_open_has_waited_for_no_disk(path: Path) -> None:
    assert SqliteStore(path).transactions == 0
