"""L8. The lease has run out, because the store does not answer, and a run acts meanwhile."""

import asyncio
import threading

import pytest

from lastword import Outcome, Run, Runtime, Superseded
from lastword.core.model import SessionId
from lastword.errors import StoreError
from lastword.stores.contract import StoredSession
from lastword.stores.lease import Claim, Tenure, boottime
from lastword.stores.memory import MemoryStore
from tests.promise.stories import Latch


class Lapsing(Tenure):
    """A lease that runs out when it is told to."""

    away = False

    @property
    def good(self) -> bool:
        return not self.away

    def renewed(self) -> None:
        self.away = False
        self.answered(boottime())


class Leased(MemoryStore):
    """A store whose claims are good as long as its lease is."""

    def __init__(self) -> None:
        super().__init__()
        self.lease = Lapsing()

    def claim(self, session: SessionId) -> Claim:
        return self._claims.setdefault(session, Claim(self.lease))

    async def load(self, session: SessionId) -> StoredSession | None:
        found = await super().load(session)
        self._claims[session] = Claim(self.lease)
        return found


@pytest.mark.scenario("L8")
async def test_a_run_that_acts_while_the_store_is_away_keeps_no_stop_of_another_out() -> None:
    store, asks = Leased(), Latch()
    waits, reached = asyncio.Event(), asyncio.Event()
    store.lease.nudge = waits.set

    async def engine(run: Run) -> None:
        if run.session == "asks":
            await asks.wait()
            await runtime.session("other").send("for you")
        elif run.session == "other":
            reached.set()
        await asyncio.Event().wait()

    async with Runtime(engine, store=store) as runtime:
        stopped = runtime.session("stopped")
        for session in (runtime.session("asks"), stopped):
            assert await (await session.send("go")).started()
        store.lease.away = True
        asks.open.set()
        await waits.wait()

        assert (await stopped.stop()).runs
        assert not reached.is_set()

        store.lease.renewed()
        await reached.wait()


@pytest.mark.scenario("L8")
async def test_what_cannot_wait_for_the_store_on_the_event_loop_says_so() -> None:
    store = Leased()

    async def engine(run: Run) -> None:
        store.lease.away = True
        with (
            pytest.raises(StoreError, match="page did not begin: the store does not answer"),
            run.acting("page", "write"),
        ):
            pass
        store.lease.renewed()
        with run.acting("page", "write"):
            await run.emit("written")

    async with Runtime(engine, store=store) as runtime:
        ticket = await runtime.session("s").send("go")

        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error


@pytest.mark.scenario("L8")
@pytest.mark.parametrize("stopped", ["acts", "lends", ""])
async def test_who_waits_for_the_lease_through_anothers_run_is_asked_again_when_it_is_there(
    stopped: str,
) -> None:
    store, lent, waits = Leased(), list[Run](), threading.Event()
    done, came_of = list[str](), list[str]()
    ended = asyncio.Event()

    async def engine(run: Run) -> None:
        if run.session == "lends":
            lent.append(run)
            await asyncio.Event().wait()
        loop = asyncio.get_running_loop()

        def work() -> None:
            store.lease.away = True
            waits.set()
            try:
                with lent[0].acting("page", "write"):
                    done.append("written")
            except Superseded:
                came_of.append("refused")
            loop.call_soon_threadsafe(ended.set)

        await run.call(work)

    async with Runtime(engine, store=store) as runtime:
        assert await (await runtime.session("lends").send("go")).started()
        ticket = await runtime.session("acts").send("go")
        await asyncio.to_thread(waits.wait)
        if stopped:
            await runtime.session(stopped).stop()
        store.lease.renewed()
        await ended.wait()
        if stopped != "acts":
            assert await ticket.outcome() == Outcome.COMPLETED

    assert (done, came_of) == (([], ["refused"]) if stopped else (["written"], []))
