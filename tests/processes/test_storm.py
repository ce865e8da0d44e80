"""P5. A storm of forks: it has a limit, the machine has room for others, and a stop ends it."""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from lastword.processes import Level, Processes, command
from tests.processes import storm_to_stop
from tests.processes.artists import built
from tests.processes.storm_to_stop import LIFETIME, MOST, Storm, numbers, weather
from tests.processes.strict import AT_EACH
from tests.processes.test_escape import an_ordinary_user
from tests.scenarios import ROOT

HELPER = Path(storm_to_stop.__file__).relative_to(ROOT)
SOURCE = Path(__file__).with_name("storm.c")
PRIVATE_PID_MAX = (6, 14)  # the kernel from which on a namespace has a limit of its own


@pytest.mark.scenario("P5", part="processes")
@pytest.mark.parametrize("kind", ["bomb", "comets"])
async def test_a_sealed_storm_has_a_limit_and_leaves_room_for_others(
    kind: str, tmp_path: Path
) -> None:
    if os.geteuid() != 0 or kernel() < PRIVATE_PID_MAX:
        pytest.skip("no limit for the processes of a namespace, on this kernel or to this user")
    before = numbers()

    seen = await weather("sealed", kind, storm(), tmp_path)

    assert seen.height <= MOST
    assert seen.seconds < LIFETIME / 2
    assert seen == replace(
        seen,
        capped=True,
        others_may_fork=True,
        numbers=before,  # the machine's own have not become fewer
        proven=True,
        left=False,
    )


@pytest.mark.scenario("P5", part="processes")
@AT_EACH
@pytest.mark.parametrize("kind", ["bomb", "comets"])
def test_a_storm_of_an_ordinary_user_has_a_limit_too(kind: str, level: Level) -> None:
    before = numbers()

    seen = stormy(level, kind)

    assert seen.height < before // 4
    assert kind == "comets" or seen.seconds < LIFETIME / 2  # it did not end by itself
    assert seen == replace(
        seen,
        capped=True,
        others_may_fork=True,
        numbers=before,
        proven=True,
        left=False,
    )


@pytest.mark.scenario("P5", part="processes")
async def test_comets_that_nothing_limits_are_reaped_as_fast_as_they_burn_out(
    tmp_path: Path,
) -> None:
    """At tree level there is no limit for root, so what it leaves to be reaped must stay small."""
    seen = await weather("tree", "comets", storm(), tmp_path)

    assert seen.capped == (os.geteuid() != 0)
    assert seen.others_may_fork
    assert seen.proven
    assert not seen.left


@pytest.mark.scenario("P5", part="processes")
async def test_the_limit_is_for_those_that_live_and_not_for_all_there_ever_were() -> None:
    if os.geteuid() != 0 or kernel() < PRIVATE_PID_MAX:
        pytest.skip("no limit for the processes of a namespace, on this kernel or to this user")
    async with Processes("sealed", most=MOST) as processes:
        warden = await processes.warden()
        before = await warden.spawn(command(shell=f"for i in $(seq {MOST}); do /bin/true; done"))
        await before.wait()

        living = [await warden.spawn(command("sleep", "50")) for _ in range(MOST // 2)]

        await warden.stop(grace=0.0)
    assert len(living) == MOST // 2


def stormy(level: Level, kind: str) -> Storm:
    program = storm()
    with an_ordinary_user() as stage:
        there = stage.program.with_name(program.name)
        done = subprocess.run(
            [*stage.before, stage.python, stage.root / HELPER, level, kind, there],
            env=stage.env,
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return Storm(**json.loads(done.stdout))


@cache
def storm() -> Path:
    """The program, beside the artists, where an ordinary user is shown it."""
    home = built().parent
    digest = sha256(SOURCE.read_bytes()).hexdigest()[:16]
    program = home / f"storm-{digest}"
    if not program.exists():
        draft = home / f"storm-draft-{os.getpid()}"  # two test processes may be compiling at once
        compiler = shutil.which("cc") or "cc"
        subprocess.run([compiler, "-O1", "-Wall", "-Wextra", "-o", draft, SOURCE], check=True)
        draft.chmod(0o755)
        draft.replace(program)
    return program


def kernel() -> tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int(minor)
