"""Sessions above and below each other, when things happen at awkward moments."""

import asyncio
import threading
from contextlib import suppress

import pytest

from lastword import FeedEvent, Outcome, Receipt, Run, Runtime
from lastword.core.entries import Entry
from lastword.core.model import SessionId
from lastword.errors import RuntimeClosed, StoreError, UnknownSession
from lastword.stores.contract import StoredSession, Write
from lastword.stores.memory import MemoryStore
from lastword.testing.seeded import explore
from tests.promise.stories import Latch, a_while, mark_of, runtime, talk


class Slow(MemoryStore):
    """A store whose every answer takes a while."""

    async def load(self, session: SessionId) -> StoredSession | None:
        found = await super().load(session)
        await asyncio.sleep(0.1)
        return found

    async def commit(self, write: Write) -> None:
        await asyncio.sleep(0.1)
        await super().commit(write)

    async def entries(self, session: SessionId, after: int = 0) -> tuple[Entry, ...]:
        found = await super().entries(session, after)
        await asyncio.sleep(0.1)
        return found


def test_a_stopped_child_stays_stopped_whoever_speaks_to_its_session(schedules: int) -> None:
    async def story() -> None:
        up, seen = asyncio.Event(), list[bool]()

        async def deaf(run: Run) -> None:
            if run.message.text != "help":
                return
            while len(seen) < 100:
                seen.append(run.current)
                up.set()
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.01)

        async def engine(run: Run) -> None:
            await (await run.child("help", engine=deaf)).outcome()

        async with runtime(engine, store=Slow(), deadline=5) as r:
            await r.session("s").send("go")
            await up.wait()
            child = r.session("s#1/1")
            speaking = asyncio.create_task(child.send("and you?", id="k"))
            await asyncio.sleep(0.05)  # the store may be being read
            child.stop()
            stopped, at_fence = len(seen), child.generation
            await speaking
            await a_while()

            assert len(seen) == 100
            assert not any(seen[stopped:])
            assert child.generation >= at_fence

    explore(story, schedules)


async def test_an_ended_childs_session_can_be_read_and_is_never_used_again() -> None:
    async def work(run: Run) -> None:
        await run.emit("helped")

    async def engine(run: Run) -> None:
        await (await run.child("help", engine=work)).outcome()

    async with Runtime(engine) as r:
        await (await r.session("s").send("go")).outcome()
        child = r.session("s#1/1")
        while child.busy:
            await asyncio.sleep(0)
        child = r.session("s#1/1")

        assert [item.text for item in await child.history()] == ["help", "helped"]
        with pytest.raises(UnknownSession, match="it was a child run's"):
            await child.send("again")
        with pytest.raises(UnknownSession, match="delete the one above it"):
            await r.delete("s#1/1")
        await r.delete("s")
        with pytest.raises(UnknownSession):
            await child.send("again")
        assert await r.sessions() == ()
        anew = await r.session("s#1/1").send("its name is a name like any other now")
        assert await anew.outcome() == Outcome.COMPLETED


def test_a_kept_childs_result_does_not_bring_a_deleted_session_back(schedules: int) -> None:
    class Gated(MemoryStore):
        gate: Latch | None = None

        async def entries(self, session: SessionId, after: int = 0) -> tuple[Entry, ...]:
            if self.gate and session == "s#1/1":
                await self.gate.wait()
            return await super().entries(session, after)

    async def story() -> None:
        finish, store = Latch(), Gated()

        async def work(run: Run) -> None:
            await finish.wait()
            await run.emit("the secret of a deleted session")

        async def engine(run: Run) -> None:
            if run.message.text == "go":
                await run.child("look", engine=work, keep=True)

        async with runtime(engine, store=store) as r:
            await (await r.session("s").send("go")).outcome()
            await finish.came.wait()
            store.gate = Latch()
            finish.open.set()
            await store.gate.came.wait()  # its words are being read, to be brought home
            await r.delete("s")
            store.gate.open.set()
            await a_while()

            assert await r.sessions() == ()
            assert not r.session("s").busy

    explore(story, schedules)


async def test_a_stop_during_a_stall_names_the_thread_of_a_run_that_has_unwound() -> None:
    entered, release = threading.Event(), threading.Event()
    stalled, answered = threading.Event(), threading.Event()
    receipts: list[Receipt] = []

    def tool() -> None:
        entered.set()
        release.wait(60)

    async def engine(run: Run) -> None:
        await run.call(tool)

    async with Runtime(engine, deadline=0.3) as r:
        session = r.session("s")
        await session.send("go")
        await asyncio.to_thread(entered.wait, 60)
        first = await session.stop()

        def bystander() -> None:
            stalled.wait(60)
            receipts.append(session.stop_soon().result(60))
            answered.set()

        thread = threading.Thread(target=bystander)
        thread.start()
        stalled.set()
        answered.wait(60)  # on the loop: it is the watchdog that answers
        release.set()
        await asyncio.to_thread(thread.join)

    assert [str(one) for one in first.unconfirmed] == ["tool tool"]
    assert [str(one) for one in receipts[0].unconfirmed] == ["tool tool"]
    assert not receipts[0].quiet


async def test_whoever_waits_for_a_store_that_hangs_is_told_when_the_runtime_closes() -> None:
    class Hanging(MemoryStore):
        def __init__(self) -> None:
            super().__init__()
            self.hung = False
            self.deleting = Latch()

        async def commit(self, write: Write) -> None:
            if self.hung:
                await asyncio.Event().wait()
            await super().commit(write)

        async def delete(self, session: SessionId) -> None:
            await self.deleting.wait()

    store = Hanging()
    async with Runtime(talk, store=store, deadline=0.2) as r:
        await r.session("s").send("go")
        deleting = asyncio.create_task(r.delete("s"))
        await store.deleting.came.wait()
        store.hung = True
        session = r.session("other")
        sending = asyncio.create_task(session.send("go"))
        while not session.busy:
            await asyncio.sleep(0)
        reading = asyncio.create_task(session.log())
        await asyncio.sleep(0)

    told = await asyncio.gather(deleting, sending, reading, return_exceptions=True)
    assert [type(one) for one in told] == [RuntimeClosed, StoreError, StoreError]
    assert "before it was known that m1 is stored" in str(told[1])


def test_the_old_runs_mark_is_not_taken_down_under_the_new_run(schedules: int) -> None:
    async def story() -> None:
        marks: list[tuple[str | None, object]] = []

        async def slow(event: FeedEvent) -> None:
            await asyncio.sleep(0.2 if event.run == "s#1" else 0)
            marks.append((event.run, mark_of(event)))

        async def engine(run: Run) -> None:
            async with run.typing():
                await asyncio.sleep(1000 if run.message.text == "old" else 3)

        async with runtime(engine, sink=slow) as r:
            session = r.session("s")
            await (await session.send("old")).started()
            await asyncio.sleep(0.1)  # its mark is on the way
            new = await session.send("new")
            assert await new.outcome() == Outcome.COMPLETED
            await a_while()

            assert marks[-1] == ("s#2", False)
            assert ("s#1", False) not in marks

    explore(story, schedules)
