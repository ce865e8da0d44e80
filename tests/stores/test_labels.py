"""How a person has a session listed: every store keeps it, and looks for it in the same way."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from lastword.core.entries import Entry, Said
from lastword.core.model import Generation, Message, MessageId, RunId, SessionId
from lastword.stores.contract import Label, SessionFilter, Store, Write
from lastword.stores.opening import open_store

said = Said(Message(MessageId("m1"), "hello"), RunId("a#1"))


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


def write(generation: int, *entries: Entry, session: SessionId) -> Write:
    return Write(session=session, generation=Generation(generation), serial=1, entries=entries)


@pytest.mark.scenario("Y9", part="sqlite")
@pytest.mark.scenario("Y9", part="postgres")
async def test_a_session_is_listed_as_a_person_has_labelled_it(store: Store) -> None:
    for at, name in enumerate(["a", "b", "c"], 1):
        await store.commit(replace(write(1, said, session=SessionId(name)), at=float(at)))
    a = SessionId("a")
    assert await store.label(a, Label(title="ÄPFEL und birnen"))
    assert await store.label(a, Label(pinned=True))
    assert not await store.label(SessionId("nobody"), Label(title="x"))
    await store.commit(replace(write(2, said, session=a), at=9.0))  # it stays

    labelled = await store.overview(a)
    assert labelled
    assert (labelled.title, labelled.pinned) == ("ÄPFEL und birnen", True)
    assert await store.recent("", 9, None, SessionFilter(pinned=True)) == (labelled,)
    assert await store.recent("", 9, None, SessionFilter("äpfel UND")) == (labelled,)
    unpinned = await store.recent("", 1, None, SessionFilter("hel", pinned=False))
    assert [one.session for one in unpinned] == ["c"]
    rest = await store.recent("", 9, unpinned[0].place, SessionFilter("hel", pinned=False))
    assert [one.session for one in rest] == ["b"]
    assert await store.recent("", 9, None, SessionFilter("%")) == ()

    await store.label(a, Label(title=""))
    assert [one.title for one in await store.recent("", 1)] == ["hello"]
    await store.delete(a)
    await store.commit(replace(write(3, said, session=a), at=10.0))
    assert [one.pinned for one in await store.recent("", 1)] == [False]
