"""P12 to P15. What only the kernel can say: who is gone, who was killed, who lives on and whose."""

import asyncio
import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lastword.errors import ProcessError
from lastword.processes import Level, Processes, Warden, command
from lastword.processes.cgroups import Allowance, our_own
from tests.processes.artists import Canary, built
from tests.processes.household import held, keepers, state, the_warden, zygotes
from tests.processes.strict import AT_EACH, NO_GROUPS
from tests.processes.test_killed import a_host

P12 = pytest.mark.scenario("P12", part="processes")
P13 = pytest.mark.scenario("P13", part="processes")
P14 = pytest.mark.scenario("P14", part="processes")
P15 = pytest.mark.scenario("P15", part="processes")
SOON = 20.0  # seconds: a guard
FREEZER = Path("/sys/fs/cgroup/freezer")
STUBBORN = "trap '' TERM; echo; while :; do sleep 50; done"
FORTY = "for i in $(seq 40); do sleep 50 & done; echo; wait"


async def stubborn(warden: Warden, line: str = STUBBORN) -> int:
    process = await warden.spawn(command(shell=line))
    async for _ in process.stdout:
        break
    return process.pid


@P14
@AT_EACH
@pytest.mark.parametrize("stopped", ["warden", "zygote", "both"])
async def test_a_keeper_that_was_stopped_does_not_outlive_a_killed_host(
    stopped: str, level: Level, tmp_path: Path
) -> None:
    async with a_host(level, "keeps", "plain", "termignore", directory=tmp_path) as host:
        doomed = {"warden": [host.warden], "zygote": [host.zygote]}
        for pid in doomed.get(stopped, [host.warden, host.zygote]):
            os.kill(pid, signal.SIGSTOP)
        host.kill()

        assert await host.all_dead()


@P14
@AT_EACH
async def test_a_warden_that_was_stopped_does_not_outlive_its_host_and_zygote(
    level: Level, tmp_path: Path
) -> None:
    async with a_host(level, "keeps", "plain", "termignore", directory=tmp_path) as host:
        zygote = host.zygote
        os.kill(host.warden, signal.SIGSTOP)
        os.kill(zygote, signal.SIGKILL)
        host.kill()

        assert await host.all_dead()


@P14
@AT_EACH
async def test_a_host_that_forks_and_becomes_another_program_keeps_nobody(
    level: Level, tmp_path: Path
) -> None:
    async with a_host(level, "becomes", "plain", "houdini", directory=tmp_path) as host:
        host.go_on("becoming")

        assert await host.all_dead()


@P13
@pytest.mark.scenario("R9", part="processes")
@AT_EACH
async def test_who_was_killed_by_its_tool_in_the_same_moment_is_told_as_killed(
    level: Level,
) -> None:
    async with Processes(level) as processes:
        for _ in range(5):
            warden = await processes.warden()
            process = await warden.spawn(command(shell=STUBBORN))
            async for _ in process.stdout:
                break

            ended = asyncio.ensure_future(process.end(0.1))
            await asyncio.sleep(0)
            ending = await warden.stop(0.1)
            await ended

            fates = {report.pid: report.fate for report in ending.processes}
            assert fates[process.pid] == "killed"


@P13
@AT_EACH
async def test_after_the_hammer_all_are_listed_who_were_there(level: Level) -> None:
    async with Processes(level) as processes:
        warden = await processes.warden()
        await stubborn(warden, FORTY)
        with held(the_warden(os.getpid(), level)):
            ending = await warden.stop(0.1)

        assert ending.proven
        assert len(ending.processes) == 41
        assert {report.fate for report in ending.processes} == {"killed"}


@P13
@AT_EACH
async def test_of_a_warden_that_dies_in_the_middle_of_a_stop_all_are_listed(level: Level) -> None:
    async with Processes(level) as processes:
        warden = await processes.warden()
        process = await warden.spawn(command(shell=f"trap 'echo asked' TERM; {FORTY}; sleep 50"))
        said = process.stdout.__aiter__()
        assert await anext(said) == b"\n"
        stopping = warden.stop(50.0)
        assert await anext(said) == b"asked\n"
        os.kill(the_warden(os.getpid(), level), signal.SIGKILL)
        ending = await stopping

        assert ending.proven
        assert len(ending.processes) == 41


