"""What every store does; the suite runs over each kind there is."""

import gc
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from lastword.core.cell import (
    CellId,
    CellOutcome,
    CellRecord,
    Ending,
    Frontier,
    PendingCall,
    PendingGeneration,
    StoredCell,
)
from lastword.core.entries import Entry, Finished, Said, Text, Unshown
from lastword.core.model import (
    CallId,
    Generation,
    Message,
    MessageId,
    Outcome,
    Reason,
    RunId,
    SessionId,
)
from lastword.core.queue import Standing
from lastword.core.receipt import Receipt
from lastword.errors import OwnedElsewhere, StaleWrite
from lastword.stores.contract import (
    LogPart,
    Store,
    StoredMessage,
    StoredSession,
    StoreSize,
    Write,
)
from lastword.stores.lease import Claim
from lastword.stores.opening import open_store

ALICE, BELOW = SessionId("alice"), SessionId("alice#1/1")
said = Said(Message(MessageId("m1"), "hello"), RunId("alice#1"))
done = Finished(RunId("alice#1"), Outcome.STOPPED, (MessageId("m1"),), started=True)


@pytest.fixture(params=["memory:", "sqlite:", "postgresql:"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    match request.param:
        case "sqlite:":
            return f"sqlite:{tmp_path / 'it.db'}"
        case "postgresql:":
            return str(request.getfixturevalue("postgres"))
        case _:
            return "memory:"


@pytest.fixture
async def store(address: str) -> AsyncIterator[Store]:
    store = open_store(address)
    await store.open()
    yield store
    await store.close()


def write(generation: int, *entries: Entry, session: SessionId = ALICE) -> Write:
    parent = ALICE if session == BELOW else None
    return Write(
        session=session, generation=Generation(generation), serial=1, entries=entries, parent=parent
    )


def test_each_is_a_store(store: Store) -> None:
    assert isinstance(store, Store)


async def test_what_was_committed_is_read_back_in_order(store: Store) -> None:
    await store.commit(write(1, said))
    await store.commit(write(2, done))

    assert await store.entries(ALICE) == (said, done)
    assert await store.load(ALICE) == StoredSession(Generation(2), 1)
    assert await store.sessions() == (ALICE,)
    assert await store.load(SessionId("nobody")) is None
    assert await store.entries(SessionId("nobody")) == ()


async def test_how_much_a_store_holds_counts_the_sessions_that_have_a_log(
    store: Store, address: str
) -> None:
    before = await store.size()
    await store.commit(write(1, said))
    await store.commit(write(1, said, session=BELOW))
    after = await store.size()
    await store.delete(ALICE)

    assert (before.sessions, after.sessions) == (0, 2)
    assert await store.size() == StoreSize(0, (await store.size()).files)
    files = {"memory": [], "sqlite": ["database", "wal"], "postgresql": ["database"]}
    assert [name for name, _ in after.files] == files[address.partition(":")[0]]


async def test_a_log_can_be_read_from_where_one_left_off(store: Store) -> None:
    await store.commit(write(1, said, done))
    await store.commit(write(2, said))

    assert await store.entries(ALICE, after=1) == (done, said)
    assert await store.entries(ALICE, after=3) == ()
    assert await store.entries(ALICE, after=9) == ()


@pytest.mark.scenario("W24", part="sqlite")
async def test_a_part_of_a_log_is_read_from_its_end_backwards(store: Store) -> None:
    texts = tuple(Text(RunId("alice#1"), str(number)) for number in range(1, 11))
    await store.commit(write(1, *texts[:7]))
    await store.commit(write(1, *texts[7:]))

    assert await store.part(ALICE, most=3) == LogPart(texts[7:], 7, 10)
    assert await store.part(ALICE, 8, most=2) == LogPart(texts[5:7], 5, 10)
    assert await store.part(ALICE, 3, most=9) == LogPart(texts[:2], 0, 10)
    assert await store.part(ALICE, 99, most=1) == LogPart(texts[9:], 9, 10)
    assert await store.part(ALICE, 1, most=5) == LogPart((), 0, 10)
    assert await store.part(SessionId("nobody"), most=5) == LogPart((), 0, 0)


@pytest.mark.scenario("W24", part="sqlite")
async def test_receipts_and_what_nobody_saw_are_found_without_the_rest(store: Store) -> None:
    one, two = RunId("alice#1"), RunId("alice#2")
    receipts = [
        Receipt(ALICE, Generation(number), Reason.STOPPED, fenced_at=0.0, took=0.0)
        for number in range(3)
    ]
    cut, other = Unshown(one, 4, 4, "text"), Unshown(two, 2, 2, "thinking")
    await store.commit(write(1, said, receipts[0], cut, receipts[1], other, done, receipts[2], cut))

    assert await store.receipts(ALICE, 0, 2) == (receipts[2], receipts[1])
    assert await store.receipts(ALICE, 1, 9) == (receipts[1], receipts[0])
    assert await store.receipts(ALICE, 3, 9) == ()
    assert await store.cuts(ALICE, {one}, 0) == ((3, cut), (8, cut))
    assert await store.cuts(ALICE, {one, two}, 3) == ((5, other), (8, cut))
    assert await store.cuts(ALICE, (), 0) == ()
    for of in (ALICE, SessionId("nobody")):
        await store.delete(of)
        assert (await store.receipts(of, 0, 9), await store.cuts(of, {one}, 0)) == ((), ())


async def test_a_session_that_was_only_loaded_never_was(store: Store) -> None:
    assert await store.load(ALICE) is None
    assert await store.load(ALICE) is None
    assert await store.sessions() == ()

    await store.commit(write(0))
    assert await store.load(ALICE) == StoredSession(Generation(0), 1)
    assert await store.sessions() == ()


async def test_how_the_queue_stands_is_kept_until_the_next_write_or_the_end(store: Store) -> None:
    one, two = MessageId("one"), MessageId("two")
    stands = Standing(hushed=True, order=(two, one), held=(one,))
    await store.commit(replace(write(1, said), standing=stands))
    assert await store.load(ALICE) == StoredSession(Generation(1), 1, True, stands)

    await store.commit(replace(write(1, done), standing=Standing(order=(two,))))
    assert await store.load(ALICE) == StoredSession(Generation(1), 1, False, Standing(order=(two,)))

    await store.delete(ALICE)
    assert await store.load(ALICE) == StoredSession(Generation(1), 1)


async def test_a_write_of_an_older_generation_is_refused_whole(store: Store) -> None:
    await store.commit(write(5, said))

    with pytest.raises(StaleWrite, match="alice is at generation 5; a write of generation 4"):
        await store.commit(write(4, done))
    assert await store.entries(ALICE) == (said,)
    assert await store.load(ALICE) == StoredSession(Generation(5), 1, unfinished=True)
    assert await store.unfinished() == (ALICE,)


async def test_a_message_is_found_by_its_id_with_its_outcome(store: Store) -> None:
    assert await store.message(ALICE, MessageId("m1")) is None
    await store.commit(write(1, said))
    assert await store.message(ALICE, MessageId("m1")) == StoredMessage(
        said.message, RunId("alice#1"), None, began=False
    )
    await store.commit(write(2, done))
    assert await store.message(ALICE, MessageId("m1")) == StoredMessage(
        said.message, RunId("alice#1"), Outcome.STOPPED, began=False
    )
    assert await store.message(SessionId("bob"), MessageId("m1")) is None


async def test_a_message_that_was_edited_has_its_last_text(store: Store) -> None:
    edited = replace(said, message=replace(said.message, text="hello, you"))
    await store.commit(write(1, said))
    await store.commit(write(1, edited))

    found = await store.message(ALICE, MessageId("m1"))
    assert found == StoredMessage(edited.message, RunId("alice#1"), None, began=False)


async def test_a_session_is_unfinished_until_each_of_its_messages_has_an_outcome(
    store: Store,
) -> None:
    second = Said(Message(MessageId("m2"), "and"), RunId("alice#2"))
    await store.commit(write(1, said, second))
    await store.commit(write(1, said, done, session=SessionId("bob")))
    assert await store.unfinished() == (ALICE,)

    await store.commit(write(2, done))
    assert await store.unfinished() == (ALICE,)
    assert await store.load(ALICE) == StoredSession(Generation(2), 1, unfinished=True, since=1)
    await store.commit(write(3, replace(done, messages=(MessageId("m2"),))))
    assert await store.unfinished() == ()
    assert await store.load(ALICE) == StoredSession(Generation(3), 1)


async def test_generations_survive_deletion_and_children_go_with_their_parent(store: Store) -> None:
    await store.commit(write(3, said))
    await store.commit(write(1, said, session=BELOW))
    deeper = Write(
        session=SessionId("alice#1/1#1/1"),
        generation=Generation(1),
        serial=1,
        entries=(said,),
        parent=BELOW,
    )
    await store.commit(deeper)
    await store.delete(ALICE)

    assert await store.entries(ALICE) == ()
    assert await store.entries(BELOW) == ()
    assert await store.entries(deeper.session) == ()
    assert await store.message(ALICE, MessageId("m1")) is None
    assert await store.sessions() == ()
    assert await store.unfinished() == ()
    assert await store.load(ALICE) == StoredSession(Generation(3), 1)
    assert await store.load(BELOW) is None
    with pytest.raises(StaleWrite):
        await store.commit(write(2, said))

    await store.commit(write(3, done))
    assert await store.entries(ALICE) == (done,)


async def test_deleting_what_never_was_changes_nothing(store: Store) -> None:
    await store.commit(write(1, said))
    await store.delete(SessionId("nobody"))

    assert await store.sessions() == (ALICE,)


async def test_closing_twice_is_fine(store: Store) -> None:
    await store.close()
    await store.close()


async def test_sessions_are_listed_newest_first_by_space_and_in_pages(store: Store) -> None:
    for at, name in enumerate(["old", "bob/theirs", "new", "old#1/1", "bob/theirs#1/1"], 1):
        session = SessionId(name)
        await store.commit(replace(write(1, said, session=session), at=float(at)))
    long = replace(said, message=replace(said.message, text="  more\n words " + "x" * 100))
    await store.commit(replace(write(2, long, session=SessionId("old")), at=9.0))

    mine = await store.recent("", 10)
    assert [(o.session, o.generation, o.title, o.at, o.messages) for o in mine] == [
        ("old", 2, "hello", 9.0, 1),
        ("new", 1, "hello", 3.0, 1),
    ]
    assert [o.session for o in await store.recent("bob/", 10)] == ["bob/theirs"]
    assert await store.recent("", 1) == mine[:1]
    assert await store.overview(SessionId("old")) == mine[0]
    assert await store.overview(SessionId("nobody")) is None
    assert await store.recent("", 5, mine[0].place) == mine[1:]
    await store.delete(SessionId("old"))
    assert await store.overview(SessionId("old")) is None
    await store.commit(replace(write(3, long, session=SessionId("old")), at=10.0))
    [again, _] = await store.recent("", 10)
    assert again.title == ("more words " + "x" * 100)[:80]


async def test_cells_and_what_they_remember_are_kept_with_the_write(store: Store) -> None:
    frontier = Frontier(
        PendingGeneration(1), (PendingCall(CallId("c1:1"), "read"),), "out", b"\x00"
    )
    paused = CellRecord(CellId("c1"), "pausable", 2, frontier, True, (), (), (("a", "1"),), None)
    cell = StoredCell(ALICE, paused, "await read()", run="alice#1")
    ended = replace(cell, record=replace(paused, ending=Ending(CellOutcome.FROZEN)))
    other = replace(cell, record=replace(paused, cell=CellId("c2")))

    await store.commit(replace(write(1, said), cells=(cell, other), values=(("a", "1"),)))
    assert await store.cells(ALICE) == await store.cells() == (cell, other)
    stored = await store.load(ALICE)
    assert stored is not None
    assert stored.cells == (cell, other)
    await store.commit(replace(write(2), cells=(ended,), values=(("a", "2"), ("b", "3"))))
    assert await store.cells(ALICE) == (ended, other)
    assert await store.cells() == (other,)
    assert await store.values(ALICE) == (("a", "2"), ("b", "3"))
    with pytest.raises(StaleWrite):
        await store.commit(replace(write(1), cells=(cell,)))
    assert await store.cells() == (other,)
    await store.delete(ALICE)
    assert await store.cells() == await store.cells(ALICE) == ()
    assert await store.values(ALICE) == ()


async def test_to_read_a_session_takes_nothing(store: Store) -> None:
    await store.commit(write(1, said))
    mine = store.claim(ALICE)

    assert await store.peek(ALICE) == StoredSession(Generation(1), 1, unfinished=True)
    assert await store.peek(SessionId("nobody")) is None
    assert await store.sessions() == (ALICE,)
    assert mine.good


async def test_what_a_session_is_doing_is_told_with_the_list(store: Store) -> None:
    for state in ("running", "waiting", "idle"):
        await store.commit(replace(write(1, said), state=state))
        [shown] = await store.recent("", 10)
        assert shown.state == state
        assert shown == await store.overview(ALICE)
        assert shown.owner is None


async def test_what_was_loaded_again_is_no_longer_the_earlier_loads_to_write(store: Store) -> None:
    await store.commit(write(1, said))
    await store.load(ALICE)
    first = store.claim(ALICE)
    await store.commit(replace(write(1, said), claim=first))
    await store.load(ALICE)

    assert first.ended
    with pytest.raises(OwnedElsewhere):
        await store.commit(replace(write(1, done), claim=first))
    assert await store.entries(ALICE) == (said, said)
    await store.commit(replace(write(1, done), claim=store.claim(ALICE)))


async def test_what_was_let_go_is_nobodys_and_can_be_asked_for_again(store: Store) -> None:
    await store.load(ALICE)
    mine = store.claim(ALICE)
    await store.commit(replace(write(1, said), claim=mine))
    await store.commit(write(1, said, session=BELOW))
    await store.release(ALICE)
    await store.release(SessionId("nobody"))

    assert mine.ended
    with pytest.raises(OwnedElsewhere):
        await store.commit(replace(write(1, done), claim=mine))
    assert await store.load(ALICE) == StoredSession(Generation(1), 1, unfinished=True)
    assert store.claim(ALICE).good
    assert await store.entries(ALICE) == (said,)


@pytest.mark.scenario("W68", part="sqlite")
async def test_of_sessions_that_were_let_go_no_claim_stays_in_memory(store: Store) -> None:
    before = _claims()

    for name in map(SessionId, "abc"):
        await store.load(name)
        await store.commit(write(1, said, session=name))
        await store.release(name)
    await store.load(ALICE)
    await store.commit(write(1, said, session=BELOW))
    await store.release(ALICE)

    assert _claims() <= before


def _claims() -> set[int]:
    gc.collect()
    return {id(one) for one in gc.get_objects() if isinstance(one, Claim)}
