"""P. What is asked of a run about a process reaches the process, and what is said of it is so."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from lastword import Outcome, Run, Runtime, Superseded
from lastword.core.entries import Result
from lastword.errors import SpawnFailed
from lastword.processes import Completed, Process, ProcessLimits
from tests.processes.household import children, held, the_warden, zygotes
from tests.promise.workshop import (
    POLITE,
    STUBBORN,
    Workshop,
    fates,
    gone,
    is_up,
    stop_while_stalled,
    until,
    working,
)

T = TypeVar("T")
SLOWLY = "trap 'sleep 0.3; exit 0' TERM; echo up; while :; do sleep 0.05; done"


async def in_a_run(work: Callable[[Run], Awaitable[T]], **settings: Any) -> T:
    """What comes of something that a run does, and ends with."""
    given: list[T] = []

    async def engine(run: Run) -> None:
        given.append(await work(run))

    async with Runtime(engine, **settings) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    return given[0]


def wardens() -> list[int]:
    """Whoever the zygotes of this program have forked; at sealed level, those outside."""
    return [pid for zygote in zygotes(os.getpid()) for pid in children(zygote)]


async def no_wardens() -> None:
    async with asyncio.timeout(30):  # or a test that fails would never end
        await until(lambda: not wardens())


# what a process is started with


async def test_a_process_has_the_folder_the_environment_and_the_words_it_was_given(
    tmp_path: Path,
) -> None:
    async def work(run: Run) -> list[str]:
        there = await run.spawn("pwd", cwd=tmp_path)
        env = await run.spawn("/usr/bin/env", env={"ONE": "mine"})
        reads = await run.spawn("cat", stdin=b"words")
        return [(await process.communicate()).output for process in (there, env, reads)]

    assert await in_a_run(work) == [f"{tmp_path}\n", "ONE=mine\n", "words"]


async def test_a_process_with_a_pipe_reads_what_is_written_to_it() -> None:
    async def work(run: Run) -> str:
        process = await run.spawn("cat", stdin="pipe")
        assert process.stdin is not None
        await process.stdin.write(b"one ")
        return (await process.communicate(b"two")).output

    assert await in_a_run(work) == "one two"


async def test_a_process_with_a_terminal_has_one_of_the_size_it_was_given() -> None:
    async def work(run: Run) -> str:
        process = await run.spawn(shell="test -t 0 && tty && read _ && stty size", pty=True)
        assert process.stdin is not None
        process.resize(33, 44)
        await process.stdin.write(b"\n")
        return (await process.communicate()).output

    shown = await in_a_run(work)
    assert "/dev/pts/" in shown
    assert "33 44" in shown


async def test_a_process_has_the_limits_it_was_given() -> None:
    async def work(run: Run) -> str:
        process = await run.spawn(shell="ulimit -n", limits=ProcessLimits(open_files=50))
        return (await process.communicate()).output

    assert await in_a_run(work) == "50\n"


async def test_of_much_output_no_more_is_kept_than_was_asked_for() -> None:
    async def work(run: Run) -> Completed:
        process = await run.spawn(shell="head -c 100000 /dev/zero", output_limit=1000)
        return await process.communicate()

    completed = await in_a_run(work)
    assert completed.cut == 99_000
    assert len(completed.output) < 1100


@pytest.mark.parametrize(
    ("line", "default", "given", "fate"),
    [(SLOWLY, 0.05, 20.0, "ended"), (STUBBORN, 20.0, 0.05, "killed")],
)
async def test_a_process_has_the_grace_it_was_given_and_not_the_runtimes(
    line: str, default: float, given: float, fate: str
) -> None:
    up = asyncio.Event()

    async def engine(run: Run) -> None:
        await is_up(await run.spawn(shell=line, grace=given))
        up.set()
        await asyncio.sleep(3600)

    async with Runtime(engine, grace=default, deadline=40) as r:
        session = r.session("s")
        await session.send("go")
        await up.wait()
        receipt = await session.stop()

    assert receipt.quiet
    assert fates(receipt)[line] == fate
    assert receipt.took < 15


async def test_a_command_line_has_all_that_it_was_given(tmp_path: Path) -> None:
    async def work(run: Run) -> Completed:
        return await run.shell(
            "pwd; echo $ONE; ulimit -n; cat; echo oh >&2; exit 3",
            cwd=tmp_path,
            env={"ONE": "mine", "PATH": os.defpath},
            stdin=b"words\n",
            limits=ProcessLimits(open_files=50),
            timeout=100,
        )

    completed = await in_a_run(work)
    assert completed.output == f"{tmp_path}\nmine\n50\nwords\noh\n"
    assert (completed.code, completed.timed_out) == (3, False)


async def test_a_command_line_that_takes_too_long_ends_with_all_that_it_started() -> None:
    async def work(run: Run) -> tuple[Completed, bool]:
        completed = await run.shell("sleep 310 & echo $!; wait", timeout=1.0)
        pid = int(completed.output)
        await until(lambda: gone(pid))
        return completed, run.current

    completed, still_running = await in_a_run(work, level="tree")
    assert completed.timed_out
    assert still_running


# one run after another


async def test_the_first_process_of_a_new_run_waits_for_those_of_the_old() -> None:
    workshop = Workshop(STUBBORN)
    found: list[bool] = []

    async def engine(run: Run) -> None:
        if run.message.text == "old":
            await workshop(run)
        old = workshop.processes[0].pid
        found.append(gone(old))
        await run.spawn("true")
        found.append(gone(old))

    async with Runtime(engine, grace=0.3) as r:
        session = r.session("s")
        await session.send("old")
        await workshop.up.wait()
        assert await (await session.send("new")).outcome() == Outcome.COMPLETED

    assert found == [False, True]


async def test_a_new_run_waits_for_old_processes_no_longer_than_their_stop_may_take() -> None:
    workshop = Workshop(POLITE)
    found: list[bool] = []

    def look() -> None:
        found.append(gone(workshop.processes[0].pid))

    async def engine(run: Run) -> None:
        if run.message.text == "old":
            await workshop(run)
        await run.call(look)

    async with Runtime(engine, grace=0.1, deadline=0.2, level="tree") as r:
        session = r.session("s")
        await session.send("old")
        await workshop.up.wait()
        (zygote,) = zygotes(os.getpid())
        with held(the_warden(os.getpid(), "tree")), held(zygote):
            sent = asyncio.get_running_loop().time()
            assert await (await session.send("new")).outcome() == Outcome.COMPLETED
            took = asyncio.get_running_loop().time() - sent

    assert found == [False]  # it was still there, and nobody could end it
    assert took >= 0.2


# nobody is left who watches over nothing


async def test_what_could_not_be_started_and_kept_leaves_no_warden() -> None:
    async def work(run: Run) -> list[str]:
        said: list[str] = []
        for _ in range(3):
            try:
                await run.spawn("no-such-command", on_stop="keep")
            except SpawnFailed as error:
                said.append(str(error))
        await no_wardens()  # while the run goes on
        return said

    said = await in_a_run(work)
    assert len(said) == 3
    assert all("command not found: 'no-such-command'" in one for one in said)


async def test_a_warden_that_arrives_after_the_stop_is_ended() -> None:
    spawns: list[asyncio.Task[Process]] = []
    warm = asyncio.Event()

    async def engine(run: Run) -> None:
        if run.message.text == "warm":
            await run.shell("true")
            warm.set()
        else:
            spawns.append(asyncio.ensure_future(run.spawn("sleep", "311")))  # nobody's but its own
        await asyncio.sleep(3600)

    async with Runtime(engine) as r:
        first = r.session("first")
        await first.send("warm")
        await warm.wait()
        await first.stop()
        for turn in range(20):
            session = r.session(f"s{turn}")
            await session.send("go")
            for _ in range(turn):
                await asyncio.sleep(0)
            assert (await session.stop()).quiet
        over = await asyncio.gather(*spawns, return_exceptions=True)
        await no_wardens()

    refused = [one for one in over if isinstance(one, BaseException)]
    assert refused
    assert all(isinstance(one, Superseded | SpawnFailed) for one in refused)


# what a receipt says


async def test_a_process_whose_zygote_and_warden_were_killed_is_named_as_not_confirmed() -> None:
    workshop = Workshop(POLITE)
    async with working(workshop, level="tree") as session:
        [process] = workshop.processes
        survivor = os.pidfd_open(process.pid)
        for pid in (*zygotes(os.getpid()), the_warden(os.getpid(), "tree")):
            os.kill(pid, signal.SIGKILL)
        receipt = await session.stop()

        alive = not gone(process.pid)
        signal.pidfd_send_signal(survivor, signal.SIGKILL)
        os.close(survivor)
        assert alive
        assert not receipt.quiet
        assert any(f"{process.pid} {POLITE}" in one.name for one in receipt.unconfirmed)
        assert fates(receipt) == {POLITE: "unconfirmed"}


async def test_stop_soon_ends_the_processes_of_children_on_a_stalled_loop_too() -> None:
    pids: list[int] = []
    up, stalled, woken = asyncio.Event(), threading.Event(), threading.Event()

    async def engine(run: Run) -> None:
        if "#" in run.session:
            process = await run.spawn(shell=POLITE)
            await is_up(process)
            pids.append(process.pid)
            up.set()
            await process.wait()
        else:
            await run.child("work")
            await up.wait()
            stalled.set()
            woken.wait(30)  # nothing else turns in this loop

    async with Runtime(engine, stall_after=None) as r:
        session = r.session("s")
        await session.send("go")
        dead, receipt = await asyncio.to_thread(stop_while_stalled, session, stalled, pids, woken)

    assert dead
    assert receipt.quiet
    assert fates(receipt) == {POLITE: "ended"}


async def test_an_isolated_call_that_cannot_be_handed_over_was_not_started() -> None:
    refused: list[str] = []
    tried = asyncio.Event()

    async def engine(run: Run) -> None:
        try:
            await run.gate(len, name="count", isolated=True)(lambda: None)  # pyright: ignore[reportArgumentType] - the mistake
        except TypeError as error:
            refused.append(str(error))
        tried.set()
        await asyncio.sleep(3600)

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await tried.wait()
        receipt = await session.stop()
        results = [entry for entry in await session.log() if isinstance(entry, Result)]

    assert "cannot be handed to another process" in refused[0]
    assert [(call.name, call.status) for call in receipt.calls] == [("count", "not started")]
    assert [result.status for result in results] == ["not started"]
    assert not receipt.level  # not even a zygote


async def test_what_may_leave_by_itself_is_asked_only_when_it_does_not() -> None:
    told: list[str] = []

    async def engine(run: Run) -> None:
        reader = "trap 'echo asked' TERM; echo up; cat; echo left"
        leaving = await run.spawn(shell=reader, stdin="pipe", on_stop="leave")
        staying = await run.spawn(shell=f"trap '' TERM; {STUBBORN}", on_stop="leave", grace=0.2)
        await is_up(leaving)
        await is_up(staying)
        told.append("up")
        try:
            await asyncio.sleep(3600)
        finally:
            assert leaving.stdin
            leaving.stdin.end()
            await leaving.wait()
            told.append(leaving.stdout.for_the_owner())

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await until(lambda: told)
        receipt = await session.stop()

    assert receipt.quiet
    assert "killed" in fates(receipt).values()
    assert told == ["up", "up\nleft\n"]


@pytest.mark.scenario("L4", part="sqlite")
async def test_what_this_process_was_paused_for_does_not_count_against_a_command(
    tmp_path: Path,
) -> None:
    told: list[Completed] = []

    async def engine(run: Run) -> None:
        asyncio.get_running_loop().call_later(0.1, time.sleep, 2)  # as a pause, or a closed lid
        told.append(await run.shell("sleep 0.5; echo done", timeout=1.5))

    store = f"sqlite:{tmp_path / 'it.db'}"
    async with Runtime(engine, store=store, stall_after=None) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert [(one.output, one.timed_out) for one in told] == [("done\n", False)]
