"""D. A call that may have been made is made again under its key, and only that one.

The other side does once what it is asked twice under one key. So whoever repeats a call that did
not complete cleanly is given its key; and two calls that were meant to be two never share one.
"""

import asyncio
from typing import Any, cast

import pytest

from lastword import Message, Outcome, Run
from lastword.core.entries import Entry, Native
from lastword.core.model import SessionId
from lastword.errors import StoreError
from lastword.runtime.call import Call
from lastword.stores.contract import Write
from tests.promise.disk import Disk
from tests.promise.stories import Latch, check_log, runtime
from tests.promise.workshop import until


class Bank:
    """What is on the other side, and knows each payment by its key. `slow` ones never answer."""

    def __init__(self, *, slow: int = 0, failing: int = 0) -> None:
        self.keys: list[str] = []
        self._slow, self._failing = slow, failing

    async def pay(self, amount: int, idempotency_key: str = "") -> str:
        self.keys.append(idempotency_key)
        if len(self.keys) <= self._slow:
            await asyncio.Event().wait()
        if len(self.keys) <= self._slow + self._failing:
            raise ConnectionError("no answer")
        return f"paid {amount}"

    async def __call__(self, run: Run) -> None:
        """An engine that pays once."""
        await run.gate(self.pay, nature="idempotent")(5)


async def died_paying(bank: Bank, *, payments: int = 1) -> Disk:
    """What a process leaves that dies while it pays."""

    async def engine(run: Run) -> None:
        await asyncio.gather(*(bank(run) for _ in range(payments)))

    disk = Disk()
    async with runtime(engine, store=disk) as r:
        await r.session("s").send("pay")
        await until(lambda: len(bank.keys) == payments)
        return disk.found()


async def test_a_repeat_that_never_began_leaves_the_key_to_the_next() -> None:
    bank, asked = Bank(slow=1), Latch()
    found = await died_paying(bank)

    async def approve(call: Call[object]) -> None:
        if call.id == "s#2.1":
            await asked.wait()  # and nobody answers

    async with runtime(bank, store=found, before_tool=approve) as r:
        session = r.session("s")
        await session.send("pay again")
        await asked.came.wait()
        receipt = await session.stop()
        assert [call.status for call in receipt.calls] == ["not started"]
        assert await (await session.send("once more")).outcome() == Outcome.COMPLETED
        await check_log(session)

    assert len(bank.keys) == 2
    assert len(set(bank.keys)) == 1


async def test_a_repeat_that_was_not_allowed_leaves_the_key_to_the_next() -> None:
    bank = Bank(slow=1)
    found = await died_paying(bank)

    def forbid(call: Call[object]) -> None:
        if call.id == "s#2.1":
            raise PermissionError("not now")

    async with runtime(bank, store=found, before_tool=forbid) as r:
        session = r.session("s")
        assert await (await session.send("pay again")).outcome() == Outcome.FAILED
        found = found.found()  # and this process dies, too
    async with runtime(bank, store=found) as r:
        assert await (await r.session("s").send("once more")).outcome() == Outcome.COMPLETED

    assert len(bank.keys) == 2
    assert len(set(bank.keys)) == 1


async def test_a_call_that_raised_is_repeated_under_its_key() -> None:
    bank = Bank(failing=2)

    async def engine(run: Run) -> None:
        for _ in range(4):
            try:
                await bank(run)
            except ConnectionError:
                continue

    async with runtime(engine) as r:
        assert await (await r.session("s").send("pay")).outcome() == Outcome.COMPLETED

    first, second, third, fourth = bank.keys
    assert first == second == third
    assert fourth != third  # that one went through; this is another


async def test_two_equal_calls_in_doubt_keep_two_keys() -> None:
    bank = Bank(slow=2)
    found = await died_paying(bank, payments=2)

    async def engine(run: Run) -> None:
        await asyncio.gather(bank(run), bank(run), bank(run))

    async with runtime(engine, store=found) as r:
        assert await (await r.session("s").send("again")).outcome() == Outcome.COMPLETED

    assert len(set(bank.keys[:2])) == 2
    assert bank.keys[2:4] == bank.keys[:2]
    assert bank.keys[4] not in bank.keys[:4]


async def test_two_repeats_that_are_in_doubt_again_still_have_two_keys() -> None:
    bank = Bank(slow=4)
    found = await died_paying(bank, payments=2)

    async def engine(run: Run) -> None:
        await asyncio.gather(bank(run), bank(run))

    async with runtime(engine, store=found) as r:
        session = r.session("s")
        await session.send("again")
        await until(lambda: len(bank.keys) == 4)
        await session.stop()
        assert await (await session.send("once more")).outcome() == Outcome.COMPLETED

    assert len(set(bank.keys)) == 2
    assert set(bank.keys[4:]) == set(bank.keys[:2])


