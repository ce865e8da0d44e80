"""P6. A process that was declared `keep` outlives its run, and is listed until it ends."""

import asyncio
import os
import signal
from collections.abc import Awaitable
from contextvars import Context
from pathlib import Path

import pytest

from lastword import Outcome, Receipt, Run, Runtime, Superseded
from lastword.errors import SpawnFailed
from lastword.processes import Process
from tests.processes.household import children, name_of, the_warden, zygotes
from tests.promise.stories import Latch
from tests.promise.workshop import POLITE, STUBBORN, fates, gone, is_up, until


@pytest.mark.scenario("P6", part="processes")
async def test_a_kept_process_outlives_the_stop_and_is_listed() -> None:
    seen: list[str] = []

    async def engine(run: Run) -> None:
        if run.message.text == "serve":
            server = await run.spawn(
                shell="echo up; while :; do sleep 0.01; echo noise; done", on_stop="keep"
            )
            await is_up(server)
            await asyncio.sleep(3600)
        seen.extend(shown.text for shown in run.history)
        await run.emit("done")

    async with Runtime(engine) as r:
        session = r.session("s")
        ticket = await session.send("serve")
        await until(lambda: session.processes)
        [kept] = session.processes
        await until(lambda: kept.output)
        receipt = await session.stop()

        assert receipt.quiet
        assert fates(receipt)[kept.command] == "kept"
        assert kept.run == ticket.run
        assert kept.alive
        assert not gone(kept.pid)
        assert kept.output.startswith("up\n")

        second = await session.send("and now?")
        assert await second.outcome() == Outcome.COMPLETED
        assert not any("noise" in text for text in seen)  # in no later turn

        before = session.generation
        await kept.end()
        assert gone(kept.pid)
        assert session.processes == ()
        assert session.generation == before  # its end starts none
        assert not session.busy


@pytest.mark.scenario("P6", part="processes")
async def test_a_kept_process_that_ends_by_itself_is_no_longer_listed() -> None:
    async def engine(run: Run) -> None:
        process = await run.spawn("cat", stdin="pipe", on_stop="keep")
        assert process.stdin is not None
        await listed.wait()
        process.stdin.close()
        await process.wait()

    listed = Latch()
    async with Runtime(engine) as r:
        session = r.session("s")
        ticket = await session.send("go")
        await listed.came.wait()
        assert [kept.command for kept in session.processes] == ["cat"]
        listed.open.set()
        await ticket.outcome()
        await until(lambda: not session.processes)


async def test_kept_processes_end_with_the_runtime_and_with_their_session() -> None:
    async def engine(run: Run) -> None:
        await run.spawn(shell=STUBBORN, on_stop="keep", grace=0.05)

    async with Runtime(engine, grace=0.05) as r:
        pids: list[int] = []
        for name in ("deleted", "closed"):
            session = r.session(name)
            await (await session.send("go")).outcome()
            pids += [kept.pid for kept in session.processes]
        assert not any(map(gone, pids))
        await r.delete("deleted")
        assert [gone(pid) for pid in pids] == [True, False]
    assert all(map(gone, pids))


async def test_a_kept_process_is_out_of_reach_for_a_run_that_was_stopped() -> None:
    old: list[Process] = []

    async def engine(run: Run) -> None:
        process = await run.spawn(shell="echo up; cat", stdin="pipe", on_stop="keep")
        await is_up(process)
        old.append(process)
        await asyncio.sleep(3600)

    async def read(process: Process) -> None:
        async for _ in process.stdout:
            pass

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await until(lambda: old)
        await session.stop()
        [process], [kept] = old, session.processes
        stdin = process.stdin
        assert stdin is not None

        for act in (
            lambda: read(process),
            lambda: stdin.write(b"words"),
            lambda: process.communicate(b"words"),
            process.end,
        ):
            with pytest.raises(Superseded):
                await act()
        for act in (
            lambda: process.stdout.text,
            lambda: process.stdout.head,
            lambda: process.stdout.tail,
            lambda: stdin.feed(b"words"),
            stdin.finish,
            stdin.close,
            lambda: process.send_signal(signal.SIGKILL),
            lambda: process.resize(1, 1),
        ):
            with pytest.raises(Superseded):
                act()
        assert kept.alive
        assert kept.output == "up\n"


async def test_the_end_of_a_kept_process_in_an_idle_session_starts_nothing(tmp_path: Path) -> None:
    marker, runs = tmp_path / "marker", list[str]()

    async def engine(run: Run) -> None:
        runs.append(run.id)
        await run.spawn(shell=f"until [ -e {marker} ]; do sleep 0.01; done", on_stop="keep")

    async with Runtime(engine) as r:
        session = r.session("s")
        await (await session.send("go")).outcome()
        before = session.generation, await session.log()
        [kept] = session.processes
        marker.touch()
        await until(lambda: not session.processes)

        assert kept.code == 0
        assert (session.generation, await session.log()) == before
        assert not session.busy
        assert len(runs) == 1


