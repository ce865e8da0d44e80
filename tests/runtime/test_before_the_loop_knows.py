"""A thread has stopped the session, and the event loop has not come to it yet: F has been."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from types import SimpleNamespace
from typing import cast

import pytest

from lastword import Receipt, Run, Runtime, Session, Status
from lastword.core.entries import Called, Result
from lastword.core.model import SessionId
from lastword.core.rights import Rights
from lastword.errors import Superseded
from lastword.processes import Processes, command
from lastword.runtime.announcer import Announcer
from lastword.runtime.jobs import Jobs
from lastword.runtime.owned import Owned, StartingRun, Wardens
from lastword.stores.contract import Write
from lastword.stores.memory import MemoryStore
from tests.runtime.test_threads_in_step import Session as Bare

Stopping = concurrent.futures.Future[Receipt]


def stopped(session: Session) -> Stopping:
    """Stopped by a thread, while the loop stands still."""
    stopping: list[Stopping] = []
    thread = threading.Thread(target=lambda: stopping.append(session.stop_soon()))
    thread.start()
    thread.join()
    return stopping[0]


async def test_a_tool_that_returns_then_may_have_executed() -> None:
    answer: asyncio.Future[Stopping] = asyncio.get_running_loop().create_future()

    async def engine(run: Run) -> None:
        async def tool() -> str:
            answer.set_result(stopped(runtime.session("s")))
            return "done"

        await run.call(tool)

    async with Runtime(engine) as runtime:
        session = runtime.session("s")
        await session.send("go")
        receipt = await asyncio.wrap_future(await answer)

        assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]
        results = [entry for entry in await session.log() if isinstance(entry, Result)]
        assert [entry.status for entry in results] == [Status.MAY_HAVE_EXECUTED]


async def test_a_call_that_is_asked_for_then_is_nowhere_written_down() -> None:
    answer: asyncio.Future[Stopping] = asyncio.get_running_loop().create_future()
    made: list[str] = []

    async def engine(run: Run) -> None:
        answer.set_result(stopped(runtime.session("s")))
        with pytest.raises(Superseded):
            await run.call(made.append, "mail")

    async with Runtime(engine) as runtime:
        session = runtime.session("s")
        await session.send("go")
        receipt = await asyncio.wrap_future(await answer)

        assert receipt.calls == ()
        assert [entry for entry in await session.log() if isinstance(entry, Called)] == []
    assert made == []


async def test_a_process_that_is_asked_for_before_and_would_start_then_does_not() -> None:
    session = Bare(threading.Lock())
    started: list[object] = []

    def clear() -> None:
        session.stop()  # the run may start one, and waits; then it may not

    def tell(_: object, told: object) -> None:
        started.append(told)

    async with Processes("tree") as processes:
        news = cast("Announcer", SimpleNamespace(process=tell))
        run = SimpleNamespace(hold=session.hold, wardens=Wardens(), by="")
        owned = Owned(processes, cast("StartingRun", run), [], Jobs(Rights(None)), clear, news)
        with pytest.raises(Superseded):
            await owned.spawn(command("sleep", "1000"), grace=0.0)

        assert started == []
        assert session.hold.dropped == 1
        owned.end()
        await owned.gone()
        assert owned.reports == ()


async def test_one_write_of_a_session_is_under_way_at_a_time() -> None:
    class Slow(MemoryStore):
        under_way = most = 0

        async def commit(self, write: Write) -> None:
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            await asyncio.sleep(0.01)
            self.under_way -= 1
            await super().commit(write)

    async def engine(run: Run) -> None:
        await run.emit(run.message.text)

    store = Slow()
    async with Runtime(engine, store=store, on_message="queue") as runtime:
        session = runtime.session("s")

        async def send(text: str) -> None:
            await (await session.send(text)).outcome()

        async def spread(text: str) -> None:
            for _ in range(int(text)):
                await asyncio.sleep(0)
            await send(text)

        await asyncio.gather(*(spread(str(number)) for number in range(8)))

    assert store.most == 1
    assert await store.entries(SessionId("s"))
