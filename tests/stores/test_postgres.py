"""The database: who owns what, what is in doubt, and which database it is."""

import asyncio
import os
import threading
from dataclasses import replace

import pytest

from lastword.core.entries import Began, Finished, Said, Text
from lastword.core.model import Generation, Message, MessageId, Outcome, RunId, SessionId
from lastword.core.queue import Standing
from lastword.errors import OwnedElsewhere, StoreError
from lastword.stores.contract import StoredMessage, Write
from tests.promise.workshop import until
from tests.stores.databases import (
    Flaky,
    by_hand,
    nodes,
    opened,
    seems_dead,
    somebody_waits,
    taken,
    terminate,
)
from tests.stores.files import S, numbers, write

ONE = Message(MessageId("one"), "hello")


# owners


async def test_an_owner_whose_lease_ran_out_and_whom_nobody_missed_goes_on(postgres: str) -> None:
    async with opened(postgres, lease=1.0) as store, by_hand(postgres) as db:
        await store.load(S)
        mine = store.claim(S)
        async with db.transaction():
            await db.execute("LOCK TABLE lastword.nodes")
            await until(lambda: not mine.good)
            assert not mine.ended
        await mine.known()

        assert mine.good
        await store.commit(replace(write(1), claim=mine))


async def test_a_loop_that_waits_for_its_lease_is_not_taken_for_one_that_is_stalled(
    postgres: str,
) -> None:
    """The lease is not renewed for who stands still; but this one stands still for the lease."""
    locked, waited = threading.Event(), threading.Event()

    async def hold_up() -> None:
        async with by_hand(postgres) as db, db.transaction():
            await db.execute("LOCK TABLE lastword.nodes")
            locked.set()
            waited.wait(60)

    async with opened(postgres, lease=1.0) as store:
        await store.load(S)
        mine = store.claim(S)
        holding = asyncio.create_task(asyncio.to_thread(asyncio.run, hold_up()))
        await asyncio.to_thread(locked.wait, 60)
        await until(lambda: not mine.good)
        for turn in range(40):  # of a quarter of a second; it blocks the loop, as a hold does
            mine.wait(0.25)
            if turn == 8:
                waited.set()
        assert mine.good
        await holding


async def test_who_was_declared_dead_has_lost_all_and_begins_as_another(postgres: str) -> None:
    async with opened(postgres, lease=1.0) as store:
        await store.commit(write(1))
        mine, [before] = store.claim(S), await nodes(postgres)
        await seems_dead(postgres)
        await until(lambda: mine.ended)

        with pytest.raises(OwnedElsewhere):
            await store.commit(replace(write(2), claim=mine))
        with pytest.raises(OwnedElsewhere):
            await store.commit(write(2))
        assert await store.lost([S, SessionId("t")]) == (S,)
        await taken(store, S)
        await store.commit(write(3))
        assert numbers(await store.entries(S)) == [1, 3]
        assert before not in await nodes(postgres)


async def test_who_was_found_dead_writes_nothing_to_what_another_took(postgres: str) -> None:
    async with opened(postgres, lease=600.0) as old, opened(postgres) as new:
        await old.commit(write(1))
        [first, _] = await nodes(postgres)
        await seems_dead(postgres, f"epoch = {first}")
        await new.load(S)
        await new.commit(write(10))

        with pytest.raises(OwnedElsewhere, match=f"another store of this process .{os.getpid()}"):
            await old.commit(write(2))
        assert numbers(await new.entries(S)) == [1, 10]
        assert await new.check() == []


@pytest.mark.parametrize(
    "taken", ["owner = 7, claim = claim + 1", "owner = 7", "claim = claim + 1"]
)
async def test_what_was_taken_while_a_write_was_on_its_way_refuses_it(
    postgres: str, taken: str
) -> None:
    """The row is locked by who takes it; the writer waits for that, and finds it another's."""
    async with opened(postgres, lease=600.0) as store, by_hand(postgres) as db:
        await store.commit(write(1))
        async with db.transaction():
            await db.execute(f"UPDATE lastword.sessions SET {taken}")  # noqa: S608
            writing = asyncio.ensure_future(store.commit(write(2)))
            await somebody_waits(db)

        with pytest.raises(OwnedElsewhere):
            await writing
        assert numbers(await store.entries(S)) == [1]


async def test_of_what_is_written_together_each_is_refused_alone(postgres: str) -> None:
    names = [S, SessionId("t"), SessionId("u")]
    async with opened(postgres, lease=600.0) as store, by_hand(postgres) as db:
        for name in names:
            await store.commit(write(1, session=name))
        await db.execute("UPDATE lastword.sessions SET owner = 7 WHERE id = 't'")
        before = store.transactions
        writing = [store.commit(write(2, session=name)) for name in names]
        came = await asyncio.gather(*writing, return_exceptions=True)

        assert [type(one) for one in came] == [type(None), OwnedElsewhere, type(None)]
        assert store.transactions == before + 1
        kept = [numbers(await store.entries(name)) for name in names]
        assert kept == [[1, 2], [1], [1, 2]]


