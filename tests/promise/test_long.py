"""R16. Long histories, huge results and stores full of unfinished work: nobody waits for them."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from lastword import Outcome, Run
from lastword.core.entries import Began, Entry, Finished, Result, Said, Text
from lastword.core.model import Generation, Message, MessageId, RunId, SessionId
from lastword.stores.contract import StoredSession, Write
from lastword.stores.memory import MemoryStore
from lastword.testing.seeded import explore
from tests.promise.stories import OneAtATime, a_while, answer, check_log, runtime
from tests.promise.workshop import until

pytestmark = pytest.mark.scenario("R16")


class Counting(MemoryStore):
    """How much was read of the logs; who is loaded can be kept waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.read = 0
        self.loaded: list[str] = []
        self.held: set[str] = set()
        self.free = asyncio.Event()

    async def entries(self, session: SessionId, after: int = 0) -> tuple[Entry, ...]:
        found = await super().entries(session, after)
        self.read += len(found)
        return found

    async def load(self, session: SessionId) -> StoredSession | None:
        self.loaded.append(session)
        if session in self.held:
            await self.free.wait()
        return await super().load(session)


async def with_turns(store: MemoryStore, session: str, turns: int, *, waiting: int = 0) -> None:
    """A session that has had so many turns, and was left with so many messages."""
    entries: list[Entry] = []
    for serial in range(1, turns + waiting + 1):
        run, message = RunId(f"{session}#{serial}"), MessageId(f"m{serial}")
        entries.append(Said(Message(message, f"question {serial}"), run))
        if serial <= turns:
            entries += [
                Began(run, Generation(serial), (message,)),
                Text(run, f"answer {serial}"),
                Finished(run, Outcome.COMPLETED, (message,), started=True),
            ]
    await store.commit(
        Write(
            session=SessionId(session),
            generation=Generation(2 * turns),
            serial=turns + waiting,
            entries=tuple(entries),
        )
    )


# a long history


@pytest.mark.parametrize("turns", [10, 2000])
async def test_a_turn_reads_what_is_new_however_much_there_was(turns: int) -> None:
    store = Counting()
    await with_turns(store, "s", turns)
    shown: list[int] = []

    async def engine(run: Run) -> None:
        shown.append(len(run.history))
        await run.emit("hm")

    async with runtime(engine, store=store) as r:
        for number in range(3):
            before = store.read
            await (await r.session("s").send("and?")).outcome()
            assert store.read - before < 10 or number == 0
        assert shown == [2 * turns + 1, 2 * turns + 3, 2 * turns + 5]


async def test_what_is_shown_of_earlier_turns_is_not_made_anew() -> None:
    store = Counting()
    await with_turns(store, "s", 500)
    pasts: list[Any] = []

    async def engine(run: Run) -> None:
        pasts.append(run.history)

    async with runtime(engine, store=store) as r:
        for _ in range(2):
            await (await r.session("s").send("and?")).outcome()
    first, second = pasts
    assert len(second) == len(first) + 1
    assert all(one is same for one, same in zip(first[:1000], second[:1000], strict=True))
    assert first[-1].text == second[-2].text == "and?"
    assert len(first) == 1001  # as it stood then, whatever came since


# a huge result


class Items(list[int]):
    """It knows how many of it were looked at."""

    read = 0

    def __iter__(self) -> Iterator[int]:
        for item in super().__iter__():
            self.read += 1
            yield item


async def test_of_a_huge_result_no_more_is_put_into_words_than_is_kept() -> None:
    many = Items(range(1_000_000))

    async def look() -> Items:
        return many

    async def engine(run: Run) -> None:
        assert await run.call(look) is many

    async with runtime(engine) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        [kept] = [e for e in await r.session("s").log() if isinstance(e, Result)]
    assert kept.content.startswith("[0, 1, 2, 3")
    assert kept.content.endswith("… (more than 20000 characters)")
    assert 0 < many.read < 20_000


@pytest.mark.parametrize(
    "huge", [b"x" * 100_000, [b"x" * 100_000], {"a": [object()] * 100_000}, [{1, 2}] * 50_000]
)
async def test_a_huge_result_that_has_no_json_is_cut_all_the_same(huge: object) -> None:
    async def look() -> object:
        return huge

    async def engine(run: Run) -> None:
        await run.call(look)

    async with runtime(engine) as r:
        await (await r.session("s").send("go")).outcome()
        [kept] = [e for e in await r.session("s").log() if isinstance(e, Result)]
    assert 0 < len(kept.content) < 30_000


# a store full of unfinished work


async def test_what_was_left_is_settled_from_its_first_entry_on_and_not_from_the_beginning() -> (
    None
):
    store = Counting()
    await with_turns(store, "s", 2000, waiting=2)
    async with runtime(answer, store=store) as r:
        assert [message.text for message in r.session("s").queue] == [
            "question 2001",
            "question 2002",
        ]
        assert store.read < 10


async def test_the_first_message_is_served_while_thousands_are_not_settled_yet() -> None:
    store = Counting()
    names = [f"s{number}" for number in range(1000)]
    for name in names:
        await with_turns(store, name, 1, waiting=1)
    store.held = set(names[100:-1])
    async with runtime(OneAtATime(answer), store=store) as r:
        assert len(store.loaded) < 100
        session = r.session(names[-1])
        ticket = await session.send("now")
        assert await ticket.outcome() == Outcome.COMPLETED
        assert ticket.run in [e.run for e in await session.log() if isinstance(e, Finished)]
        held = r.session(names[-2])
        assert not held.queue
        store.free.set()
        await held.loaded()
        assert [message.text for message in held.queue] == ["question 2"]
        await until(lambda: len(set(store.loaded)) == len(names))


def test_a_stop_before_its_turn_to_be_settled_comes_first_all_the_same(schedules: int) -> None:
    """Of one session, and of all of them; where what waited would run by itself."""

    async def story() -> None:
        store = Counting()
        names = [f"s{number}" for number in range(50)]
        for name in names:
            await with_turns(store, name, 1, waiting=1)
        store.held = set(names[1:])
        store.free.set()
        engine = OneAtATime(answer)
        async with runtime(engine, store=store, on_restart="run") as r:
            last = r.session(names[-1])
            seen = asyncio.create_task(last_word(last))
            receipts = await r.stop_all()
            await a_while()
            for name in names:
                ran = [e for e in await r.session(name).log() if isinstance(e, Began)]
                stopped = name in receipts or len(ran) > 1  # it had ended before
                assert stopped, name
            assert names[-1] in receipts or "question 2" in engine.order
            await check_log(last)
            await seen

    async def last_word(session: Any) -> None:
        await session.stop()

    explore(story, max(schedules // 25, 1))
