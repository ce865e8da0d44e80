"""D. What is not said by anybody's message outlives the process too: a pause, a hush, an order.

And what comes at the worst moment of all, between two processes, is not lost between them.
"""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from lastword import Outcome, Refused, Run, Runtime, Session, StaleRun
from lastword.core.entries import Said
from lastword.core.model import SessionId
from lastword.errors import NotAllowed, OwnedElsewhere
from lastword.stores.contract import StoredSession
from lastword.stores.memory import MemoryStore
from tests.promise.disk import Disk, left_waiting
from tests.promise.stories import Latch, OneAtATime, answer, check_log, heard_by, runtime
from tests.promise.workshop import until
from tests.stores.files import Heir


def texts(session: Session) -> list[str]:
    return [message.text for message in session.queue]


async def engine_that_waits(run: Run) -> None:
    await asyncio.Event().wait()


async def said_in(disk: Disk) -> list[str]:
    log = await disk.entries(SessionId("s"))
    return [entry.message.text for entry in log if isinstance(entry, Said)]


class Slow(Disk):
    """A disk that takes its time over one session's loading."""

    def __init__(self) -> None:
        super().__init__()
        self.loading = Latch()

    @classmethod
    def like(cls, disk: Disk) -> "Slow":
        slow = cls()
        slow._rows, slow._below = disk._rows, disk._below
        return slow

    async def unfinished(self) -> tuple[SessionId, ...]:
        return ()  # as if they were another process's at the time of the opening

    async def load(self, session: SessionId) -> StoredSession | None:
        await self.loading.wait()
        return await super().load(session)


# a stop before anybody knows what there is to stop


@pytest.mark.parametrize("on_restart", ["wait", "run"])
async def test_a_stop_of_what_was_not_read_yet_stops_it(on_restart: str) -> None:
    disk = Slow.like(await left_waiting("s"))
    work = OneAtATime(answer)
    async with runtime(work, store=disk, on_restart=on_restart) as r:
        session = r.session("s")
        stopping = session.stop()
        await disk.loading.came.wait()
        disk.loading.open.set()
        receipt = await stopping
        assert [report.message.text for report in receipt.messages] == ["waiting"] or receipt.runs
        assert receipt
        assert receipt.quiet
        assert receipt.durable
        await check_log(session)
        assert await (await session.send("waiting", id="waiting")).outcome() == Outcome.STOPPED
        assert not work.order


async def test_a_stop_from_another_thread_finds_what_is_being_read() -> None:
    disk = Slow.like(await left_waiting("s"))
    work = OneAtATime(answer)
    async with runtime(work, store=disk, on_restart="run") as r:
        session = r.session("s")
        sending = asyncio.create_task(session.send("new", on_message="queue"))
        await disk.loading.came.wait()
        stopping = await asyncio.to_thread(session.stop_soon)
        disk.loading.open.set()
        assert await asyncio.wrap_future(stopping)
        await (await sending).outcome()
        assert work.order == ["new"]


async def test_what_is_queued_is_kept_by_a_stop_that_came_before_it_was_read() -> None:
    disk = Slow.like(await left_waiting("s"))
    settings: dict[str, Any] = {"queue_on_stop": "keep", "on_restart": "wait"}
    async with runtime(answer, store=disk, **settings) as r:
        stopping = r.session("s").stop()
        disk.loading.open.set()
        assert not await stopping
        assert texts(r.session("s")) == ["waiting"]


async def test_a_stop_that_may_not_be_made_says_so_when_it_is_known() -> None:
    disk = Slow.like(await left_waiting("s"))
    disk.loading.open.set()
    async with runtime(answer, store=disk, stoppers=["boss"]) as r:
        session = r.session("s")
        refused, stale = session.stop(by="bob"), session.stop(run="s#77")
        with pytest.raises(NotAllowed):
            await refused
        with pytest.raises(StaleRun):
            await stale
        assert texts(session) == ["waiting"]


async def test_a_stop_of_what_another_process_has_does_not_say_that_nothing_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def elsewhere(_: object, session: SessionId) -> StoredSession | None:
        raise OwnedElsewhere(session, "process 7 on mars")

    monkeypatch.setattr(MemoryStore, "load", elsewhere)
    async with runtime(answer) as r:
        receipt = await r.session("s").stop()
        assert not receipt.quiet
        assert not receipt.durable
        assert "s could not be stopped from here: session s belongs to process 7 on mars" in str(
            receipt
        )


async def test_a_stop_is_answered_in_time_though_the_store_is_not() -> None:
    disk = Slow.like(await left_waiting("s"))
    async with runtime(answer, store=disk, on_restart="run", deadline=0.05) as r:
        session = r.session("s")
        assert "its store has not answered" in str(await session.stop())
        disk.loading.open.set()
        assert await (await session.send("waiting", id="waiting")).outcome() == Outcome.STOPPED


