"""L. An owner that is paused, or whose loop stands still: what it loses, and what it never does.

The rounds are in `paused`; more of them can be tried by hand.
"""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from lastword import Outcome, Run, Runtime
from lastword.core.model import SessionId
from lastword.core.story import FeedEvent
from lastword.stores.sqlite import SqliteStore
from tests.crash.owner_to_pause import ALL
from tests.crash.paused import LEASE, a_moment, deeds, idle, line, one_round, owner, pause, stopped
from tests.promise.workshop import until
from tests.stores.files import known_to, locked, opened

ROUNDS = 2


@pytest.mark.scenario("R17", part="sqlite")
@pytest.mark.scenario("D5", part="postgres")
@pytest.mark.scenario("L1", part="sqlite")
@pytest.mark.scenario("L1", part="postgres")
@pytest.mark.scenario("L2", part="sqlite")
@pytest.mark.scenario("L2", part="postgres")
@pytest.mark.scenario("L7", part="sqlite")
@pytest.mark.scenario("L7", part="postgres")
@pytest.mark.parametrize("number", range(ROUNDS))
async def test_nothing_of_a_paused_owner_leaves_after_the_receipt_of_who_took_its_session(
    address: str, tmp_path: Path, number: int
) -> None:
    done = await one_round(tmp_path, 0.3 * number, address=address)
    assert done.late == {}
    assert not done.wrote
    assert done.outcome == "over lost"
    assert done.receipt.lost == ("s#1",)
    assert "Nothing was running" not in str(done.receipt)
    assert "lost with the process that had it" in str(done.receipt)


@pytest.mark.parametrize("without", ["effects", "processes"])
async def test_without_the_lease_something_does(tmp_path: Path, without: str) -> None:
    for number in range(20):
        (tmp_path / str(number)).mkdir()
        done = await one_round(tmp_path / str(number), 0.3, without)
        if done.late:
            return
    raise AssertionError("the rounds would not find it")


@pytest.mark.scenario("L3", part="sqlite")
async def test_an_owner_that_was_paused_and_lost_nothing_goes_on(tmp_path: Path) -> None:
    file, folder = tmp_path / "it.db", tmp_path / "deeds"
    folder.mkdir()
    address = f"sqlite:{file}"
    async with owner(address, folder) as old, opened(file, lease=LEASE):
        pause(old, address)
        await until(lambda: known_to(file) == [2])  # who watches has found it dead
        held = deeds(folder)
        await a_moment()
        assert deeds(folder) == held
        os.kill(old.pid, signal.SIGCONT)
        await until(lambda: all(deeds(folder)[what] > held[what] for what in ALL))


@pytest.mark.scenario("L4", part="sqlite")
@pytest.mark.scenario("L4", part="postgres")
async def test_the_only_process_loses_nothing_by_a_pause(address: str, tmp_path: Path) -> None:
    folder = tmp_path / "deeds"
    folder.mkdir()
    async with owner(address, folder) as old:
        os.kill(old.pid, signal.SIGSTOP)
        seen = {}
        while (now := deeds(folder)) != seen:  # its processes are held when its lease has run out
            seen = now
            await a_moment()
        os.kill(old.pid, signal.SIGCONT)
        await until(lambda: all(deeds(folder)[what] > seen[what] for what in ALL))


@pytest.mark.scenario("L4", part="sqlite")
@pytest.mark.scenario("L4", part="postgres")
async def test_a_stalled_loop_loses_nothing(address: str) -> None:
    said: list[str] = []

    async def sink(event: FeedEvent) -> None:
        if event.kind == "text":
            said.append(event.text)

    async def engine(run: Run) -> None:
        process = await run.spawn("cat", stdin="pipe")
        await run.emit("before")
        time.sleep(2.5)  # noqa: ASYNC251 - the stall, of more than two leases
        await run.emit("after")
        assert process.code is None

    async with Runtime(engine, store=address, lease=1.0, sink=sink, stall_after=None) as runtime:
        ticket = await runtime.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED
    assert said == ["before", "after"]


@pytest.mark.scenario("L4", part="sqlite")
async def test_a_store_that_does_not_answer_for_longer_than_the_lease_only_delays(
    tmp_path: Path,
) -> None:
    said: list[str] = []
    go_on = asyncio.Event()
    store = SqliteStore(tmp_path / "it.db", lease=1.0)

    async def sink(event: FeedEvent) -> None:
        if event.kind == "text":
            said.append(event.text)

    async def engine(run: Run) -> None:
        await run.emit("0")
        await go_on.wait()
        for number in range(1, 10):
            await run.emit(str(number))

    async with Runtime(engine, store=store, sink=sink) as runtime:
        session = runtime.session("s")
        ticket = await session.send("go")
        await until(lambda: said == ["0"])
        await session.log()
        with locked(store.path):
            await until(lambda: not store.claim(SessionId("s")).good)
            go_on.set()
            await a_moment()
            assert said == ["0"]
        assert await ticket.outcome() == Outcome.COMPLETED
    assert said == [str(number) for number in range(10)]


@pytest.mark.scenario("L7", part="sqlite")
@pytest.mark.scenario("L7", part="postgres")
async def test_a_stop_of_what_a_killed_process_had_does_not_say_that_nothing_was_running(
    address: str,
    tmp_path: Path,
) -> None:
    folder = tmp_path / "deeds"
    folder.mkdir()
    async with owner(address, folder) as old, Runtime(idle, store=address, lease=LEASE) as heir:
        old.kill()
        receipt = await stopped(heir)
        done = deeds(folder)
        await a_moment()
        assert deeds(folder) == done  # what it had started was gone by then
        assert receipt.lost == ("s#1",)
        assert "Nothing was running" not in str(receipt)
        again = await heir.session("s").stop()
        assert "Nothing was running" not in str(again)
        assert await (await heir.session("s").send("go on")).outcome() == Outcome.COMPLETED
        assert "Nothing was running" in str(await heir.session("s").stop())
        assert await line(old) == ""
