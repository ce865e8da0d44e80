"""What is started is held still while its host may not act, and goes on as if nothing had been."""

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncGenerator, Container, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lastword.errors import WorkerDied
from lastword.processes import Level, Processes, Warden, command, isolated
from lastword.processes.inside.family import Procfs, Relative
from lastword.processes.inside.stillness import Stillness
from lastword.processes.page import PageWriter
from tests.meter import open_files
from tests.processes.helping import ROOTS, our_children, state_of
from tests.processes.tools_to_call import stay
from tests.promise.workshop import gone, is_up, until

levels = pytest.mark.parametrize("level", [pytest.param("sealed", marks=ROOTS), "tree", "group"])
FAMILY = "trap '' TERM; echo up; sleep 300 & exec 3>&1; while :; do echo more; sleep 0.01; done"
SOON, LONG = 3.0, 3600.0


def now() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@asynccontextmanager
async def held_to_a_page(level: Level) -> AsyncGenerator[tuple[PageWriter, Warden]]:
    files, children = open_files(), our_children()
    processes = Processes(level)
    page = processes.on_a_page()
    page.set(now() + SOON)  # by when all of it has been started
    async with processes:
        yield page, await processes.warden()
    del page
    left = open_files().items() - files.items()  # others' may have gone meanwhile
    assert not left, left
    assert our_children() == children


async def lapse(page: PageWriter) -> None:
    """The time has come."""
    await until(lambda: not page.good)


def are_held(warden: Warden) -> bool:
    """All are stopped, or wait in the kernel for a child that is, as after `vfork`."""
    states = {kin.state for kin in warden.living()}
    return "T" in states and states <= {"T", "D"}


@levels
async def test_who_is_held_goes_on_where_it_was(level: Level) -> None:
    async with held_to_a_page(level) as (page, warden):
        process = await warden.spawn(command(shell=FAMILY))
        await is_up(process)
        await lapse(page)
        await until(lambda: are_held(warden))
        page.set(now() + LONG)
        await until(lambda: "T" not in {kin.state for kin in warden.living()})
        async for text in process.stdout:
            if b"more" in text:
                break
        assert process.code is None


@levels
async def test_who_is_held_is_killed_where_it_stands(level: Level) -> None:
    async with held_to_a_page(level) as (page, warden):
        process = await warden.spawn(command(shell=FAMILY))
        await is_up(process)
        await lapse(page)
        await until(lambda: are_held(warden))
        pids = [kin.pid for kin in warden.living()]
        ending = await warden.stop(LONG)  # a grace that nobody is given
        assert all(map(gone, pids))
        assert {report.fate for report in ending.processes} == {"killed"}


@levels
async def test_what_is_told_before_it_may_go_on_is_heard_first(level: Level) -> None:
    async with held_to_a_page(level) as (page, warden):
        process = await warden.spawn(command(shell=FAMILY))
        await is_up(process)
        await lapse(page)
        await until(lambda: are_held(warden))
        ended = warden.stop(LONG)
        page.set(now() + LONG)
        assert {report.fate for report in (await ended).processes} == {"killed"}


async def renew(page: PageWriter) -> None:
    while True:
        page.set(now() + SOON)
        await asyncio.sleep(SOON / 10)


@pytest.mark.parametrize("level", [pytest.param("sealed", marks=ROOTS), "tree"])
async def test_a_call_in_a_process_of_its_own_is_held_too(level: Level) -> None:
    processes = Processes(level)
    page = processes.on_a_page()
    renewing = asyncio.create_task(renew(page))
    async with processes:
        work = await isolated.prepared(stay, (), {}, "it")
        nursery = await processes.nursery(work.home, work.command.order, lambda _: lambda: None)
        assert nursery is not None
        warden = await processes.warden(nursery)
        calling = asyncio.create_task(isolated.make(warden, work))
        await until(lambda: [kin.state for kin in warden.living()] == ["S"])
        renewing.cancel()
        await until(lambda: [kin.state for kin in warden.living()] == ["T"])
        page.set(now() + LONG)
        await until(lambda: [kin.state for kin in warden.living()] == ["S"])
        assert (await warden.stop(0)).proven
        with pytest.raises(WorkerDied):
            await calling


@pytest.mark.parametrize("level", [pytest.param("sealed", marks=ROOTS), "tree"])
async def test_who_was_stopped_by_somebody_else_stays_so(level: Level) -> None:
    async with held_to_a_page(level) as (page, warden):
        first = await warden.spawn(command("sleep", "300"))
        second = await warden.spawn(command("sleep", "300"))
        os.kill(first.pid, signal.SIGSTOP)
        await until(lambda: state_of(first.pid) == "T")
        await lapse(page)
        await until(lambda: state_of(second.pid) == "T")
        page.set(now() + LONG)
        await until(lambda: state_of(second.pid) == "S")
        assert state_of(first.pid) == "T"


@levels
async def test_nothing_is_started_while_nothing_may_act(level: Level) -> None:
    async with held_to_a_page(level) as (page, warden):
        await lapse(page)
        begun = asyncio.create_task(warden.spawn(command(shell="echo up; sleep 300")))
        await asyncio.sleep(0)
        page.set(now() + LONG)
        await is_up(await begun)


FORKED = """
#include <signal.h>
#include <unistd.h>
int main(void) { if (!vfork()) for (;;) pause(); for (;;) pause(); }
"""  # its child never lets it go on, as one that is held in the same moment does not


class Looks(Procfs):
    """Looks below one process, and counts how often."""

    def __init__(self, top: int) -> None:
        super().__init__()
        self.top, self.count = top, 0

    def below(self, pid: int, spared: Container[int] = ()) -> Iterator[Relative]:
        self.count += 1
        return super().below(self.top)


def shell_of_one_in_a_fork(program: Path) -> subprocess.Popen[bytes]:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    command = [compiler, "-x", "c", "-w", "-o", str(program), "-"]
    subprocess.run(command, input=FORKED, text=True, check=True)
    return subprocess.Popen(["/bin/sh", "-c", f"{program} & wait"])


@pytest.mark.scenario("P39")
async def test_one_who_waits_in_a_fork_for_a_child_that_is_held_is_held(tmp_path: Path) -> None:
    shell = shell_of_one_in_a_fork(tmp_path / "forked")
    proc, stillness = Looks(shell.pid), Stillness()
    try:
        await until(lambda: [kin.state for kin in proc.below(0)] == ["D", "S"])
        stillness.hold(proc)
        await until(lambda: [kin.state for kin in proc.below(0)] == ["D", "T"])
        proc.count = 0

        stillness.hold(proc)

        assert proc.count == 1  # nobody is found who goes on
    finally:
        for pid in [shell.pid, *(kin.pid for kin in list(proc.below(0)))]:
            os.kill(pid, signal.SIGKILL)
        shell.wait()
        proc.close()
