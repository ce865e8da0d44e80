"""Isolated tools of an ordinary user: imported once, stopped like root's."""

import json
import os
import subprocess

import pytest

from lastword.processes import Level
from tests.processes import tools_as_user
from tests.processes.strict import AT_EACH
from tests.processes.test_escape import ROOT, an_ordinary_user


@pytest.mark.scenario("P25", part="isolated")
@AT_EACH
def test_the_tools_of_an_ordinary_user_are_imported_once_and_stopped(level: Level) -> None:
    with an_ordinary_user() as stage:
        helper = stage.root / os.path.relpath(tools_as_user.__file__, ROOT)
        done = subprocess.run(
            [*stage.before, stage.python, helper, level],
            env=stage.env,
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)

    assert told.pop("user") != 0
    assert told == {
        "wardens": 1 if level == "sealed" else 3,  # by the numbers in their own namespaces
        "powers": 0,
        "unfit": [],
        "fates": ["killed"],
        "proven": True,
        "died": "the process of the isolated tool it was ended by SIGKILL",
    }
