"""A backup is one moment of a store, whole or not there; and it is no store."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from lastword.core.model import Generation, SessionId
from lastword.errors import StoreError
from lastword.stores.contract import StoredSession
from lastword.stores.sqlite import SqliteStore
from lastword.stores.sqlite.backup import Copied, back_up, restore
from tests.stores.files import S, by_hand, content, filled, names_in, numbers, opened, put, write
from tests.stores.test_sqlite_killed import line, program

NOW = 1_800_000_000.0  # seconds since 1970
ODD = "UPDATE entries SET number = number + 7"


def silent(_: int, __: int) -> None: ...


def backed_up(source: Path, target: Path) -> Copied:
    return back_up(source, target, silent)


def restored(backup: Path, target: Path, now: float = NOW) -> Copied:
    return restore(backup, target, silent, now)


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A store with one session, of three entries."""
    async with opened(tmp_path / "it.db") as store:
        for number in (1, 2, 3):
            await store.commit(write(number))
    return tmp_path / "it.db"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "it.backup"


@pytest.mark.scenario("O1")
async def test_a_backup_is_one_moment_while_another_process_goes_on_writing(
    tmp_path: Path, target: Path
) -> None:
    told: dict[str, int] = {}
    async with program("writes", tmp_path / "it.db") as writer:
        for _ in range(200):
            session, number = (await line(writer)).split()
            told[session] = int(number)

        copied = backed_up(tmp_path / "it.db", target)

        for _ in range(200):
            assert await line(writer)  # it goes on as before

    restored(target, tmp_path / "new.db")
    assert copied.sessions == len(told)
    async with opened(tmp_path / "new.db") as store:
        assert await store.check() == []
        for session in await store.sessions():
            kept = numbers(await store.entries(session))
            assert kept == list(range(1, len(kept) + 1))
            assert len(kept) >= told[session]  # what was acknowledged before is in it


@pytest.mark.scenario("O1")
async def test_a_backup_comes_to_its_end_however_often_somebody_writes_meanwhile(
    path: Path, target: Path
) -> None:
    async with opened(path) as store:
        await store.commit(write(4, size=10_000_000))
    told = [0]

    def written_to(copied: int, _: int) -> None:
        assert copied > told[-1]  # nothing is copied anew
        told.append(copied)
        with by_hand(path) as db:
            db.execute("UPDATE sessions SET serial = serial + 1")

    back_up(path, target, written_to)

    assert len(told) > 2
    with by_hand(target) as db:
        assert db.execute("SELECT serial FROM sessions").fetchone() == (4,)


def test_it_is_one_file_for_its_owner_alone(path: Path, target: Path) -> None:
    copied = backed_up(path, target)

    assert names_in(path.parent) == ["it.backup", "it.db"]
    assert target.stat().st_mode & 0o777 == 0o600
    assert copied == Copied(1, target.stat().st_size)


def test_progress_is_told_to_the_end(path: Path, target: Path) -> None:
    told: list[tuple[int, int]] = []

    back_up(path, target, lambda copied, whole: told.append((copied, whole)))

    copied, whole = told[-1]
    assert copied == whole > 0


@pytest.mark.scenario("O2")
@pytest.mark.parametrize("what", ["file", "link", "folder"])
def test_nothing_is_overwritten(path: Path, target: Path, what: str) -> None:
    match what:
        case "file":
            put(target, b"the only copy")
        case "link":
            target.symlink_to("nowhere")
        case _:
            target.mkdir()

    with pytest.raises(StoreError, match=r"it\.backup is there already, and is not overwritten"):
        backed_up(path, target)

    assert names_in(path.parent) == ["it.backup", "it.db"]
    if what == "file":
        assert content(target) == b"the only copy"


@pytest.mark.scenario("O2")
def test_a_name_that_somebody_takes_meanwhile_stays_theirs(path: Path, target: Path) -> None:
    def also_there(_: int, __: int) -> None:
        put(target, b"quicker")

    with pytest.raises(StoreError, match="is there already"):
        back_up(path, target, also_there)

    assert content(target) == b"quicker"
    assert names_in(path.parent) == ["it.backup", "it.db"]


