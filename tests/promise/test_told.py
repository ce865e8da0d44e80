"""D. Nothing is told, and nothing acted on, that the next process would not know."""

import asyncio
from collections.abc import Awaitable, Callable

from lastword import Message, Outcome, Run
from lastword.core.entries import Began
from lastword.core.model import SessionId
from lastword.errors import StoreError
from lastword.stores.contract import Write
from tests.promise.disk import Disk
from tests.promise.stories import Latch, answer, check_log, runtime
from tests.promise.workshop import until


class Choosy(Disk):
    """A disk that takes nothing while it is full."""

    full = False

    async def commit(self, write: Write) -> None:
        if self.full:
            raise StoreError("the disk is full")
        await super().commit(write)


async def test_an_outcome_is_not_told_before_the_next_process_would_tell_the_same() -> None:
    disk = Choosy()
    latch = Latch()

    async def engine(run: Run) -> None:
        await latch.wait()

    async with runtime(engine, store=disk) as r:
        session = r.session("s")
        ticket = await session.send("go", id="go")
        await latch.came.wait()
        disk.full = True
        latch.open.set()
        await until(lambda: not session.busy)
        assert not ticket.done
        disk.full = False
        assert await ticket.outcome() == Outcome.COMPLETED  # it is tried again by itself
        found = disk.found()
    async with runtime(answer, store=found) as r:
        again = await r.session("s").send("go", id="go")
        assert await again.outcome() == Outcome.COMPLETED


async def test_an_outcome_that_never_became_durable_is_told_as_the_next_process_will() -> None:
    disk = Choosy()
    latch = Latch()

    async def engine(run: Run) -> None:
        await latch.wait()

    async with runtime(engine, store=disk, deadline=0.1) as r:
        session = r.session("s")
        ticket = await session.send("go", id="go")
        await latch.came.wait()
        disk.full = True
        latch.open.set()
        await until(lambda: not session.busy)
    assert await ticket.outcome() == Outcome.LOST
    assert "completed could not be stored" in ticket.error
    async with runtime(answer, store=disk.found()) as r:
        again = await r.session("s").send("go", id="go")
        assert await again.outcome() == Outcome.LOST


async def test_what_steers_a_run_is_not_acted_on_before_that_is_durable() -> None:
    disk = Choosy()
    latch = Latch()
    taken: list[tuple[str, bool]] = []

    async def engine(run: Run) -> None:
        await latch.wait()
        for message in await run.steering():
            log = await disk.entries(SessionId("s"))
            begun = [id_ for e in log if isinstance(e, Began) for id_ in e.messages]
            taken.append((message.text, message.id in begun))

    async with runtime(engine, store=disk) as r:
        session = r.session("s")
        ticket = await session.send("go")
        await latch.came.wait()
        await session.send("left a bit", on_message="steer")
        latch.open.set()
        assert await ticket.outcome() == Outcome.COMPLETED
    assert taken == [("left a bit", True)]


async def test_a_run_is_not_steered_by_what_could_not_be_written_down() -> None:
    disk = Choosy()
    latch = Latch()
    taken: list[Message] = []

    async def engine(run: Run) -> None:
        await latch.wait()
        disk.full = True
        try:
            taken.extend(await run.steering())
        finally:
            disk.full = False

    async with runtime(engine, store=disk) as r:
        session = r.session("s")
        ticket = await session.send("go")
        await latch.came.wait()
        await session.send("left a bit", on_message="steer")
        latch.open.set()
        assert await ticket.outcome() == Outcome.FAILED
        assert not taken
        await check_log(session)


# a call that is made again


def payments() -> tuple[list[str], Callable[..., Awaitable[str]]]:
    keys: list[str] = []

    async def pay(amount: int, idempotency_key: str = "") -> str:
        keys.append(idempotency_key)
        if len(keys) in {1, 2}:
            await asyncio.Event().wait()  # nobody knows whether it went through
        return "paid"

    return keys, pay


async def test_who_repeats_an_idempotent_call_that_is_in_doubt_has_its_key() -> None:
    keys, pay = payments()

    async def engine(run: Run) -> None:
        amount = 5 if run.message.text == "pay" else 6
        await run.gate(pay, nature="idempotent")(amount)

    disk = Disk()
    async with runtime(engine, store=disk) as r:
        await r.session("s").send("pay")
        await until(lambda: len(keys) == 1)
        found = disk.found()
    async with runtime(engine, store=found) as r:
        session = r.session("s")
        await session.send("pay")
        await until(lambda: len(keys) == 2)
        await session.stop()
        for text in ("pay", "pay", "more"):
            assert await (await session.send(text)).outcome() == Outcome.COMPLETED
        await check_log(session)
    assert keys[0]
    assert keys[0] == keys[1] == keys[2]  # after a death, and after a stop
    assert len(set(keys[2:])) == 3  # one that went through is over; another amount is another


async def test_a_tool_that_is_not_idempotent_is_given_no_key() -> None:
    keys, pay = payments()

    async def engine(run: Run) -> None:
        await run.gate(pay)(5)

    async with runtime(engine) as r:
        await r.session("s").send("pay")
        await until(lambda: keys == [""])
