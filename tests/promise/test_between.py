"""D. Between two processes, and between a store's trouble and its end, nothing goes astray.

A store in trouble delays, and takes nothing back; a stop that comes before anybody knows what there
is to stop is kept; and what was said of a message is what the next process will say of it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lastword import Outcome, Refused, Run, Session, Ticket
from lastword.core.entries import Said
from lastword.core.model import SessionId
from lastword.errors import StoreError, Undurable
from lastword.stores.contract import StoredSession, Write
from tests.promise.disk import Disk, left_waiting
from tests.promise.stories import Latch, OneAtATime, answer, check_log, runtime
from tests.promise.workshop import until


class Troubled(Disk):
    """A disk that can be full, slow to write, or late and wrong in what it says of a session."""

    def __init__(self, found: Disk | None = None) -> None:
        super().__init__()
        self.full = False
        self.refused = 0
        self.writing: Latch | None = None
        self.loading = Latch()
        self.failing = 0  # so many loads
        if found:
            self._rows, self._below = found._rows, found._below
        else:
            self.loading.open.set()

    async def unfinished(self) -> tuple[SessionId, ...]:
        return ()  # as if they were another process's at the time of the opening

    async def load(self, session: SessionId) -> StoredSession | None:
        await self.loading.wait()
        if self.failing:
            self.failing -= 1
            raise StoreError("it cannot be read")
        return await super().load(session)

    async def commit(self, write: Write) -> None:
        if self.writing:
            await self.writing.wait()
        if self.full:
            self.refused += 1
            raise StoreError("the disk is full")
        await super().commit(write)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be done is tried again in a moment."""
    monkeypatch.setattr("lastword.runtime.journal.AGAIN", 0.01)
    monkeypatch.setattr("lastword.runtime.ticket.AGAIN", 0.01)
    monkeypatch.setattr("lastword.runtime.runtime._WATCH", 0.01)


def texts(session: Session) -> list[str]:
    return [message.text for message in session.queue]


async def engine_that_waits(run: Run) -> None:
    await asyncio.Event().wait()


def waits_at(latch: Latch, first: str = "going") -> OneAtATime:
    """An engine that answers, but the first message only when it may."""

    async def engine(run: Run) -> None:
        if run.message.text == first:
            await latch.wait()

    return OneAtATime(engine)


# a store in trouble


async def test_a_run_waits_while_its_beginning_cannot_be_stored() -> None:
    disk, latch = Troubled(), Latch()
    work = waits_at(latch)
    async with runtime(work, store=disk, on_message="queue") as r:
        session = r.session("s")
        tickets = [await session.send(text) for text in ("going", "a", "b", "c")]
        await latch.came.wait()
        disk.full = True
        latch.open.set()
        await until(lambda: disk.refused > 3)
        assert work.order == ["going"]
        disk.full = False
        assert {await ticket.outcome() for ticket in tickets} == {Outcome.COMPLETED}
        assert work.order == ["going", "a", "b", "c"]
        await check_log(session)


async def test_a_run_that_waits_for_its_store_can_be_stopped() -> None:
    disk, latch = Troubled(), Latch()
    work = waits_at(latch)
    async with runtime(work, store=disk, on_message="queue") as r:
        session = r.session("s")
        await session.send("going")
        ticket = await session.send("next")
        await latch.came.wait()
        disk.full = True
        latch.open.set()
        await until(lambda: session.active == ticket.run and disk.refused > 3)
        receipt = await session.stop()
        assert receipt.quiet
        assert not receipt.durable
        disk.full = False
        assert await ticket.outcome() == Outcome.STOPPED
        assert work.order == ["going"]
        await check_log(session)


async def test_that_a_message_was_stopped_is_told_when_it_is_durable() -> None:
    disk = Troubled()
    async with runtime(engine_that_waits, store=disk, on_message="queue") as r:
        session = r.session("s")
        await session.send("going")
        queued = await session.send("queued", id="queued")
        disk.full = True
        receipt = await session.stop()
        assert not receipt.durable
        assert not queued.done
        disk.full = False
        assert await queued.outcome() == Outcome.STOPPED
        found = disk.found()
    async with runtime(answer, store=found) as r:
        again = await r.session("s").send("queued", id="queued")
        assert await again.outcome() == Outcome.STOPPED


