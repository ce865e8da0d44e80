"""What nobody used for long is deleted, and nothing that is in use or waits for somebody."""

from pathlib import Path

import pytest

from lastword.core.cell import CellId, CellRecord, StoredCell
from lastword.core.entries import Finished, Said
from lastword.core.model import Generation, Message, MessageId, Outcome, RunId, SessionId
from lastword.errors import OwnedElsewhere, StoreError
from lastword.stores.contract import Write
from lastword.stores.sqlite import SqliteStore
from lastword.stores.sqlite.retention import vacuum
from tests.stores.files import by_hand, opened, text

OLD, NEW, SINCE = 1_000.0, 9_000.0, 5_000.0


async def used(
    store: SqliteStore,
    name: str,
    at: float,
    *,
    parent: str | None = None,
    waits: bool = False,
    cells: tuple[StoredCell, ...] = (),
) -> None:
    top = SessionId(name.partition("#")[0])
    await store.load(top)
    said = Said(Message(MessageId("m1"), "hello"), RunId(f"{name}#1"))
    end = Finished(said.run, Outcome.COMPLETED, (MessageId("m1"),), started=True)
    await store.commit(
        Write(
            session=SessionId(name),
            generation=Generation(1),
            serial=1,
            entries=(said, text(1), *(() if waits else (end,))),
            parent=SessionId(parent) if parent else None,
            at=at,
            cells=cells,
        )
    )
    await store.release(top)


def standing(session: str) -> StoredCell:
    record = CellRecord(
        cell=CellId("c1"), kind="pausable", version=1, frontier=None, paused=True,
        doubtful=(), output=(), values=(), ending=None,
    )  # fmt: skip
    return StoredCell(SessionId(session), record, "f()")


async def pruned(store: SqliteStore) -> list[str]:
    """The names of those that are deleted."""
    found = await store.unused(SINCE)
    return [one.session for one in found if await store.prune(one.session, SINCE)]


@pytest.mark.scenario("O7")
async def test_what_was_last_used_before_goes_and_what_was_used_since_stays(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path / "it.db") as store:
        await used(store, "old", OLD)
        await used(store, "older", OLD - 1)
        await used(store, "new", NEW)

        assert await pruned(store) == ["older", "old"]
        assert await store.sessions() == ("new",)
        assert await pruned(store) == []
        stands = await store.peek(SessionId("old"))
        assert await store.check() == []

    assert stands
    assert (stands.generation, stands.serial) == (1, 1)  # nothing starts over


@pytest.mark.scenario("O7")
async def test_a_family_goes_together_when_none_of_it_is_in_use(tmp_path: Path) -> None:
    async with opened(tmp_path / "it.db") as store:
        for name, last in (("gone", OLD), ("stays", NEW)):
            await used(store, name, OLD)
            await used(store, f"{name}#1/1", OLD, parent=name)
            await used(store, f"{name}#1/1#1/1", last, parent=f"{name}#1/1")

        assert await pruned(store) == ["gone"]
        assert await store.sessions() == ("stays", "stays#1/1", "stays#1/1#1/1")
        assert await store.check() == []


@pytest.mark.scenario("O7")
@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize("what", ["message", "program"])
async def test_what_waits_for_somebody_is_kept_however_old(
    tmp_path: Path, what: str, *, below: bool
) -> None:
    async with opened(tmp_path / "it.db") as store:
        name = "s#1/1" if below else "s"
        if below:
            await used(store, "s", OLD)
        cells = (standing(name),) if what == "program" else ()
        parent = "s" if below else None
        await used(store, name, OLD, parent=parent, waits=what == "message", cells=cells)

        [found] = await store.unused(SINCE)

        assert (found.session, found.at, found.waits) == ("s", OLD, True)
        assert await pruned(store) == []


@pytest.mark.scenario("O7")
async def test_what_another_has_in_use_is_refused_and_kept(tmp_path: Path) -> None:
    async with opened(tmp_path / "it.db") as server, opened(tmp_path / "it.db") as other:
        await used(server, "s", OLD)
        await server.load(SessionId("s"))

        with pytest.raises(OwnedElsewhere, match="session s belongs to"):
            await other.prune(SessionId("s"), SINCE)
        await server.release(SessionId("s"))

        assert await pruned(other) == ["s"]
        await server.load(SessionId("s"))  # whoever prunes keeps nothing


@pytest.mark.scenario("O7")
async def test_what_was_used_again_since_it_was_found_is_kept(tmp_path: Path) -> None:
    async with opened(tmp_path / "it.db") as server, opened(tmp_path / "it.db") as other:
        await used(server, "s", OLD)
        [found] = await other.unused(SINCE)
        await used(server, "s", NEW)

        assert not await other.prune(found.session, SINCE)
        assert await server.sessions() == ("s",)
        await server.load(SessionId("s"))


@pytest.mark.scenario("O8")
async def test_the_room_of_what_was_deleted_is_given_back_and_all_else_is_there(
    tmp_path: Path,
) -> None:
    path = tmp_path / "it.db"
    async with opened(path) as store:
        for number in range(200):
            await used(store, f"old {number}", OLD)
        await used(store, "new", NEW)
        await pruned(store)
        kept = await store.entries(SessionId("new"))

    before, after = vacuum(path)

    assert after == path.stat().st_size < before
    async with opened(path) as store:
        assert await store.entries(SessionId("new")) == kept
        assert await store.check() == []
    with by_hand(path) as db:
        assert db.execute("SELECT count(*) FROM owners").fetchone() == (0,)


@pytest.mark.scenario("O8")
async def test_a_store_that_somebody_has_open_is_left_as_it_is(tmp_path: Path) -> None:
    async with opened(tmp_path / "it.db") as store:
        await used(store, "s", NEW)

        with pytest.raises(StoreError, match=r"it\.db is in use by another store of this process"):
            vacuum(tmp_path / "it.db")

        await used(store, "s", NEW + 1)
