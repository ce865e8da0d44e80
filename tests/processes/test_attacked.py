"""P12. Who turns on its keepers gains nothing: a quiet stop rests on the kernel's word alone."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from lastword.processes import Level, Processes, command
from tests.processes import attacked as attacked_program
from tests.processes.artists import ATTACKERS, Canary, built
from tests.processes.attacked import Attacked, attacked
from tests.processes.household import zygotes
from tests.processes.strict import AT_EACH
from tests.processes.test_escape import an_ordinary_user
from tests.scenarios import ROOT

P12 = pytest.mark.scenario("P12", part="processes")
HELPER = Path(attacked_program.__file__).relative_to(ROOT)


@P12
@AT_EACH
@pytest.mark.parametrize("attacker", ATTACKERS)
async def test_whoever_is_alive_after_a_stop_is_named_whatever_it_did_to_its_keepers(
    attacker: str, level: Level, tmp_path: Path
) -> None:
    program = built().with_name("attackers")

    told = await attacked(level, attacker, program=program, directory=tmp_path)

    assert told == Attacked(attacker, quiet=True, dead=True, named=0, others_start=True)


@P12
async def test_zygotes_that_were_starved_again_and_again_do_not_add_up(tmp_path: Path) -> None:
    program = built().with_name("attackers")
    async with Processes("tree") as processes:
        for _ in range(4):
            warden = await processes.warden()
            with Canary(tmp_path) as canary:
                await warden.spawn(command(program, "no_forks_for_zygote", canary.path))
                await canary.ready(ATTACKERS["no_forks_for_zygote"])
                await warden.stop(0.1)
        await processes.warden()

        assert len(zygotes(os.getpid())) <= 2


@P12
@AT_EACH
def test_an_ordinary_users_attackers_gain_nothing_either(level: Level) -> None:
    with an_ordinary_user() as stage:
        program = stage.program.with_name("attackers")
        line = (*stage.before, stage.python, stage.root / HELPER, level, program, *ATTACKERS)
        done = subprocess.run(
            line, env=stage.env, cwd="/", capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    told = [Attacked(**json.loads(line)) for line in done.stdout.splitlines()]

    gained_nothing = [
        Attacked(attacker, quiet=True, dead=True, named=0, others_start=True)
        for attacker in ATTACKERS
    ]
    assert told == gained_nothing
