"""P6. A process that was declared `keep` outlives its run, and is listed until it ends."""

import asyncio

import pytest

from lastword import Outcome, Run, Runtime
from tests.promise.stories import Latch
from tests.promise.workshop import STUBBORN, fates, gone, is_up, until


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
