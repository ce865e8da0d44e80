"""P2, P8. Where the machine allows less, less is promised, all of it is kept, and it is said."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lastword.processes import Level, Processes, command
from lastword.processes.inside.family import Procfs
from tests.processes import levels_to_try
from tests.processes.artists import ARTISTS, Canary, built
from tests.processes.as_user import survivors
from tests.processes.household import the_warden
from tests.processes.strict import AT_EACH, BEST_OF_AN_ORDINARY_USER
from tests.processes.test_escape import permitted
from tests.processes.test_killed import a_host
from tests.scenarios import ROOT

P2 = pytest.mark.scenario("P2", part="processes")
P8 = pytest.mark.scenario("P8", part="processes")
NO_NAMESPACES = 'echo 0 > /proc/sys/user/max_pid_namespaces; exec "$@"'


@P2
def test_where_there_are_no_namespaces_the_next_level_holds_and_the_reason_is_given() -> None:
    root_of_its_own = permitted("unshare", "--user", "--map-root-user")
    artists = ("plain", "setsid", "daemon_gone", "comet_sid", "houdini")
    program = (sys.executable, levels_to_try.__file__, str(built()), *artists)
    done = subprocess.run(
        [*root_of_its_own, "sh", "-c", NO_NAMESPACES, "sh", *program],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)

    assert told["level"] == BEST_OF_AN_ORDINARY_USER
    assert told["survivors"] == 0
    assert list(told["why_not"]) == ["sealed"]
    assert "unshare: No space left on device" in told["why_not"]["sealed"]
    assert "no warden at level sealed" in told["refused"]
    assert told["left_by_the_refused"] == 0


@P2
@AT_EACH
@pytest.mark.parametrize("artist", ["plain", "setsid", "daemon_gone", "comet", "houdini"])
async def test_where_the_kernel_lists_no_children_nobody_is_left_either(
    artist: str, level: Level, tries: int, tmp_path: Path
) -> None:
    processes = Processes(level)
    processes._scan = True  # pyright: ignore[reportPrivateUsage] - there is no such kernel here

    async with processes:
        escaped = await survivors(
            processes, artist, program=built(), tries=-(-tries // 3), directory=tmp_path
        )

    assert escaped == 0


async def test_both_ways_of_looking_see_the_same_family(tmp_path: Path) -> None:
    async with Processes("tree") as processes:
        warden = await processes.warden()
        with Canary(tmp_path) as canary:
            hydra = await warden.spawn(command(built(), "hydra", canary.path))
            await canary.ready(ARTISTS["hydra"])

            listed, looked_for = Procfs(), Procfs(scan=True)
            families = [{kin.pid for kin in p.descendants(hydra.pid)} for p in (listed, looked_for)]
            brood = [sorted(proc.children(hydra.pid)) for proc in (listed, looked_for)]
            for proc in (listed, looked_for):
                proc.close()

            await warden.stop(grace=0.0)
            assert await canary.dead(timeout=5.0)
    assert len(families[0]) == ARTISTS["hydra"] - 1
    assert families[0] == families[1]
    assert brood[0] == brood[1]


async def test_at_group_level_a_program_runs_and_its_group_ends(tmp_path: Path) -> None:
    async with Processes("group") as processes:
        warden = await processes.warden()
        done = await (await warden.spawn(command("echo", "hello"))).communicate()
        assert (done.code, done.output) == (0, "hello\n")

        for artist in ("plain", "termignore", "comet", "stopped"):
            with Canary(tmp_path) as canary:
                warden = await processes.warden()
                await warden.spawn(command(built(), artist, canary.path))
                await canary.ready(ARTISTS[artist])
                ending = await warden.stop(grace=0.1)
                assert ending.proven
                assert await canary.dead(timeout=5.0), artist


@P8
async def test_at_group_level_the_groups_of_a_killed_host_die(tmp_path: Path) -> None:
    async with a_host("group", "keeps", "plain", "termignore", directory=tmp_path) as host:
        host.kill()

        assert await host.all_dead()


@P8
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
async def test_at_group_level_a_warden_that_is_lost_proves_nothing(number: int) -> None:
    """Nobody adopts its processes there, so nobody may say that they have ended."""
    async with Processes("group") as processes:
        warden = await processes.warden()
        process = await warden.spawn(command("sleep", "50"))
        survivor = os.pidfd_open(process.pid)
        keeper = the_warden(os.getpid(), "group")

        os.kill(keeper, number)
        ending = await warden.stop(grace=0.1)
        try:
            signal.pidfd_send_signal(survivor, signal.SIGKILL)
            lived = True
        except ProcessLookupError:
            lived = False
        os.close(survivor)

    assert not (lived and ending.proven)
    assert not lived or [report.fate for report in ending.processes] == ["unconfirmed"]