@pytest.mark.parametrize("number", range(20))
async def test_of_all_who_take_what_a_dead_owner_had_one_does(postgres: str, number: int) -> None:
    names = [SessionId(f"s{number}-{turn}") for turn in range(5)]
    async with opened(postgres, lease=600.0) as dead:
        for name in names:
            await dead.commit(write(1, session=name))
        async with (
            opened(postgres) as a,
            opened(postgres) as b,
            opened(postgres) as c,
        ):
            [first, *_] = await nodes(postgres)
            await seems_dead(postgres, f"epoch = {first}")
            for name in names:
                tries = [store.load(name) for store in (a, b, c)]
                came = await asyncio.gather(*tries, return_exceptions=True)
                assert sum(isinstance(one, OwnedElsewhere) for one in came) == 2, came
                [won] = [
                    store
                    for store, one in zip((a, b, c), came, strict=True)
                    if not isinstance(one, BaseException)
                ]
                await won.commit(write(2, session=name))
                assert numbers(await won.entries(name)) == [1, 2]


async def test_a_child_is_whose_the_session_above_it_is(postgres: str) -> None:
    below = SessionId("s#1/1")
    async with opened(postgres, lease=600.0) as old, opened(postgres) as new:
        await old.commit(write(1))
        await old.commit(replace(write(1, session=below), parent=S))
        with pytest.raises(OwnedElsewhere):
            await new.load(below)
        [first, _] = await nodes(postgres)
        await seems_dead(postgres, f"epoch = {first}")
        await new.load(S)

        with pytest.raises(OwnedElsewhere):
            await old.commit(replace(write(2, session=below), parent=S))
        await new.commit(replace(write(3, session=below), parent=S))
        assert numbers(await new.entries(below)) == [1, 3]


# in doubt


async def test_a_write_whose_answer_was_lost_is_stored_once(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    flaky = Flaky(monkeypatch)
    async with opened(postgres, lease=600.0) as store:
        await store.commit(write(1))
        flaky.after = 1.0
        writing = asyncio.ensure_future(store.commit(write(2)))
        await until(lambda: flaky.lost >= 3)
        flaky.after = 0.0
        await writing
        await store.commit(write(3))

        assert numbers(await store.entries(S)) == [1, 2, 3]


async def test_an_empty_write_whose_answer_was_lost_undoes_nothing_that_came_after(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    flaky = Flaky(monkeypatch)
    async with opened(postgres, lease=600.0) as store:
        await store.commit(write(1))
        flaky.after = 1.0
        hushed = replace(write(1), entries=(), standing=Standing(hushed=True))
        writing = asyncio.ensure_future(store.commit(hushed))
        await until(lambda: flaky.lost)
        flaky.after = 0.0
        await writing
        await store.commit(replace(write(1), entries=(), standing=Standing()))

        found = await store.peek(S)
        assert found
        assert not found.standing.hushed


@pytest.mark.parametrize("number", range(8))
async def test_whatever_becomes_of_the_connections_all_that_was_acknowledged_is_there_once(
    postgres: str, monkeypatch: pytest.MonkeyPatch, number: int, seed: int
) -> None:
    flaky = Flaky(monkeypatch, f"{seed} {number}")
    async with opened(postgres, lease=600.0) as store:
        flaky.before, flaky.after = 0.1, 0.2

        async def talk(name: str) -> None:
            for turn in range(1, 21):
                await store.commit(write(turn, session=name))
                if flaky.choose.random() < 0.05:
                    await terminate(postgres)

        names = [f"s{n}" for n in range(8)]
        await asyncio.gather(*map(talk, names))
        for name in names:
            assert numbers(await store.entries(SessionId(name))) == list(range(1, 21))
        assert await store.check() == []
        assert flaky.lost


async def test_a_lock_of_somebody_elses_holds_nobody_else_up(postgres: str) -> None:
    other = SessionId("other")
    async with opened(postgres, lease=600.0) as store, by_hand(postgres) as db:
        for name in (S, other):
            await store.commit(write(1, session=name))
        async with db.transaction():
            await db.execute("SELECT 1 FROM lastword.sessions WHERE id = 's' FOR UPDATE")
            held = asyncio.ensure_future(store.commit(write(2)))
            await store.commit(write(2, session=other))
            with pytest.raises(StoreError, match=r"lock timeout; nothing of this was stored"):
                await held
        assert numbers(await store.entries(S)) == [1]
        await store.commit(write(2))


# what is stored


async def test_all_that_becomes_of_a_message_in_one_write_is_known(postgres: str) -> None:
    run = RunId("s#1")
    told = Said(ONE, run), Began(run, Generation(1), (ONE.id,))
    ended = Finished(run, Outcome.COMPLETED, (ONE.id,), started=True)
    whole = Write(session=S, generation=Generation(1), serial=1, entries=(*told, ended))
    async with opened(postgres) as store:
        await store.commit(whole)
        assert await store.message(S, ONE.id) == StoredMessage(ONE, run, Outcome.COMPLETED, True)

        again = replace(whole, session=SessionId("t"), entries=(*told, Said(ONE, run)))
        await store.commit(again)
        found = await store.message(SessionId("t"), ONE.id)
        assert found == StoredMessage(ONE, run, None, began=False)


async def test_text_may_hold_what_no_name_may(postgres: str) -> None:
    odd = "a zero \0, and half a character \ud800"
    async with opened(postgres) as store:
        said = Said(Message(ONE.id, odd), RunId("s#1"))
        await store.commit(replace(write(1), entries=(said, Text(RunId("s#1"), odd))))
        assert (await store.entries(S))[1] == Text(RunId("s#1"), odd)
        with pytest.raises(StoreError, match="zero byte"):
            await store.load(SessionId("a\0b"))
        named = Said(Message(MessageId("a\0b"), "x"), RunId("s#2"))
        with pytest.raises(StoreError, match="zero byte"):
            await store.commit(replace(write(2), entries=(named,)))
        assert await store.message(S, MessageId("a\0b")) is None