async def test_a_kept_process_that_ends_at_once_is_not_listed_and_leaves_no_warden() -> None:
    async def engine(run: Run) -> None:
        for _ in range(20):
            await run.spawn("true", on_stop="keep")

    async with Runtime(engine) as r:
        session = r.session("s")
        assert await (await session.send("go")).outcome() == Outcome.COMPLETED
        await until(lambda: not session.processes)
        await no_wardens()


async def test_a_process_to_be_kept_that_a_stop_finds_half_started_is_listed_or_dead() -> None:
    spawns: list[asyncio.Task[Process]] = []

    async def engine(run: Run) -> None:
        if run.message.text == "warm":
            await run.shell("true")
        else:
            spawns.append(asyncio.ensure_future(run.spawn("sleep", "320", on_stop="keep")))
            await asyncio.sleep(3600)

    in_time = 0
    async with Runtime(engine, grace=0.3) as r:
        await (await r.session("first").send("warm")).outcome()
        for turn in range(40):
            session = r.session(f"s{turn}")
            await session.send("go")
            if turn % 8:
                await asyncio.sleep(turn / 2500)  # any moment will do
            else:
                await until(lambda: session.processes)  # noqa: B023 - not beyond this turn
            receipt = await session.stop()
            alive, listed = sleepers(), {kept.pid for kept in session.processes}

            assert receipt.quiet
            assert alive <= listed
            assert listed == {p.pid for p in receipt.processes if p.fate == "kept"}
            assert not any(map(gone, listed))
            await asyncio.gather(*spawns, return_exceptions=True)
            assert sleepers() <= listed
            assert listed == {kept.pid for kept in session.processes}
            in_time += len(listed)
            for kept in session.processes:
                await kept.end(0)
            await no_wardens()
        refused = [spawn.exception() for spawn in spawns if spawn.exception()]
    assert in_time >= 5
    assert all(isinstance(error, Superseded | SpawnFailed) for error in refused)


async def test_a_process_to_be_kept_whose_run_is_stopped_as_it_starts_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spawns: list[asyncio.Task[Process]] = []
    stops: list[Awaitable[Receipt]] = []
    has_started = Process.has_started

    async def engine(run: Run) -> None:
        spawns.append(asyncio.ensure_future(run.spawn("sleep", "322", on_stop="keep")))
        await asyncio.sleep(3600)

    def stopped_there(process: Process, pid: int) -> None:
        has_started(process, pid)
        stops.append(Context().run(session.stop))  # not the run's own

    monkeypatch.setattr(Process, "has_started", stopped_there)
    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await until(lambda: stops)
        receipt = await stops[0]

        assert receipt.quiet
        assert sleepers() == set()
        assert fates(receipt).get("sleep 322") != "kept"
        assert session.processes == ()
        with pytest.raises(Superseded):
            await spawns[0]


async def test_a_deleted_session_keeps_nothing_and_does_not_say_so() -> None:
    async def engine(run: Run) -> None:
        await run.spawn("sleep", "321", on_stop="keep")
        await asyncio.sleep(3600)

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await until(lambda: session.processes)
        [kept] = session.processes
        receipt = await r.delete("s")

        assert gone(kept.pid)
        assert fates(receipt) == {"sleep 321": "ended"}


async def no_wardens() -> None:
    async with asyncio.timeout(30):  # or a test that fails would never end
        await until(lambda: not any(map(children, zygotes(os.getpid()))))


def sleepers() -> set[int]:
    """All that are called `sleep` below this program, and live."""
    below = generation = zygotes(os.getpid())
    while generation:
        generation = [child for pid in generation for child in children(pid)]
        below = below + generation
    return {pid for pid in below if name_of(pid) == "sleep" and not gone(pid)}


async def test_a_kept_process_that_nobody_can_end_any_more_is_not_forgotten() -> None:
    async def engine(run: Run) -> None:
        await is_up(await run.spawn(shell=POLITE, on_stop="keep"))

    async with Runtime(engine, grace=0.1, deadline=0.3, level="tree") as r:
        session = r.session("s")
        await (await session.send("go")).outcome()
        [kept] = session.processes
        pidfd = os.pidfd_open(kept.pid)
        for pid in (*zygotes(os.getpid()), the_warden(os.getpid(), "tree")):
            os.kill(pid, signal.SIGKILL)
        await until(lambda: not kept.alive)
        assert session.processes == (kept,)
        receipt = await r.delete("s")

        assert not receipt.quiet
        assert [(p.pid, p.fate) for p in receipt.processes] == [(kept.pid, "unconfirmed")]
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        os.close(pidfd)
