"""N. Several processes over one database: rounds of whatever can happen to them.

The rounds are in `chaos`; more of them can be tried by hand.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.chaos import (
    Fault,
    Several,
    crash_of_the_database,
    cut_off,
    kill,
    nothing,
    one_round,
    pause,
    pause_for_long,
    taken_while_paused,
    terminate,
)
from tests.database import Cluster

ROUNDS = 2
STORIES = {
    pause_for_long: "N2",
    taken_while_paused: "N2",
    cut_off: "N2",
    kill: "N3",
    terminate: "N4",
    crash_of_the_database: "N4",
    pause: None,
    nothing: None,
}


def stories() -> Iterator[object]:
    for fault, story in STORIES.items():
        marks = [pytest.mark.scenario(story, part="postgres")] if story else []
        yield pytest.param(fault, id=fault.__name__, marks=marks)


def several(address: str, cluster: Cluster, folder: Path, seed: object, *flags: str) -> Several:
    name = address.partition("?")[0].rpartition("/")[2]
    return Several(name, folder, cluster.folder, seed, list(flags), cluster)


@pytest.mark.parametrize("fault", [*stories()])
async def test_whatever_happens_to_them_nothing_is_lost_doubled_or_stale(
    postgres: str, cluster: Cluster, tmp_path: Path, fault: Fault, seed: int
) -> None:
    those = several(postgres, cluster, tmp_path, seed)
    async with those.running():
        for _ in range(ROUNDS):
            await one_round(those, fault)
        await those.at_rest()
        assert await those.broken() == [], f"seed {seed}"
    assert those.counts["receipts"]
    assert those.counts["accepted"]
    assert those.counts["effects"]
    assert those.counts["processes"], "no process of what was stopped was judged"


@pytest.mark.parametrize("without", ["no-lease", "no-deadman"])
async def test_the_judge_finds_out_who_does_not_heed_the_lease(
    postgres: str, cluster: Cluster, tmp_path: Path, without: str, seed: int
) -> None:
    those = several(postgres, cluster, tmp_path, seed, without)
    broken = list[str]()
    async with those.running():
        for _ in range(10):  # who is resumed may be told that it has lost before it goes on
            await taken_while_paused(those, rest=1.0)
            if broken := await those.broken():
                break
        assert broken