class Read(Disk):
    """A disk from which somebody reads, and is held up before they have it."""

    def __init__(self) -> None:
        super().__init__()
        self.reading: Latch | None = None

    async def entries(self, session: SessionId, after: int = 0) -> tuple[Entry, ...]:
        got = await super().entries(session, after)
        if self.reading:
            await self.reading.wait()
        return got


async def test_who_reads_the_history_during_a_run_puts_nothing_in_doubt_again() -> None:
    disk, bank = Read(), Bank(failing=1)

    async def engine(run: Run) -> None:
        with pytest.raises(ConnectionError):
            await bank(run)
        disk.reading = reading = Latch()
        looking = asyncio.create_task(session.history())
        await reading.came.wait()
        await bank(run)  # goes through; the reader is told of the first only
        reading.open.set()
        await looking
        await bank(run)

    async with runtime(engine, store=disk) as r:
        session = r.session("s")
        ticket = await session.send("pay")
        assert await ticket.outcome() == Outcome.COMPLETED

    first, second, third = bank.keys
    assert first == second
    assert third != second


async def test_the_newest_thousand_doubts_are_remembered() -> None:
    keys: dict[int, list[str]] = {}

    async def post(number: int, idempotency_key: str = "") -> None:
        keys.setdefault(number, []).append(idempotency_key)
        raise ConnectionError("no answer")

    async def engine(run: Run) -> None:
        for number in (*range(1001), 1, 0):
            with pytest.raises(ConnectionError):
                await run.gate(post, nature="idempotent")(number)

    async with runtime(engine) as r:
        assert await (await r.session("s").send("post")).outcome() == Outcome.COMPLETED

    assert len(set(keys[1])) == 1
    assert len(set(keys[0])) == 2  # it was the oldest of one too many


class Forgetful(Disk):
    """A disk that fails so many readings."""

    failing = 0

    async def entries(self, session: SessionId, after: int = 0) -> tuple[Entry, ...]:
        if self.failing:
            self.failing -= 1
            raise StoreError("the log could not be read")
        return await super().entries(session, after)


@pytest.mark.scenario("R6")
@pytest.mark.parametrize("failing", [1, 2])
async def test_a_log_that_could_not_be_read_at_first_still_teaches_the_key(failing: int) -> None:
    bank, disk = Bank(slow=1), Forgetful()
    (await died_paying(bank)).found(disk)

    async with runtime(bank, store=disk) as r:
        session = r.session("s")
        await session.loaded()
        disk.failing = failing
        for _ in range(failing):
            assert await (await session.send("pay again")).outcome() == Outcome.FAILED
        assert await (await session.send("once more")).outcome() == Outcome.COMPLETED

    assert len(bank.keys) == 2
    assert len(set(bank.keys)) == 1


# what a run is given, and what it gives


class Troubled(Disk):
    """A disk that can be full, or slow."""

    full = False
    writing: Latch | None = None

    async def commit(self, write: Write) -> None:
        if self.writing:
            await self.writing.wait()
        if self.full:
            raise StoreError("the disk is full")
        await super().commit(write)


async def test_what_steers_a_run_is_given_to_it_when_the_store_has_recovered() -> None:
    disk, latch, given = Troubled(), Latch(), list[Message]()

    async def engine(run: Run) -> None:
        await latch.wait()
        disk.full = True
        with pytest.raises(StoreError):
            await run.steering()
        disk.full = False
        disk.writing = writing = Latch()
        asking = asyncio.create_task(run.steering())
        await writing.came.wait()
        asking.cancel()  # it has no more patience than that
        writing.open.set()
        for _ in range(2):
            given.extend(await run.steering())

    async with runtime(engine, store=disk) as r:
        session = r.session("s")
        ticket = await session.send("go")
        await latch.came.wait()
        steering = await session.send("left a bit", on_message="steer")
        latch.open.set()
        assert await ticket.outcome() == await steering.outcome() == Outcome.COMPLETED
    assert [message.text for message in given] == ["left a bit"]


@pytest.mark.parametrize(
    ("native", "why"),
    [("signature", "must be a Native"), (Native("x", cast("Any", b"signature")), "must be a str")],
)
async def test_what_cannot_be_kept_is_refused_where_it_is_said(native: object, why: str) -> None:
    async def engine(run: Run) -> None:
        if run.message.text == "think":
            await run.think("hm", native=cast("Any", native))

    async with runtime(engine) as r:
        session = r.session("s")
        ticket = await session.send("think")
        assert await ticket.outcome() == Outcome.FAILED
        assert "TypeError" in ticket.error
        assert why in ticket.error
        assert await (await session.send("go on")).outcome() == Outcome.COMPLETED
        await check_log(session)


async def test_a_thought_that_is_no_text_is_refused_where_it_is_thought() -> None:
    async def engine(run: Run) -> None:
        await run.think(cast("Any", 5))

    async with runtime(engine) as r:
        ticket = await r.session("s").send("think")
        assert await ticket.outcome() == Outcome.FAILED
        assert "what a run thinks must be" in ticket.error
