"""P13, P36. Who lives on after a stop, since this user may not end it: named by its own run."""

import json
import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lastword.processes.inside.family import Relative
from lastword.processes.proof import Proof
from lastword.processes.seen import Seen, theirs
from tests.processes import another_user
from tests.processes.artists import built
from tests.processes.test_escape import an_ordinary_user
from tests.scenarios import ROOT

P13 = pytest.mark.scenario("P13", part="processes")
P36 = pytest.mark.scenario("P36", part="processes")
NOT_OURS = "this user may not end it"


def stopped_together(artist: str, ready: int, runs: int = 1) -> list[dict[str, Any]]:
    """What the stops told of programs that run as another user; nobody of them is left."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a program that runs as another user")
    with an_ordinary_user() as stage:
        mine = stage.root / "as-root"
        shutil.copy(built(), mine)
        mine.chmod(0o4755)
        helper = stage.root / Path(another_user.__file__).relative_to(ROOT)
        line = (*stage.before, stage.python, helper, mine, artist, str(ready), str(runs))
        try:
            done = subprocess.run(
                line, env=stage.env, cwd="/", capture_output=True, text=True, check=False
            )
        finally:
            mine.unlink()
    assert done.returncode == 0, done.stderr
    told: list[dict[str, Any]] = json.loads(done.stdout)
    for one in told:
        for pid in one["alive"]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    return told


@P13
def test_who_runs_as_another_user_and_lives_on_is_named_with_its_number_and_owner() -> None:
    (told,) = stopped_together("another_user", 1)

    assert not told["proven"]
    assert told["told"] == [[told["pid"], "as-root of user root", "unconfirmed"]]
    assert told["why"] == NOT_OURS


@P36
def test_whoever_lives_on_below_another_users_program_is_named_and_who_can_be_ended_is() -> None:
    (told,) = stopped_together("another_users_family", 5)

    survivors = {pid: (name, fate) for pid, name, fate in told["told"] if fate != "killed"}
    killed = [pid for pid, _, fate in told["told"] if fate == "killed"]
    assert len(told["were"]) == 5
    assert len(told["alive"]) == 4, "the one that is ours again can be ended"
    assert survivors == dict.fromkeys(told["alive"], ("as-root of user root", "unconfirmed"))
    assert killed == [pid for pid in told["were"] if pid not in told["alive"]]


@P36
def test_runs_that_are_stopped_together_each_name_their_own_survivors() -> None:
    told = stopped_together("another_users_family", 5, runs=4)

    for one in told:
        left = [pid for pid, _, fate in one["told"] if fate == "unconfirmed"]
        assert sorted(left) == sorted(one["alive"])
        assert {pid for pid, _, _ in one["told"]} == set(one["were"])
        assert not one["proven"]


@P36
def test_who_was_seen_by_no_warden_is_its_parents_or_named_by_all_and_said_so() -> None:
    left = [Relative(5, "sudo", "S", 1, 5, start=50), Relative(6, "sh", "S", 5, 5, start=60)]
    left += [Relative(7, "new", "S", 1, 7, start=70)]
    known = {(5, 50): 1}

    first = theirs(1, left, known, alone=False)
    second = theirs(2, left, known, alone=False)

    assert [kin.name for kin in theirs(1, left, known, alone=True).values()] == [
        "sudo",
        "sh",
        "new",
    ]
    unsure = "new (of this run, or of another that ended in the same moment)"
    assert [kin.name for kin in first.values()] == ["sudo", "sh", unsure]
    assert [kin.name for kin in second.values()] == [unsure]


@P36
def test_a_number_that_is_used_again_is_not_taken_for_who_had_it() -> None:
    left = [Relative(5, "sudo", "S", 1, 5, start=99)]

    assert theirs(2, left, {(5, 50): 1}, alone=True).keys() == {(5, 99)}


@P36
def test_whoever_lives_by_the_kernels_word_is_told_as_killed_by_no_account() -> None:
    remain = (Relative(5, "sudo", "S", 1, 5, start=50, owner=0),)
    found = tuple(Seen(pid, 0, "sh", "killed", 10 * pid) for pid in (5, 6, 7))
    for proof in (
        Proof("tree", left=True, looked=True, found=found, remain=remain),
        Proof("tree", left=True, looked=True, account=found, remain=remain),
    ):
        ending = proof.ending({}, [], alive={5, 6})

        fates = {report.pid: report.fate for report in ending.processes}
        assert fates == {5: "unconfirmed", 6: "unconfirmed", 7: "killed"}
