"""What every store does; the suite runs over each kind there is."""

from collections.abc import Callable

import pytest

from lastword.core.model import Generation, Message, MessageId, Outcome, RunId, SessionId
from lastword.core.transcript import Finished, Said
from lastword.errors import StaleWrite
from lastword.stores.contract import Store, StoredMessage, StoredSession, Write
from lastword.stores.memory import MemoryStore

ALICE, BELOW = SessionId("alice"), SessionId("alice#1/1")
said = Said(Message(MessageId("m1"), "hello"), RunId("alice#1"))
done = Finished(RunId("alice#1"), Outcome.STOPPED, (MessageId("m1"),), started=True)


@pytest.fixture(params=[MemoryStore])
def store(request: pytest.FixtureRequest) -> Store:
    make: Callable[[], Store] = request.param
    return make()


def write(generation: int, *entries: Said | Finished, session: SessionId = ALICE) -> Write:
    parent = ALICE if session == BELOW else None
    return Write(session, Generation(generation), 1, entries, parent)


async def test_what_was_committed_is_read_back_in_order(store: Store) -> None:
    await store.commit(write(1, said))
    await store.commit(write(2, done))

    assert await store.entries(ALICE) == (said, done)
    assert await store.load(ALICE) == StoredSession(Generation(2), 1)
    assert await store.sessions() == (ALICE,)
    assert await store.load(SessionId("nobody")) is None
    assert await store.entries(SessionId("nobody")) == ()


async def test_a_write_of_an_older_generation_is_refused_whole(store: Store) -> None:
    await store.commit(write(5, said))

    with pytest.raises(StaleWrite, match="alice is at generation 5; a write of generation 4"):
        await store.commit(write(4, done))
    assert await store.entries(ALICE) == (said,)
    assert await store.load(ALICE) == StoredSession(Generation(5), 1)


async def test_a_message_is_found_by_its_id_with_its_outcome(store: Store) -> None:
    assert await store.message(ALICE, MessageId("m1")) is None
    await store.commit(write(1, said))
    assert await store.message(ALICE, MessageId("m1")) == StoredMessage(
        said.message, RunId("alice#1"), None
    )
    await store.commit(write(2, done))
    assert await store.message(ALICE, MessageId("m1")) == StoredMessage(
        said.message, RunId("alice#1"), Outcome.STOPPED
    )
    assert await store.message(SessionId("bob"), MessageId("m1")) is None


async def test_generations_survive_deletion_and_children_go_with_their_parent(store: Store) -> None:
    await store.commit(write(3, said))
    await store.commit(write(1, said, session=BELOW))
    await store.delete(ALICE)

    assert await store.entries(ALICE) == ()
    assert await store.entries(BELOW) == ()
    assert await store.sessions() == ()
    assert await store.load(ALICE) == StoredSession(Generation(3), 1)
    with pytest.raises(StaleWrite):
        await store.commit(write(2, said))
    await store.close()
