"""P8. Whoever keeps the processes is killed -9, and they die all the same."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from lastword.errors import SpawnFailed
from lastword.processes import Level, Processes, Warden, command
from tests.processes import host_to_kill
from tests.processes.artists import ARTISTS, Canary, built
from tests.processes.household import (
    children,
    held,
    keepers,
    state,
    switches,
    the_warden,
    zygotes,
)
from tests.processes.strict import AT_EACH
from tests.scenarios import ROOT

P8 = pytest.mark.scenario("P8", part="processes")
POLITE = ("plain", "setsid", "daemon_gone", "nohup")
STUBBORN = ("termignore", "stopped_sid", "houdini")
GRACE_WITHOUT_HOST = 0.2
SOON = 5.0  # seconds: a guard, on a machine that does other things as well


@P8
@AT_EACH
async def test_what_a_killed_host_kept_dies_politely_or_after_a_short_grace(
    level: Level, tmp_path: Path
) -> None:
    async with a_host(level, "keeps", *POLITE, *STUBBORN, directory=tmp_path) as host:
        host.kill()
        killed = now()
        died = await asyncio.gather(*map(died_at, host.canaries))

    polite, stubborn = died[: len(POLITE)], died[len(POLITE) :]
    assert max(polite) < min(stubborn)
    assert min(stubborn) - killed >= GRACE_WITHOUT_HOST - 0.02


@P8
@AT_EACH
async def test_what_a_killed_runtime_kept_dies_and_what_was_declared_keep_too(
    level: Level, tmp_path: Path
) -> None:
    async with a_host(level, "runtime", "comet_sid", "plain", directory=tmp_path) as host:
        assert len(keepers(host.zygote, level)) == 2

        host.kill()

        assert await host.all_dead()


@P8
@AT_EACH
async def test_a_host_that_exits_in_the_middle_of_the_grace_shortens_it(
    level: Level, tmp_path: Path
) -> None:
    artists = ("termignore", "houdini", "comet")
    async with a_host(level, "exits", *artists, directory=tmp_path) as host:
        host.go_on("stopping")

        assert await host.all_dead()  # the grace was fifty seconds


@P8
@AT_EACH
async def test_a_fork_that_holds_the_sockets_of_a_killed_host_keeps_nobody_alive(
    level: Level, tmp_path: Path
) -> None:
    async with a_host(level, "forks", "plain", "houdini", directory=tmp_path) as host:
        host.go_on("forked")
        host.kill()

        assert await host.all_dead()


@P8
@AT_EACH
async def test_a_killed_host_that_had_long_stopped_listening_keeps_nobody_alive(
    level: Level, tmp_path: Path
) -> None:
    async with a_host(level, "deaf", "plain", "termignore", directory=tmp_path) as host:
        host.go_on(f"{host_to_kill.UNHEARD} ordered")
        await quiet(host.warden)
        host.kill()

        assert await host.all_dead()


@P8
@AT_EACH
@pytest.mark.parametrize("first", ["host", "warden"])
async def test_host_and_warden_killed_together_leave_nobody(
    first: str, level: Level, tmp_path: Path
) -> None:
    async with a_host(level, "keeps", *POLITE, *STUBBORN, directory=tmp_path) as host:
        doomed = [host.pid, host.warden]
        for pid in doomed if first == "host" else reversed(doomed):
            os.kill(pid, signal.SIGKILL)

        assert await host.all_dead()


@P8
async def test_the_kernel_ends_a_namespace_whose_keepers_are_all_killed(tmp_path: Path) -> None:
    async with a_host("sealed", "keeps", *POLITE, *STUBBORN, directory=tmp_path) as host:
        (outside,) = children(host.zygote)
        doomed = (host.zygote, outside, host.pid)
        os.kill(host.warden, signal.SIGSTOP)  # it does not see to it, either
        for pid in doomed:
            os.kill(pid, signal.SIGKILL)

        assert await host.all_dead()


@P8
@AT_EACH
async def test_a_host_whose_warden_is_killed_is_told_and_can_start_others(
    level: Level, tmp_path: Path
) -> None:
    artists = ("plain", "termignore", "daemon_gone", "comet", "hydra", "houdini")
    async with Processes(level) as processes:
        warden = await processes.warden()
        with ExitStack() as stack:
            canaries = [await performing(warden, a, tmp_path, stack) for a in artists]
            started = list(warden.processes.values())
            keeper = the_warden(os.getpid(), level)

            os.kill(keeper, signal.SIGKILL)

            codes = [await process.wait() for process in started]
            ending = await warden.stop(grace=0.0)
            assert [await canary.dead(SOON) for canary in canaries] == [True] * len(artists)
        assert set(codes) == {-signal.SIGKILL}
        assert ending.proven
        assert {report.fate for report in ending.processes} == {"killed"}
        with pytest.raises(SpawnFailed):
            await warden.spawn(command("true"))
        another = await (await processes.warden()).spawn(command("true"))
        assert await another.wait() == 0


@P8
async def test_whoever_stands_outside_a_namespace_may_be_killed_too(tmp_path: Path) -> None:
    async with Processes("sealed") as processes:
        warden = await processes.warden()
        with ExitStack() as stack:
            canary = await performing(warden, "houdini", tmp_path, stack)
            (outside,) = children(*zygotes(os.getpid()))

            os.kill(outside, signal.SIGKILL)

            assert await canary.dead(SOON)
        assert (await warden.stop(grace=0.0)).proven


@P8
@AT_EACH
async def test_a_warden_goes_on_without_the_zygote_and_the_next_has_a_new_one(
    level: Level, tmp_path: Path
) -> None:
    async with Processes(level) as processes:
        warden = await processes.warden()
        with ExitStack() as stack:
            canary = await performing(warden, "houdini", tmp_path, stack)
            (old,) = zygotes(os.getpid())

            await killed(old)
            other = await warden.spawn(command("true"))

            assert await other.wait() == 0
            assert (await warden.stop(grace=0.0)).proven
            assert await canary.dead(SOON)
        another = await (await processes.warden()).spawn(command("true"))
        assert await another.wait() == 0
        assert old not in zygotes(os.getpid())
        assert state(old) != "Z"


@P8
async def test_a_tree_whose_zygote_and_warden_are_killed_is_not_said_to_have_ended() -> None:
    """The hole of this level: nobody is left who could tell, so nobody says it is so."""
    async with Processes("tree") as processes:
        warden = await processes.warden()
        process = await warden.spawn(command("sleep", "50"))
        survivor = os.pidfd_open(process.pid)
        keepers_of_it = (*zygotes(os.getpid()), the_warden(os.getpid(), "tree"))

        for pid in keepers_of_it:
            os.kill(pid, signal.SIGKILL)
        ending = await warden.stop(grace=0.0)

        assert not ending.proven
        assert [report.fate for report in ending.processes] == ["unconfirmed"]
        signal.pidfd_send_signal(survivor, signal.SIGKILL)
        os.close(survivor)


@pytest.mark.scenario("P5", part="processes")
@AT_EACH
async def test_a_warden_that_hangs_is_killed_and_its_processes_with_it(
    level: Level, tmp_path: Path
) -> None:
    async with Processes(level) as processes:
        warden = await processes.warden()
        with ExitStack() as stack:
            canaries = [
                await performing(warden, artist, tmp_path, stack)
                for artist in ("plain", "comet", "houdini")
            ]
            keeper = the_warden(os.getpid(), level)

            with held(keeper):
                ending = await warden.stop(grace=0.1)

            assert [await canary.dead(SOON) for canary in canaries] == [True] * 3
        assert ending.proven
        assert len(ending.processes) >= len(canaries)


# the host, and what is done to it


@dataclass(frozen=True, slots=True)
class Host:
    """host_to_kill.py, with its artists in position."""

    process: subprocess.Popen[str]
    level: Level
    canaries: list[Canary]

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def zygote(self) -> int:
        (zygote,) = zygotes(self.pid)
        return zygote

    @property
    def warden(self) -> int:
        return the_warden(self.pid, self.level)

    def go_on(self, until: str) -> None:
        """Let it go on with what it does then, until it says so."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == f"{until}\n"

    def kill(self) -> None:
        self.process.kill()

    async def all_dead(self) -> bool:
        return all([await canary.dead(SOON) for canary in self.canaries])


