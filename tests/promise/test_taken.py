"""D5. A session that another process took: nothing acts in it here, and nothing is said of it.

Whoever seems dead loses its sessions to whoever loads them next, also if it was only slow. It finds
out by itself, ends what it has going, and says of the rest only that it is not its own to tell.
"""

import asyncio
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lastword import Outcome, Receipt, Refused, Run, Runtime, Session, StaleRun
from lastword.core.model import SessionId
from lastword.errors import OwnedElsewhere, StoreError
from lastword.stores.contract import StoredSession
from lastword.stores.memory import MemoryStore
from lastword.stores.sqlite import SqliteStore
from tests.promise.disk import Disk, left_waiting
from tests.promise.stories import Latch, OneAtATime, answer, heard_by, runtime
from tests.promise.workshop import gone, until
from tests.stores.files import Heir


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "lastword.db"


@pytest.fixture
def watchful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lastword.runtime.runtime._WATCH", 0.01)


@pytest.fixture
def unwatchful(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a loss is found out by a write, or not at all."""
    monkeypatch.setattr("lastword.runtime.runtime._WATCH", 3600.0)


@asynccontextmanager
async def taken_by_another(file: Path, *names: str) -> AsyncGenerator[SqliteStore]:
    """The sessions are a store's to which whoever had them seems to have died."""
    other = Heir(file)
    await other.open()
    for name in names:
        await other.load(SessionId(name))
    yield other
    await other.close()


class Late(Disk):
    """What is found of a process that still lived at the opening; each load can be held up."""

    def __init__(self, left: Disk) -> None:
        super().__init__()
        self._rows, self._below = left._rows, left._below
        self.loading = Latch()
        self.unreadable = ""

    async def unfinished(self) -> tuple[SessionId, ...]:
        return ()

    async def load(self, session: SessionId) -> StoredSession | None:
        await self.loading.wait()
        if session == self.unreadable:
            raise StoreError("it cannot be read")
        return await super().load(session)


async def engine_that_waits(run: Run) -> None:
    await asyncio.Event().wait()


def beyond(receipt: Receipt) -> bool:
    """Whether it says that there is a session it knows nothing of, and promises nothing."""
    kinds = [one.kind for one in receipt.unconfirmed]
    return "session" in kinds and not receipt.quiet and not receipt.durable


# it is found out


@pytest.mark.usefixtures("watchful")
async def test_a_run_that_writes_nothing_ends_when_its_session_was_taken(file: Path) -> None:
    async with runtime(engine_that_waits, store=f"sqlite:{file}") as r:
        session = r.session("s")
        seen = heard_by(session)
        ticket = await session.send("go")
        assert await ticket.started()
        async with taken_by_another(file, "s"):
            assert await ticket.outcome() == Outcome.LOST
            assert not session.busy
            await until(lambda: seen and seen[-1].kind == "receipt")
            receipt = seen[-1].fact
            assert isinstance(receipt, Receipt)
            assert beyond(receipt)
            with pytest.raises(Refused, match="taken it over"):
                await session.send("still there?")


class Watched(SqliteStore):
    """A store that counts how often it was asked what it has lost."""

    looks = 0

    async def lost(self, among: Collection[SessionId]) -> tuple[SessionId, ...]:
        self.looks += 1
        return await super().lost(among)


@pytest.mark.usefixtures("watchful")
async def test_a_run_whose_session_nobody_took_goes_on(file: Path) -> None:
    latch, store = Latch(), Watched(file)

    async def engine(run: Run) -> None:
        await latch.wait()

    async with runtime(engine, store=store) as r:
        ticket = await r.session("s").send("go")
        await r.session("t").send("go")
        async with taken_by_another(file, "t"):
            await until(lambda: store.looks > 3)
            latch.open.set()
            assert await ticket.outcome() == Outcome.COMPLETED


@pytest.mark.usefixtures("watchful")
async def test_the_children_of_a_run_end_when_its_session_was_taken(file: Path) -> None:
    children: list[Run] = []

    async def child(run: Run) -> None:
        children.append(run)
        await asyncio.Event().wait()

    async def engine(run: Run) -> None:
        await (await run.child("work", engine=child)).outcome()

    async with runtime(engine, store=f"sqlite:{file}") as r:
        ticket = await r.session("s").send("go")
        await until(lambda: children)
        async with taken_by_another(file, "s"):
            assert await ticket.outcome() == Outcome.LOST
            assert not children[0].current


@pytest.mark.usefixtures("watchful")
async def test_a_kept_child_ends_when_the_session_above_it_was_taken(file: Path) -> None:
    children: list[Run] = []

    async def child(run: Run) -> None:
        children.append(run)
        await asyncio.Event().wait()

    async def engine(run: Run) -> None:
        await run.child("work", engine=child, keep=True)

    async with runtime(engine, store=f"sqlite:{file}") as r:
        await (await r.session("s").send("go")).outcome()
        await until(lambda: children)
        async with taken_by_another(file, "s"):
            await until(lambda: not children[0].current)


@pytest.mark.usefixtures("watchful")
async def test_a_process_that_was_kept_ends_when_the_session_was_taken(file: Path) -> None:
    async def engine(run: Run) -> None:
        await run.spawn("sleep", "300", on_stop="keep")
        await asyncio.Event().wait()

    async with runtime(engine, store=f"sqlite:{file}") as r:
        session = r.session("s")
        await session.send("go")
        await until(lambda: session.processes)
        pid = session.processes[0].pid
        async with taken_by_another(file, "s"):
            await until(lambda: gone(pid))


# what waited


async def test_what_waited_in_a_session_that_was_taken_is_not_said_to_be_lost(file: Path) -> None:
    work = OneAtATime(answer)
    async with runtime(engine_that_waits, store=f"sqlite:{file}", on_message="queue") as r:
        mine = r.session("s")
        going = await mine.send("going", id="going")
        queued = await mine.send("queued", id="queued")
        other = Heir(file)
        async with runtime(work, store=other, on_restart="run") as theirs:
            with pytest.raises(Refused, match="belongs to"):
                await mine.send("who has it?")
            assert await going.outcome() == Outcome.LOST
            with pytest.raises(StoreError, match="it still waits in session s"):
                await queued.outcome()
            with pytest.raises(StoreError, match="it still waits in session s"):
                await queued.started()
            again = await theirs.session("s").send("queued", id="queued")
            assert await again.outcome() == Outcome.COMPLETED
    assert work.order == ["queued"]


# a stop of what somebody else has


@pytest.mark.usefixtures("unwatchful")
async def test_a_stop_of_a_session_that_was_taken_promises_nothing(file: Path) -> None:
    async with runtime(engine_that_waits, store=f"sqlite:{file}", on_message="queue") as r:
        session = r.session("s")
        await session.send("going")
        queued = await session.send("queued")
        async with taken_by_another(file, "s"):
            receipt = await session.stop()  # which is how it finds out
            assert len(receipt.runs) == 1
            assert not receipt.messages  # they are not this one's to drop
            assert beyond(receipt)
            assert beyond(await receipt.settled())
            with pytest.raises(StoreError, match="it still waits in session s"):
                await queued.outcome()


async def lost_session(mine: Session) -> None:
    with pytest.raises(Refused, match="belongs to"):
        await mine.send("who has it?", on_message="queue")
    await until(lambda: not mine.busy)


async def test_a_later_stop_of_a_session_that_was_taken_promises_nothing(file: Path) -> None:
    async with runtime(engine_that_waits, store=f"sqlite:{file}") as r:
        mine = r.session("s")
        await mine.send("going")
        async with taken_by_another(file, "s"):
            await lost_session(mine)
            by_the_old, by_a_new = await mine.stop(), await r.session("s").stop()
            for receipt in (by_the_old, by_a_new):
                assert not receipt
                assert "could not be stopped from here" in str(receipt)
                assert beyond(receipt)
                assert beyond(await receipt.settled())


async def test_a_stop_of_everything_names_what_was_taken(file: Path) -> None:
    async with runtime(engine_that_waits, store=f"sqlite:{file}") as r:
        mine = r.session("s")
        for name in ("s", "t"):
            await r.session(name).send("going")
        async with taken_by_another(file, "s"):
            await lost_session(mine)
            receipts = await r.stop_all()
            assert beyond(receipts["s"])
            assert receipts["t"].quiet


async def test_what_could_not_be_stopped_is_not_quiet_later_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def elsewhere(_: object, session: SessionId) -> StoredSession | None:
        raise OwnedElsewhere(session, "process 7 on mars")

    monkeypatch.setattr(MemoryStore, "load", elsewhere)
    async with runtime(answer) as r:
        receipt = await r.session("s").stop()
        assert beyond(receipt)
        assert beyond(await receipt.settled())
        assert beyond((await r.stop_all())["s"])


async def test_a_stop_of_everything_names_what_cannot_be_read_and_stops_the_rest() -> None:
    disk = Late(await left_waiting("s", "t"))
    disk.loading.open.set()
    disk.unreadable = "s"
    async with runtime(answer, store=disk) as r:
        _held = [r.session(name) for name in ("s", "t")]
        receipts = await r.stop_all()
    assert beyond(receipts["s"])
    assert [report.fate for report in receipts["t"].messages] == ["dropped"]


async def test_a_stop_from_another_thread_that_cannot_be_made_says_so_when_it_is_known() -> None:
    disk = Late(await left_waiting("s"))
    async with Runtime(answer, store=disk) as r:
        stopping = await asyncio.to_thread(r.session("s").stop_soon, run="s#77")
        disk.loading.open.set()
        with pytest.raises(StaleRun):
            await asyncio.wrap_future(stopping)


async def test_a_stop_of_what_was_not_read_says_so_though_the_loop_is_stalled() -> None:
    disk = Late(await left_waiting("s"))
    async with Runtime(answer, store=disk, deadline=0.1, grace=0.05) as r:
        stopping = await asyncio.to_thread(r.session("s").stop_soon)
        receipt = stopping.result(20)  # which is the stall
        assert "it was not read from its store yet" in str(receipt)
        assert [one.kind for one in receipt.unconfirmed] == ["session"]
        assert not receipt.durable
        disk.loading.open.set()


# what was deleted by whoever has it


@pytest.mark.usefixtures("unwatchful")
async def test_what_was_deleted_is_not_written_again_by_who_lost_it(file: Path) -> None:
    latch, over = Latch(), asyncio.Event()

    async def write(text: str) -> str:
        return text

    async def child(run: Run) -> None:
        await latch.wait()
        try:
            await run.gate(write)("a secret")
        finally:
            over.set()

    async def engine(run: Run) -> None:
        await run.child("work", engine=child, keep=True)

    async with runtime(engine, store=f"sqlite:{file}") as r:
        await (await r.session("s").send("go")).outcome()
        await latch.came.wait()
        async with taken_by_another(file, "s") as other:
            await other.delete(SessionId("s"))
            assert await other.sessions() == ()
            latch.open.set()
            await over.wait()
            assert await other.sessions() == ()
            assert await other.entries(SessionId("s#1/1")) == ()


async def test_a_stop_of_a_childs_session_that_has_ended_starts_nothing() -> None:
    async def engine(run: Run) -> None:
        await run.child("do it", engine=engine_that_waits)
        await asyncio.Event().wait()

    disk, work = Disk(), OneAtATime(answer)
    async with runtime(engine, store=disk) as r:
        await r.session("s").send("go")
        await until(lambda: "s#1/1" in disk.names)
        late = Late(next(moment for moment, _ in disk.moments if "s#1/1" in moment.names))
    late.loading.open.set()  # whose it is, only the store knows
    async with runtime(work, store=late, on_restart="run") as r:
        child = r.session("s#1/1")
        with pytest.raises(StaleRun):
            await child.stop(run="s#1/1#9")
        assert not await child.stop()
        stopping = await asyncio.to_thread(child.stop_soon)
        assert not await asyncio.wrap_future(stopping)
        assert not child.queue
        assert await r.stop_all() == {}
    assert not work.order
