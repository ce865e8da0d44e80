"""What a process of a run takes hold of: not its keepers, its host, their answers, or the lease."""

import mmap
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lastword.errors import Superseded, WorkerDied
from lastword.processes import Level, Processes, Warden, command, isolated
from tests.processes import reaching, tools_to_call
from tests.processes.helping import ROOTS
from tests.processes.strict import AT_EACH

P12 = pytest.mark.scenario("P12", part="processes")
REACHING = reaching.__file__
LONG = 3600.0


async def what_is_taken(warden: Warden, *pids: int) -> list[str]:
    """By a command, of its warden and of these."""
    process = await warden.spawn(command(sys.executable, REACHING, *map(str, pids)))
    done = await process.completed(timeout=None, grace=0.0)
    assert done.code == 0, done
    return [line.partition(" ")[2] for line in done.output.splitlines()]


async def worker(processes: Processes, function: Callable[..., Any], *args: object) -> Any:
    """What came of a call in a process of its own."""
    work = await isolated.prepared(function, args, {}, "it")
    nursery = await processes.nursery(work.home, work.command.order, lambda _: lambda: None)
    warden = await processes.warden(nursery)
    try:
        return await isolated.make(warden, work)
    finally:
        await warden.stop(0)


@P12
@ROOTS
@AT_EACH
async def test_a_command_of_root_takes_hold_of_no_keeper_and_not_of_its_host(level: Level) -> None:
    async with Processes(level) as processes:
        warden = await processes.warden()
        seen = () if level == "sealed" else (os.getpid(), os.getppid())
        assert await what_is_taken(warden, *seen) == [""] * (1 + len(seen))


@P12
@AT_EACH
async def test_a_worker_cannot_be_looked_into_by_a_command(level: Level) -> None:
    async with Processes(level) as processes:
        work = await isolated.prepared(time.sleep, (LONG,), {}, "it")
        warden = await processes.warden()
        process = await warden.spawn(work.command)
        pid = 2 if level == "sealed" else process.pid  # which is the second in its namespace
        [_, taken] = await what_is_taken(warden, pid)
        assert taken == ""


@P12
async def test_what_acts_as_it_is_read_ends_no_more_than_the_call() -> None:
    async with Processes("tree") as processes:
        with pytest.raises(WorkerDied, match="left an answer that cannot be read"):
            await worker(processes, tools_to_call.leaving)


@P12
async def test_what_was_given_to_a_run_that_was_stopped_is_not_even_read(tmp_path: Path) -> None:
    trace = tmp_path / "trace"

    def refuse(what: str) -> None:
        raise Superseded("s#1", 1, 2, what)

    async with Processes("tree") as processes:
        work = await isolated.prepared(tools_to_call.acting, (str(trace),), {}, "it")
        with pytest.raises(Superseded):
            await isolated.make(await processes.warden(), work, may_act=refuse)
    assert not trace.exists()


@pytest.mark.scenario("P12", part="processes")
@AT_EACH
async def test_the_lease_cannot_be_written_by_whom_it_holds(level: Level) -> None:
    processes = Processes(level)
    page = processes.on_a_page()
    page.set(time.clock_gettime(time.CLOCK_BOOTTIME) + LONG)
    with pytest.raises(PermissionError):
        os.write(page.fd, b"x")
    with pytest.raises(PermissionError):
        mmap.mmap(page.fd, mmap.PAGESIZE)
    async with processes:
        assert set(await worker(processes, tools_to_call.reopen_the_lease)) == {"it is there"}