@asynccontextmanager
async def a_host(level: Level, what: str, *artists: str, directory: Path) -> AsyncGenerator[Host]:
    with ExitStack() as stack:
        canaries = [stack.enter_context(Canary(directory)) for _ in artists]
        pairs = [str(part) for a, c in zip(artists, canaries, strict=True) for part in (a, c.path)]
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
        process = subprocess.Popen(  # noqa: ASYNC220 - it is to be killed
            [sys.executable, host_to_kill.__file__, level, what, str(built()), *pairs],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            try:
                assert process.stdout
                assert process.stdout.readline() == "started\n"
                for artist, canary in zip(artists, canaries, strict=True):
                    await canary.ready(ARTISTS[artist])
                host = Host(process, level, canaries)
                if what == "keeps":
                    host.go_on("kept")
                yield host
            finally:
                process.kill()


async def performing(warden: Warden, artist: str, directory: Path, stack: ExitStack) -> Canary:
    """An artist's canary, once it is in position."""
    canary = stack.enter_context(Canary(directory))
    await warden.spawn(command(built(), artist, canary.path))
    await canary.ready(ARTISTS[artist])
    return canary


async def died_at(canary: Canary) -> float:
    assert await canary.dead(SOON)
    return now()


async def killed(pid: int) -> None:
    """Kill -9; return when it is dead and whoever was to hear of it has."""
    pidfd, dead = os.pidfd_open(pid), asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(pidfd, dead.set)
    try:
        os.kill(pid, signal.SIGKILL)
        await dead.wait()
    finally:
        loop.remove_reader(pidfd)
        os.close(pidfd)
    for _ in range(3):  # its end of a socket was closed before that, so it is heard by now
        await asyncio.sleep(0)


async def quiet(pid: int) -> None:
    """Return when a process has done all that it can do, and waits."""
    same, before = 0, ""
    while same < 500:
        await asyncio.sleep(0)
        same = same + 1 if switches(pid) == before and state(pid) == "S" else 0
        before = switches(pid)


def now() -> float:
    return asyncio.get_running_loop().time()