async def test_what_a_shutdown_could_not_store_is_left_to_the_next_process_to_say() -> None:
    disk, work = Troubled(), OneAtATime(answer)
    async with runtime(engine_that_waits, store=disk, on_message="queue", deadline=0.1) as r:
        session = r.session("s")
        going = await session.send("going")
        queued = await session.send("queued", id="queued")
        await going.started()
        disk.full = True
    assert await going.outcome() == Outcome.LOST
    with pytest.raises(StoreError, match="it still waits in session s"):
        await queued.outcome()
    async with runtime(work, store=disk.found(), on_restart="run") as r:
        again = await r.session("s").send("queued", id="queued")
        assert await again.outcome() == Outcome.COMPLETED
    assert work.order == ["queued"]


async def edit(session: Session) -> None:
    await session.edit("waiting", "anew")


async def move(session: Session) -> None:
    await session.move("waiting", 1)


async def remove(session: Session) -> None:
    await session.remove("waiting")


Change = Callable[[Session], Awaitable[None]]
changes = pytest.mark.parametrize(
    ("change", "then"),
    [(edit, ["anew", "last"]), (move, ["last", "waiting"]), (remove, ["last"])],
)


@changes
async def test_a_change_to_the_queue_that_is_not_stored_says_that_it_was_made(
    change: Change, then: list[str]
) -> None:
    disk = Troubled()
    async with runtime(engine_that_waits, store=disk, on_message="queue") as r:
        session = r.session("s")
        for text in ("going", "waiting", "last"):
            await session.send(text, id=text)
        disk.full = True
        with pytest.raises(StoreError, match="was done in session s, but is not stored yet"):
            await change(session)
        assert texts(session) == then
        stored = len(disk.moments)
        disk.full = False
        await until(lambda: len(disk.moments) > stored)  # it is tried again by itself
        found = disk.found()
    async with runtime(answer, store=found) as r:
        assert texts(r.session("s")) == then


async def test_a_message_sent_again_at_once_is_not_acknowledged_before_it_is_stored() -> None:
    class Failing(Disk):
        async def commit(self, write: Write) -> None:
            if not sent:
                sent.append(asyncio.create_task(session.send("x", id="x")))
                raise StoreError("not now")
            await writing.wait()
            raise StoreError("nor now")

    sent, writing = list[asyncio.Task[Ticket]](), Latch()
    async with runtime(answer, store=Failing()) as r:
        session = r.session("s")
        await session.resume()  # it is loaded
        with pytest.raises(Undurable):
            await session.send("x", id="x")
        await writing.came.wait()
        sent.append(asyncio.create_task(session.send("x", id="x")))
        for _ in range(50):
            await asyncio.sleep(0)
        writing.open.set()
        for again in sent:
            with pytest.raises(Undurable):
                await again


async def test_who_sends_while_the_runtime_closes_is_told_how_to_find_out() -> None:
    disk = Troubled()
    r = await runtime(answer, store=disk, deadline=0.05, grace=0.01).__aenter__()
    session = r.session("s")
    await session.resume()
    disk.writing = Latch()
    sending = asyncio.create_task(session.send("pay", id="pay"))
    await disk.writing.came.wait()
    await r.close()
    with pytest.raises(StoreError, match="send it again, with its id") as caught:
        await sending
    assert not isinstance(caught.value, Refused)  # for it may well have been accepted


# what comes first after a death


async def when_said(disk: Disk, text: str) -> Disk:
    """What is found after a death in the moment in which this was stored."""
    for moment, _ in disk.moments:
        log = await moment.entries(SessionId("s"))
        if text in [entry.message.text for entry in log if isinstance(entry, Said)]:
            return moment
    raise AssertionError(f"{text} was never stored")


async def ran_after(found: Disk, *expected: str, **settings: Any) -> None:
    work = OneAtATime(answer)
    async with runtime(work, store=found, on_restart="run", **settings) as r:
        await until(lambda: len(work.order) >= len(expected))
        await check_log(r.session("s"))
    assert work.order == list(expected)


@pytest.mark.parametrize("stopped", [False, True])
async def test_what_had_overtaken_the_queue_comes_first_after_a_death(stopped: bool) -> None:
    disk = Disk()
    async with runtime(engine_that_waits, store=disk, queue_on_stop="keep") as r:
        session = r.session("s")
        await session.send("going")
        for text in ("a", "b"):
            await session.send(text, on_message="queue")
        if stopped:
            await session.stop()
        await session.send("listen")
        found = await when_said(disk, "listen")
    await ran_after(found, "listen", "a", "b", queue_on_stop="keep")