async def test_a_shutdown_leaves_what_was_not_read_as_it_is() -> None:
    disk = Slow.like(await left_waiting("s"))
    r = await runtime(answer, store=disk, on_restart="run").__aenter__()
    sending = asyncio.create_task(r.session("s").send("new"))
    await disk.loading.came.wait()
    closing = asyncio.create_task(r.close())
    with pytest.raises(Refused, match="closed"):
        await sending
    disk.loading.open.set()
    await closing
    async with runtime(answer, store=disk.found()) as r:
        assert texts(r.session("s")) == ["waiting"]


# how the queue stands


@pytest.mark.parametrize("on_restart", ["wait", "run"])
async def test_a_pause_outlives_the_process(on_restart: str) -> None:
    disk = Disk()
    settings: dict[str, Any] = {"on_message": "collect", "queue_on_stop": "keep"}
    async with runtime(engine_that_waits, store=disk, **settings) as r:
        session = r.session("s")
        first = await session.send("first")
        await session.send("second")
        await session.stop(run=first.run)  # the window of the second is still open
        receipt = await session.stop()
        assert [report.fate for report in receipt.messages] == ["paused"]
        assert receipt.durable
        found = disk.found()
    work = OneAtATime(answer)
    async with runtime(work, store=found, on_restart=on_restart, **settings) as r:
        session = r.session("s")
        assert texts(session) == ["second"]
        assert not session.busy
        await session.resume()
        await until(lambda: work.order == ["second"])


async def test_what_was_let_go_on_is_not_held_again() -> None:
    disk = Disk()
    latch = Latch()

    async def engine(run: Run) -> None:
        await latch.wait()

    settings: dict[str, Any] = {"on_message": "queue", "queue_on_stop": "keep"}
    async with runtime(engine, store=disk, **settings) as r:
        session = r.session("s")
        for text in ("first", "second", "third"):
            await session.send(text)
        await session.stop()
        await session.resume()
        await until(lambda: texts(session) == ["third"])
        await session.log()
        found = disk.found()
        latch.open.set()
    work = OneAtATime(answer)
    async with runtime(work, store=found, on_restart="run", **settings) as r:
        await until(lambda: work.order == ["third"])


async def test_a_hush_outlives_the_process_though_nothing_waits() -> None:
    disk = Disk()
    async with runtime(engine_that_waits, store=disk) as r:
        session = r.session("s")
        await session.send("first")
        await session.stop()
        found = disk.found()
    work = OneAtATime(answer)
    async with runtime(work, store=found, on_restart="run") as r:
        session = r.session("s")
        timer = await session.send("tick", origin="timer")
        assert timer.placed == "queued"
        await (await session.send("I am back", on_message="queue")).outcome()
        await timer.outcome()
        assert work.order == ["I am back", "tick"]
        await check_log(session)


async def test_who_spoke_after_the_stop_is_answered_by_the_next_process() -> None:
    """The death is between the commit of the message and everything after."""
    disk = Disk()
    async with runtime(engine_that_waits, store=disk, queue_on_stop="keep") as r:
        session = r.session("s")
        await session.send("first")
        await session.stop()
        await session.send("and yet")
        found, *_ = [moment for moment, _ in disk.moments if "and yet" in await said_in(moment)]
    work = OneAtATime(answer)
    async with runtime(work, store=found, on_restart="run") as r:
        await until(lambda: work.order == ["and yet"])


async def test_the_order_that_somebody_gave_the_queue_outlives_the_process() -> None:
    disk = Disk()
    async with runtime(engine_that_waits, store=disk, on_message="queue") as r:
        session = r.session("s")
        for text in ("going", "a", "b", "c"):
            await session.send(text, id=text)
        await session.move("c", 0)
        await session.move("a", 2)
        found = disk.found()
    async with runtime(answer, store=found) as r:
        assert texts(r.session("s")) == ["c", "b", "a"]


# a session that another process took


@pytest.mark.scenario("D5", part="sqlite")
async def test_a_session_comes_back_when_the_process_that_took_it_has_ended(
    tmp_path: Path,
) -> None:
    file = tmp_path / "lastword.db"
    async with Runtime(engine_that_waits, store=f"sqlite:{file}") as r:
        mine = r.session("s")
        ticket = await mine.send("go")
        seen = heard_by(mine)
        other = Heir(file)  # to whom this process seems to have died
        await other.open()
        await other.load(SessionId("s"))
        with pytest.raises(Refused, match="belongs to"):
            await mine.send("who has it?", on_message="queue")
        assert await ticket.outcome() == Outcome.LOST
        await until(lambda: seen and seen[-1].kind == "receipt")
        with pytest.raises(Refused, match="belongs to"):
            await r.session("s").send("still?")
        await other.close()
        with pytest.raises(Refused, match="has taken it over"):
            await mine.send("by an old handle")
        session = r.session("s")
        await session.send("again")
        assert await session.stop()
        await check_log(session)
