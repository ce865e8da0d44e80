"""P37. A run that writes into the tree of control groups costs no other run anything."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import sabotage
from tests.processes.sabotage import SABOTAGE
from tests.processes.strict import NO_GROUPS
from tests.processes.test_escape import a_delegated_group, an_ordinary_user
from tests.scenarios import ROOT

P37 = pytest.mark.scenario("P37", part="processes")
HELPER = Path(sabotage.__file__).relative_to(ROOT)
ENTERED = 'echo 0 > "$GROUP/cgroup.procs"; exec "$@"'
ALL_IS_WELL: dict[str, object] = {
    "others_start": True,
    "quiet": True,
    "dead": True,
    "other_lives": True,
    "other_ends": True,
    "left": [],
}
pytestmark = pytest.mark.skipif(bool(NO_GROUPS), reason=NO_GROUPS or "there are groups")


@P37
@pytest.mark.parametrize("what", SABOTAGE)
def test_an_ordinary_users_run_that_writes_into_the_tree_of_groups_gains_nothing(what: str) -> None:
    with an_ordinary_user() as stage:
        line = (*stage.before, stage.python, stage.root / HELPER, what)
        done = subprocess.run(
            line, env=stage.env, cwd="/", capture_output=True, text=True, check=False
        )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ALL_IS_WELL


@P37
@pytest.mark.parametrize("what", SABOTAGE)
def test_roots_run_that_writes_into_the_tree_of_groups_gains_nothing_either(what: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root is root")
    with a_delegated_group(0) as group:
        done = subprocess.run(
            ["/bin/sh", "-ec", ENTERED, "sh", sys.executable, str(ROOT / HELPER), what],
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "GROUP": group},
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ALL_IS_WELL


@P37
def test_if_no_group_can_be_made_at_all_that_is_said_and_nothing_is_started() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can set a limit that holds for this user")
    with an_ordinary_user() as stage:
        Path(stage.group, "cgroup.max.descendants").write_text("1", encoding="ascii")
        line = (*stage.before, stage.python, stage.root / HELPER, "no_more_groups")
        done = subprocess.run(
            line, env=stage.env, cwd="/", capture_output=True, text=True, check=False
        )

    assert "ProcessError: processes cannot be held here" in done.stderr
    assert "no control group can be made in" in done.stderr