async def test_what_was_to_steer_a_run_that_died_comes_before_what_waits() -> None:
    disk = Disk()
    async with runtime(engine_that_waits, store=disk, on_message="queue") as r:
        session = r.session("s")
        for text in ("going", "a"):
            await session.send(text)
        await session.send("left a bit", on_message="steer")
        found = disk.found()
    await ran_after(found, "left a bit", "a")


async def test_what_only_waited_for_a_person_was_not_stopped_by_one() -> None:
    disk = await left_waiting("s")
    async with runtime(answer, store=disk, on_restart="wait") as r:
        session = r.session("s")
        tick = await session.send("tick", origin="timer")
        assert tick.placed == "queued"
        assert texts(session) == ["waiting", "tick"]
        found = disk.found()
    await ran_after(found, "waiting", "tick")


async def test_what_follows_a_run_that_was_stopped_by_its_name_is_not_held() -> None:
    disk = Disk()
    async with runtime(engine_that_waits, store=disk, on_message="queue") as r:
        session = r.session("s")
        first, *_ = [await session.send(text) for text in ("a", "b", "c")]
        await session.stop(run=first.run)
        await session.log()
        found = disk.found()
    await ran_after(found, "c")  # b had begun


async def test_a_recovery_that_failed_is_tried_again() -> None:
    class Once(Troubled):
        async def commit(self, write: Write) -> None:
            self.full = not self.refused
            await super().commit(write)

        async def unfinished(self) -> tuple[SessionId, ...]:
            return (SessionId("s"),)

    disk = Once(await left_waiting("s"))
    disk.loading.open.set()
    await ran_after(disk, "waiting")
    assert disk.refused == 1


async def test_what_never_began_was_not_started_whoever_asks() -> None:
    disk = Disk()
    async with runtime(engine_that_waits, store=disk, on_message="queue") as r:
        session = r.session("s")
        going = await session.send("going", id="going")
        await session.send("queued", id="queued")
        await session.stop()
        assert await (await session.send("queued", id="queued")).started() is None
        found = disk.found()
    async with runtime(answer, store=found) as r:
        session = r.session("s")
        assert await (await session.send("queued", id="queued")).started() is None
        assert await (await session.send("going", id="going")).started() == going.run


# a stop before anybody knows what there is to stop


async def test_a_stop_that_was_promised_is_made_though_one_load_fails() -> None:
    disk, work = Troubled(await left_waiting("s")), OneAtATime(answer)
    disk.failing = 1
    async with runtime(work, store=disk, on_restart="run", deadline=0.05) as r:
        session = r.session("s")
        assert "the stop comes first" in str(await session.stop())
        disk.loading.open.set()
        await until(lambda: not disk.failing)
        tick = await session.send("tick", origin="timer")
        assert tick.placed == "queued"  # for a person's stop was the last word
        assert await (await session.send("waiting", id="waiting")).outcome() == Outcome.STOPPED
        assert not work.order


async def test_a_stop_that_keeps_the_queue_pauses_what_would_have_run() -> None:
    disk, work = Troubled(await left_waiting("s")), OneAtATime(answer)
    settings: dict[str, Any] = {"queue_on_stop": "keep", "on_restart": "run"}
    async with runtime(work, store=disk, **settings) as r:
        session = r.session("s")
        stopping = session.stop()
        disk.loading.open.set()
        receipt = await stopping
        assert [report.fate for report in receipt.messages] == ["paused"]
        assert not receipt.runs
        assert texts(session) == ["waiting"]
        found = disk.found()
    async with runtime(work, store=found, **settings) as r:
        assert texts(r.session("s")) == ["waiting"]
        assert not r.session("s").busy
    assert not work.order


# what is asked of a session that was not read yet


@changes
async def test_what_waits_can_be_changed_before_it_was_read(
    change: Change, then: list[str]
) -> None:
    disk = Disk()
    async with runtime(engine_that_waits, store=disk, on_message="queue") as r:
        for text in ("going", "waiting", "last"):
            await r.session("s").send(text, id=text)
        found = Troubled(disk.found())
    found.loading.open.set()
    async with runtime(answer, store=found) as r:
        session = r.session("s")
        await change(session)
        assert texts(session) == then


async def test_what_waits_goes_on_when_it_is_resumed_before_it_was_read() -> None:
    disk, work = Troubled(await left_waiting("s")), OneAtATime(answer)
    disk.loading.open.set()
    async with runtime(work, store=disk) as r:
        await r.session("s").resume()
        await until(lambda: work.order == ["waiting"])
