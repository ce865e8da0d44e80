"""P10. The number of a process that has ended is given to a stranger, who is never signalled."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lastword.processes import Level
from tests.processes import numbers_to_reuse
from tests.processes.strict import AT_EACH
from tests.processes.test_escape import permitted
from tests.scenarios import ROOT


@pytest.mark.scenario("P10", part="processes")
@AT_EACH
def test_a_stranger_who_has_the_number_of_one_that_ended_is_spared(level: Level) -> None:
    told = where_numbers_can_be_chosen(level)

    assert told == {story.__name__: True for story in numbers_to_reuse.STORIES}


@pytest.mark.scenario("P10", part="processes")
def test_a_list_that_is_no_longer_true_leads_to_no_stranger() -> None:
    told = where_numbers_can_be_chosen("old_lists")

    assert told == {
        "a_list_that_names_a_stranger": True,
        "a_number_that_changed_hands_with_children_of_its_own": True,
    }


def where_numbers_can_be_chosen(what: str) -> dict[str, bool]:
    if os.geteuid() != 0 or not Path("/proc/sys/kernel/ns_last_pid").exists():
        pytest.skip("the next process's number can only be chosen by root, on Linux")
    alone = permitted("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
    done = subprocess.run(
        [*alone, sys.executable, numbers_to_reuse.__file__, what],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return {answer["story"]: answer["spared"] for answer in answers}
