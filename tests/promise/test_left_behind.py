"""D. What a process leaves behind, the next one finds as it was, and so does the one after that."""

import asyncio
import logging
from typing import Any

import pytest

from lastword import Outcome, Refused, Run, Session
from lastword.core.entries import Called, Entry, Finished, Result, Said
from lastword.core.model import SessionId, Status
from lastword.errors import OwnedElsewhere, StoreError, Undurable
from lastword.stores.contract import StoredSession, Write
from tests.promise.disk import Disk, left_waiting
from tests.promise.stories import Latch, OneAtATime, answer, check_log, runtime
from tests.promise.workshop import until

S = SessionId("s")
FULL = StoreError("the disk is full")


class Faulty(Disk):
    """A disk that can be full, slow, unreadable, or somebody else's."""

    def __init__(self, found: Disk | None = None) -> None:
        super().__init__()
        self.trouble: StoreError | None = None
        self.unreadable: StoreError | None = None
        self.writing: Latch | None = None
        self.asked = self.refused = 0
        if found:
            self._rows, self._below = found._rows, found._below

    async def unfinished(self) -> tuple[SessionId, ...]:
        return () if self.unreadable else await super().unfinished()

    async def load(self, session: SessionId) -> StoredSession | None:
        if self.unreadable:
            raise self.unreadable
        return await super().load(session)

    async def commit(self, write: Write) -> None:
        self.asked += 1
        if self.writing:
            await self.writing.wait()
        if self.trouble:
            self.refused += 1
            raise self.trouble
        await super().commit(write)

    async def fail_once(self) -> None:
        """The commit that is held up fails, and the next goes through."""
        self.trouble, refused = FULL, self.refused
        if self.writing:
            self.writing.open.set()
        await until(lambda: self.refused > refused)
        self.trouble = None


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be done is tried again in a moment."""
    monkeypatch.setattr("lastword.runtime.journal.AGAIN", 0.01)
    monkeypatch.setattr("lastword.runtime.ticket.AGAIN", 0.01)


def texts(session: Session) -> list[str]:
    return [message.text for message in session.queue]


async def engine_that_waits(run: Run) -> None:
    await asyncio.Event().wait()


def ends(log: tuple[Entry, ...]) -> list[Finished]:
    return [entry for entry in log if isinstance(entry, Finished)]


# a hush, a pause, an order


async def test_what_a_timer_asked_for_after_a_stop_waits_in_the_next_process_too() -> None:
    disk, work = Disk(), OneAtATime(answer)
    async with runtime(engine_that_waits, store=disk) as r:
        session = r.session("s")
        await session.send("going")
        await session.stop()
        await session.send("tick", origin="timer")
        found = disk.found()
    async with runtime(work, store=found, on_restart="run") as r:
        session = r.session("s")
        tock = await session.send("tock", origin="timer")
        assert tock.placed == "queued"
        assert texts(session) == ["tick", "tock"]
        assert not session.busy
    assert not work.order


async def test_a_pause_of_ones_own_outlives_the_process_though_nobody_was_hushed() -> None:
    disk, work = Disk(), OneAtATime(answer)
    settings: dict[str, Any] = {"queue_on_stop": "keep", "stoppers": ["boss"]}
    async with runtime(engine_that_waits, store=disk, on_message="queue", **settings) as r:
        session = r.session("s")
        for text, by in (("going", "amy"), ("hers", "amy"), ("his", "bob")):
            await session.send(text, by=by)
        receipt = await session.stop(by="bob")
        assert [(m.message.text, m.fate) for m in receipt.messages] == [("his", "paused")]
        assert receipt.durable
        found = disk.found()
    async with runtime(work, store=found, on_restart="run", **settings) as r:
        session = r.session("s")
        await until(lambda: work.order == ["hers"] and not session.busy)
        assert texts(session) == ["his"]
        await session.resume()
        await until(lambda: work.order == ["hers", "his"])


async def test_how_the_queue_stood_outlives_a_process_that_did_nothing_but_find_it() -> None:
    disk, work = Disk(), OneAtATime(answer)
    async with runtime(engine_that_waits, store=disk, on_message="queue") as r:
        session = r.session("s")
        for text in ("going", "a", "b", "c"):
            await session.send(text, id=text)
        await session.move("c", 0)
        found = disk.found()
    async with runtime(engine_that_waits, store=found) as r:
        assert texts(r.session("s")) == ["c", "a", "b"]
        found = found.found()
    async with runtime(work, store=found, on_restart="run"):
        await until(lambda: work.order == ["c", "a", "b"])


async def test_a_lost_run_after_which_nothing_waits_hushes_nobody() -> None:
    disk = Disk()
    async with runtime(engine_that_waits, store=disk) as r:
        await (await r.session("s").send("going")).started()
        found = disk.found()
    async with runtime(answer, store=found, on_restart="wait") as r:
        session = r.session("s")
        tick = await session.send("tick", origin="timer")
        assert tick.placed == "starting"
        assert await tick.outcome() == Outcome.COMPLETED
        await check_log(session)


async def test_who_resumes_is_believed_by_the_process_after_the_next() -> None:
    disk = Disk()
    async with runtime(engine_that_waits, store=disk) as r:
        await r.session("s").send("going")
        await r.session("s").stop()
        found = disk.found()
    async with runtime(answer, store=found) as r:
        await r.session("s").resume()
        found = found.found()
    async with runtime(answer, store=found) as r:
        tick = await r.session("s").send("tick", origin="timer")
        assert tick.placed == "starting"
        assert await tick.outcome() == Outcome.COMPLETED


async def test_whoever_finds_what_was_left_is_of_a_later_generation() -> None:
    found = await left_waiting("s")
    before = await found.load(S)
    async with runtime(answer, store=found) as r:
        after = await found.load(S)  # as the next process, or a slow one before, would see it
        assert before
        assert after
        assert after.generation == before.generation + 1 == r.session("s").generation


async def test_a_stop_that_was_answered_with_an_error_is_not_made_later() -> None:
    disk, work = Faulty(await left_waiting("s")), OneAtATime(answer)
    disk.unreadable = StoreError("it cannot be read")
    async with runtime(work, store=disk, on_restart="run") as r:
        session = r.session("s")
        receipt = await session.stop()
        assert "it cannot be read" in str(receipt)
        assert not receipt.quiet
        disk.unreadable = None
        again = await session.send("waiting", id="waiting")
        assert await again.outcome() == Outcome.COMPLETED
    assert work.order == ["waiting"]


async def test_a_child_that_had_not_begun_is_lost_and_nothing_waits_for_it() -> None:
    async def engine(run: Run) -> None:
        if "/" not in run.session:
            await run.child("below")
        await asyncio.Event().wait()

    disk, work = Disk(), OneAtATime(answer)
    async with runtime(engine, store=disk) as r:
        await r.session("s").send("go")
        await until(lambda: "s#1/1" in disk.names)
        found = next(moment for moment, _ in disk.moments if "s#1/1" in moment.names)
    async with runtime(work, store=found, on_restart="run") as r:
        said, end = await r.session("s#1/1").log()
        assert isinstance(said, Said)
        assert isinstance(end, Finished)
        assert (end.outcome, end.messages) == (Outcome.LOST, (said.message.id,))
        assert await found.unfinished() == ()
    assert not work.order


# what could not be stored


async def test_what_could_not_be_stored_stays_before_what_came_after_it() -> None:
    disk, writing, called = Faulty(), Latch(), list[str]()

    async def pay() -> None:
        called.append("pay")

    async def engine(run: Run) -> None:
        disk.writing = writing
        await run.gate(pay)()

    async with runtime(engine, store=disk) as r:
        session = r.session("s")
        await session.send("go")
        await writing.came.wait()  # with the intent
        stopping = session.stop()  # which says that it never began
        await disk.fail_once()
        await stopping
        log = [entry for entry in await session.log() if isinstance(entry, Called | Result)]
        assert [type(entry) for entry in log] == [Called, Result]
        await check_log(session)
    assert not called


async def test_a_turn_that_ended_is_told_less_the_message_that_was_never_accepted() -> None:
    disk = Faulty()
    async with runtime(engine_that_waits, store=disk, on_message="collect") as r:
        session = r.session("s")
        going, kept = await session.send("going"), await session.send("kept")
        disk.writing = Latch()
        sending = asyncio.create_task(session.send("refused"))
        await disk.writing.came.wait()
        stopping = session.stop()
        await disk.fail_once()
        with pytest.raises(Undurable):
            await sending
        await stopping
        assert await kept.outcome() == Outcome.STOPPED
        told = [end.messages for end in ends(await session.log())]
        assert told == [(going.message.id,), (kept.message.id,)]
        await check_log(session)


async def test_of_a_turn_that_was_never_accepted_the_log_tells_nothing() -> None:
    disk = Faulty()
    async with runtime(engine_that_waits, store=disk, on_message="queue") as r:
        session = r.session("s")
        going = await session.send("going")
        disk.writing = Latch()
        sending = asyncio.create_task(session.send("refused"))
        await disk.writing.came.wait()
        stopping = session.stop()
        await disk.fail_once()
        with pytest.raises(Undurable):
            await sending
        await stopping
        log = await session.log()
        assert [end.messages for end in ends(log)] == [(going.message.id,)]
        assert [e.message.text for e in log if isinstance(e, Said)] == ["going"]


async def test_an_outcome_is_stored_at_last_however_often_that_fails() -> None:
    disk, latch = Faulty(), Latch()

    async def engine(run: Run) -> None:
        await latch.wait()

    async with runtime(engine, store=disk) as r:
        ticket = await r.session("s").send("go")
        await latch.came.wait()
        disk.trouble = FULL
        latch.open.set()
        await until(lambda: disk.refused > 5)
        assert not ticket.done
        disk.trouble = None
        assert await ticket.outcome() == Outcome.COMPLETED


async def test_nothing_more_is_asked_of_the_store_of_a_session_that_was_taken() -> None:
    disk = Faulty()
    settings: dict[str, Any] = {"on_message": "queue", "queue_on_stop": "keep"}
    async with runtime(engine_that_waits, store=disk, **settings) as r:
        session = r.session("s")
        going = await session.send("going")
        await session.send("queued")
        await going.started()
        disk.trouble = OwnedElsewhere(S, "process 7 on mars")
        with pytest.raises(Refused):
            await session.send("who has it?")
        receipt = await session.stop()
        assert not receipt.durable
        await until(lambda: not session.busy)
    assert disk.refused == 1


async def test_no_log_line_quotes_what_a_store_says(caplog: pytest.LogCaptureFixture) -> None:
    disk, latch = Faulty(await left_waiting("t")), Latch()

    async def pay() -> None:
        raise AssertionError

    async def engine(run: Run) -> None:
        await latch.wait()
        await run.gate(pay)()

    caplog.set_level(logging.INFO, "lastword")
    disk.trouble = StoreError("INSERT INTO entries VALUES ('a secret')")
    async with runtime(engine, store=disk, deadline=0.1) as r:
        disk.trouble, trouble = None, disk.trouble
        session = r.session("s")
        await session.send("going", on_message="queue")
        await latch.came.wait()
        disk.trouble = trouble
        with pytest.raises(Undurable, match="a secret"):
            await session.send("refused", on_message="queue")
        latch.open.set()
        await until(lambda: not session.busy)
        await until(lambda: disk.refused > 5)
    assert "not recovered session=t error=StoreError" in caplog.text
    assert "not durable session=s error=StoreError" in caplog.text
    assert "a secret" not in caplog.text


# a call


async def test_calls_of_which_only_the_beginning_is_kept_never_share_a_key() -> None:
    keys: list[str] = []

    async def post(text: str, idempotency_key: str = "") -> None:
        keys.append(idempotency_key)
        raise ConnectionError("no answer")

    async def engine(run: Run) -> None:
        for end in "xy":
            with pytest.raises(ConnectionError):
                await run.gate(post, nature="idempotent")("-" * 20_000 + end)

    async with runtime(engine) as r:
        assert await (await r.session("s").send("post")).outcome() == Outcome.COMPLETED
    assert all(keys)
    assert len(set(keys)) == 2


async def test_a_caller_who_has_a_key_keeps_it() -> None:
    keys: list[str] = []

    async def pay(amount: int, idempotency_key: str = "") -> None:
        keys.append(idempotency_key)

    async def engine(run: Run) -> None:
        await run.gate(pay, nature="idempotent")(5, idempotency_key="mine")

    async with runtime(engine) as r:
        assert await (await r.session("s").send("pay")).outcome() == Outcome.COMPLETED
    assert keys == ["mine"]


async def test_a_tool_is_not_called_unless_that_it_may_be_is_stored() -> None:
    disk, called = Faulty(), list[int]()

    async def pay(amount: int) -> None:
        called.append(amount)

    async def engine(run: Run) -> None:
        disk.trouble = FULL
        try:
            await run.gate(pay)(5)
        finally:
            disk.trouble = None

    async with runtime(engine, store=disk) as r:
        session = r.session("s")
        assert await (await session.send("pay")).outcome() == Outcome.FAILED
        [result] = [entry for entry in await session.log() if isinstance(entry, Result)]
        assert (result.status, result.error) == (Status.NOT_STARTED, True)
        await check_log(session)
    assert not called