@pytest.mark.scenario("O2")
def test_one_that_is_interrupted_leaves_nothing(path: Path, target: Path) -> None:
    def interrupted(_: int, __: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        back_up(path, target, interrupted)

    assert names_in(path.parent) == ["it.db"]


@pytest.mark.scenario("O2")
def test_one_that_is_killed_leaves_nothing_under_its_name(path: Path, target: Path) -> None:
    killed = (
        "import os, sys; from pathlib import Path; from lastword.stores.sqlite.backup import *;"
        "back_up(*map(Path, sys.argv[1:]), lambda *_: os.kill(os.getpid(), 9))"
    )

    done = subprocess.run([sys.executable, "-c", killed, path, target], check=False)

    assert done.returncode == -9
    assert not os.path.lexists(target)
    backed_up(path, target)


@pytest.mark.scenario("O2")
def test_a_disk_without_room_is_named_and_left_as_it_was(path: Path, small_disk: Path) -> None:
    filled(small_disk / "filler")

    with pytest.raises(StoreError, match=r"b: the disk is full .*; nothing was copied"):
        backed_up(path, small_disk / "b")

    assert names_in(small_disk) == ["filler"]


@pytest.mark.scenario("O2")
def test_a_store_that_is_not_whole_is_not_copied_as_if_it_were(path: Path, target: Path) -> None:
    with by_hand(path) as db:
        db.execute(ODD)

    with pytest.raises(StoreError, match=r"it\.db is not whole \(session s: entries are missing"):
        backed_up(path, target)

    assert names_in(path.parent) == ["it.db"]


def test_a_damaged_backup_is_not_restored(path: Path, target: Path) -> None:
    backed_up(path, target)
    with by_hand(target) as db:
        db.execute(ODD)

    with pytest.raises(StoreError, match=r"it\.backup is not whole"):
        restored(target, path.with_name("new.db"))

    assert names_in(path.parent) == ["it.backup", "it.db"]


@pytest.mark.parametrize(
    ("held", "why"),
    [(None, "does not exist"), (b"", "is empty"), (b"milk" * 999, "not a database")],
)
def test_what_is_no_store_is_not_copied_and_nothing_is_made(
    tmp_path: Path, held: bytes | None, why: str
) -> None:
    if held is not None:
        put(tmp_path / "a", held)
    before = names_in(tmp_path)

    for do in (backed_up, restored):
        with pytest.raises(StoreError, match=f"a:? .*{why}.*; nothing was copied"):
            do(tmp_path / "a", tmp_path / "b")

    assert names_in(tmp_path) == before


async def test_a_backup_is_no_store_and_a_store_is_no_backup(path: Path, target: Path) -> None:
    backed_up(path, target)

    with pytest.raises(StoreError, match="this is a backup, and no store; `lastword restore`"):
        await SqliteStore(target).open()
    with pytest.raises(StoreError, match="this is a backup, and no store"):
        backed_up(target, path.with_name("again"))
    with pytest.raises(StoreError, match="this is a store, and no backup of one"):
        restored(path, path.with_name("new.db"))

    assert names_in(path.parent) == ["it.backup", "it.db"]


@pytest.mark.parametrize("more", ["-wal", "-shm", "-journal"])
def test_a_store_is_not_restored_beside_what_another_left(
    path: Path, target: Path, more: str
) -> None:
    """SQLite would take it for a part of the new store."""
    backed_up(path, target)
    put(path.with_name(f"new.db{more}"), b"of another")

    with pytest.raises(StoreError, match=f"new.db{more} is there already, of another store"):
        restored(target, path.with_name("new.db"))


@pytest.mark.parametrize("do", [backed_up, restored])
def test_a_directory_that_is_not_there_is_named(
    path: Path, target: Path, do: Callable[[Path, Path], Copied]
) -> None:
    backed_up(path, target)
    source = path if do is backed_up else target

    with pytest.raises(StoreError, match=r"gone/x: there is no directory .*gone"):
        do(source, path.parent / "gone" / "x")


async def test_a_session_that_was_only_asked_for_leaves_nothing_in_a_restored_store(
    path: Path, target: Path
) -> None:
    backed_up(path, target)
    restored(target, path.with_name("new.db"))

    async with opened(path.with_name("new.db")) as store:
        stands = await store.load(SessionId("asked for"))
        await store.release(SessionId("asked for"))

        assert stands == StoredSession(Generation(int(NOW * 1_000_000)), int(NOW * 1_000_000))
        assert await store.peek(SessionId("asked for")) is None
        assert await store.peek(S) is not None


# upgrades


def of_schema(path: Path, number: int) -> None:
    """What an older lastword made and wrote to."""
    with by_hand(path) as db:
        for step in range(1, number + 1):
            script = files("lastword.stores") / "sql" / f"sqlite-{step}.sql"
            db.executescript(script.read_text(encoding="utf-8"))
        db.execute("PRAGMA application_id = 0x6C617374")
        db.execute(f"PRAGMA user_version = {number}")
        db.execute(
            "INSERT INTO sessions (key, id, generation, serial, length, owner)"
            " VALUES (1, 's', 4, 1, 1, 1)"
        )
        db.execute("""INSERT INTO entries VALUES (1, 1, 4, 'text', '{"run":"s#1","text":"1"}')""")


def schema_of(path: Path) -> int:
    with by_hand(path) as db:
        return int(db.execute("PRAGMA user_version").fetchone()[0])


@pytest.mark.scenario("O9")
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6])
async def test_a_backup_leaves_an_older_store_as_it_is_and_is_restored_as_a_newer(
    tmp_path: Path, target: Path, number: int
) -> None:
    old = tmp_path / "it.db"
    of_schema(old, number)

    backed_up(old, target)
    restored(target, tmp_path / "new.db")

    assert schema_of(old) == schema_of(target) == number
    async with opened(tmp_path / "new.db") as store:
        assert numbers(await store.entries(S)) == [1]
        assert await store.check() == []
    assert schema_of(tmp_path / "new.db") == 7


@pytest.mark.scenario("O9")
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6])
async def test_a_store_of_any_older_schema_is_opened_and_goes_on(
    tmp_path: Path, number: int
) -> None:
    of_schema(tmp_path / "it.db", number)

    async with opened(tmp_path / "it.db") as store:
        stood = await store.load(S)
        await store.commit(write(2, generation=5))

        assert stood
        assert (stood.generation, stood.serial) == (4, 1)
        assert numbers(await store.entries(S)) == [1, 2]
        assert await store.check() == []


@pytest.mark.scenario("O9")
def test_what_a_newer_lastword_made_is_neither_copied_nor_restored(
    path: Path, target: Path
) -> None:
    backed_up(path, target)
    for one in (path, target):
        with by_hand(one) as db:
            db.execute("PRAGMA user_version = 99")

    for do, source in ((backed_up, path), (restored, target)):
        with pytest.raises(StoreError, match=r"written by a newer lastword \(schema 99; this one"):
            do(source, path.with_name("other"))