@P13
@pytest.mark.parametrize("level", ["tree"])
async def test_who_cannot_be_killed_costs_nobody_else_anything(level: Level) -> None:
    """A frozen process does not hear even SIGKILL."""
    with frozen() as freeze:
        async with Processes(level) as processes:
            first, second = await processes.warden(), await processes.warden()
            pid = await stubborn(first)
            await stubborn(second)
            thaw = freeze(pid)
            (zygote,) = zygotes(os.getpid())
            for keeper in keepers(zygote, level):  # one after the other, the first one first
                os.kill(keeper, signal.SIGKILL)
                while state(keeper):
                    await asyncio.sleep(0)
                for _ in range(2):  # the zygote looks between two orders: not in the same moment
                    await processes.warden()
            async with asyncio.timeout(SOON):
                ending = await asyncio.shield(second.stop(0.1))

            assert ending.proven
            assert not first.over
            thaw()
            assert (await first.stop(0.1)).proven


@contextmanager
def frozen() -> Generator[Callable[[int], Callable[[], object]]]:
    group = FREEZER / f"test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"nobody can be frozen here: {error}")
    switch = group / "freezer.state"

    def freeze(pid: int) -> Callable[[], object]:
        (group / "cgroup.procs").write_text(str(pid), encoding="ascii")
        switch.write_text("FROZEN", encoding="ascii")
        return lambda: switch.write_text("THAWED", encoding="ascii")

    try:
        yield freeze
    finally:
        switch.write_text("THAWED", encoding="ascii")
        while group.exists():
            try:
                group.rmdir()
            except OSError:
                os.sched_yield()


@P15
async def test_what_a_host_and_all_its_keepers_left_is_ended_by_the_next_one(
    tmp_path: Path,
) -> None:
    if NO_GROUPS:
        pytest.skip(NO_GROUPS)
    async with a_host("cgroup", "keeps", "plain", "daemon", directory=tmp_path) as host:
        for pid in (host.zygote, host.warden, host.pid):
            os.kill(pid, signal.SIGSTOP)
        for pid in (host.zygote, host.warden, host.pid):
            os.kill(pid, signal.SIGKILL)
        host.process.wait()
        assert not await host.canaries[0].dead(0.0)

        async with Processes("cgroup"):
            assert await host.all_dead()


@P15
async def test_a_limit_that_cannot_be_had_is_named_and_nothing_is_started() -> None:
    if NO_GROUPS:
        pytest.skip(NO_GROUPS)
    if "memory" in (our_own() / "cgroup.controllers").read_text(encoding="ascii").split():
        pytest.skip("here it can be had")

    with pytest.raises(ProcessError, match="no controller memory nor cpu"):
        await Processes(memory=1 << 30, cpu=0.5).start()


@P15
def test_limits_are_written_as_the_kernel_reads_them() -> None:
    limits = Allowance(200, memory=1 << 30, cpu=0.5)

    assert dict(limits.written(capped=True)) == {
        "pids.max": "201",
        "memory.max": "1073741824",
        "cpu.max": "50000 100000",
    }


@P12
async def test_a_control_group_is_taken_away_with_its_run(tmp_path: Path) -> None:
    if NO_GROUPS:
        pytest.skip(NO_GROUPS)
    async with Processes("cgroup") as processes:
        warden = await processes.warden()
        with Canary(tmp_path) as canary:
            await warden.spawn(command(built(), "plain", canary.path))
            await canary.ready(2)
            (home,) = our_own().glob(f"lastword-*-{os.getpid()}-*")
            inside = [path for path in home.iterdir() if path.is_dir()]
            members = (inside[0] / "cgroup.procs").read_text(encoding="ascii").split()
            assert len(members) == 3  # with the warden
            await warden.stop(0.0)
        assert [path for path in home.iterdir() if path.is_dir()] == []
    assert not home.exists()
