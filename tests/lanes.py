"""Two lanes, one suite.

The quick lane, `scripts/test`, has every test; those that repeat themselves do so less often, and
of those that cost much as such, functions or modules marked `pytest.mark.deep(reason, quick=N)`, it
has N cases of each, and one of each story that no other test keeps. The deep lane, `--deep`, is all
of it; `--deep-only` is what of it the quick lane did not do. What is left to chance (which cases,
which schedules) begins with one number, which changes with the commit, is told in the first lines,
and can be given with `--seed`.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import pytest

from lastword.testing.seeded import explore
from tests.scenarios import ROOT, Mark, marks_of


class Count(NamedTuple):
    """How often a test repeats itself, by lane."""

    quick: int
    deep: int
    what: str


COUNTS = {
    "schedules": Count(30, 500, "how many schedules a test of interleavings explores"),
    "tries": Count(2, 10, "how often each escape artist tries to outlive a stop"),
    "rounds": Count(8, 40, "how often a process is killed in the middle of its life"),
    "stops": Count(2, 15, "how often each engine is stopped, and taken over, at random"),
    "histories": Count(3, 30, "how many histories of a folder are undone"),
    "check_repeats": Count(1, 1, "how often a check tells each story, of whom it knows"),
    "check_musts": Count(5, 5, "how many MUSTs are told of each fault that breaks others"),
}
_MOST = 1 << 31


@dataclass(frozen=True, slots=True)
class Case:
    """One test, as far as it matters which lane it is in."""

    id: str
    among: str = ""  # the function or the module that is marked deep
    quick: int | None = None  # so many of those are in the quick lane; None: it is not deep
    marks: frozenset[Mark] = frozenset()


def quick_lane(cases: Sequence[Case], seed: int) -> set[str]:
    """The ids of those that are in it: what is not deep, a sample, and each story at least once."""
    chosen = {case.id for case in cases if case.quick is None}
    deep = sorted(
        (case for case in cases if case.quick is not None), key=lambda case: (case.among, case.id)
    )
    for among, several in groupby(deep, key=lambda case: case.among):
        group = list(several)
        most = min(group[0].quick or 0, len(group))
        chosen |= {case.id for case in random.Random(f"{seed} {among}").sample(group, most)}
    kept = {mark for case in cases if case.id in chosen for mark in case.marks}
    for mark in sorted({mark for case in deep for mark in case.marks} - kept, key=str):
        if mark not in kept:
            case = random.Random(f"{seed} {mark}").choice([c for c in deep if mark in c.marks])
            chosen.add(case.id)
            kept |= case.marks
    return chosen


def seed_of_the_commit() -> int:
    """A number for what is checked out; any, where that is not known."""
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():
        command = [git, "rev-parse", "--verify", "HEAD"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return int(done.stdout.strip(), 16) % _MOST
    return random.randrange(_MOST)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lanes")
    group.addoption("--deep", action="store_true", help="all of it, as often as it takes")
    group.addoption(
        "--deep-only", action="store_true", help="what --deep does and the quick lane does not"
    )
    for name, count in COUNTS.items():
        told = f"{count.what} ({count.quick}, or {count.deep} with --deep)"
        group.addoption(f"--{name.replace('_', '-')}", type=int, metavar="N", help=told)
    group.addoption(
        "--seed", type=int, metavar="N", help="what chance begins with (the commit's number)"
    )


def pytest_configure(config: pytest.Config) -> None:
    """What was not said is settled here, once; workers are told what comes of it."""
    option = config.option
    option.deep = option.deep or option.deep_only
    if option.seed is None:
        option.seed = seed_of_the_commit()
    for name, count in COUNTS.items():
        if getattr(option, name) is None:
            setattr(option, name, count.deep if option.deep else count.quick)
    defaults = explore.__kwdefaults__ or {}
    defaults["seed"] = option.seed  # the first of the schedules that a story is tried under


def _lane(config: pytest.Config) -> str:
    if config.option.deep_only:
        return "deep, without what the quick one did"
    return "deep" if config.option.deep else "quick"


def pytest_report_header(config: pytest.Config) -> str:
    counts = ", ".join(f"{getattr(config.option, name)} {name}" for name in COUNTS)
    return f"lane: {_lane(config)}; {counts}; --seed {config.option.seed}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is another lane's. Who names a test gets it."""
    if config.option.deep and not config.option.deep_only:
        return
    quick = quick_lane([_case(item) for item in items], config.option.seed)
    named = tuple(arg for arg in config.args if "::" in arg)
    here = {item.nodeid for item in items if named and item.nodeid.startswith(named)}
    if config.option.deep_only:
        here |= {i.nodeid for i in items if i.nodeid not in quick or _repeats_itself(i)}
    else:
        here |= quick
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in here])
    items[:] = [item for item in items if item.nodeid in here]


def _repeats_itself(item: pytest.Item) -> bool:
    """More often in the deep lane than in the other."""
    names: Iterable[str] = getattr(item, "fixturenames", ())
    more = {name for name, count in COUNTS.items() if count.deep > count.quick}
    return not more.isdisjoint(names)


def _case(item: pytest.Item) -> Case:
    marks = frozenset(marks_of(item))
    for node in reversed(item.listchain()):
        for marker in node.own_markers:
            if marker.name == "deep":
                (_,) = marker.args  # its reason
                among = node.nodeid.partition("[")[0]
                return Case(item.nodeid, among, marker.kwargs.get("quick", 0), marks)
    return Case(item.nodeid, marks=marks)


def _count(request: pytest.FixtureRequest) -> int:
    count: int = getattr(request.config.option, str(request.fixturename))
    return count


@pytest.fixture
def schedules(request: pytest.FixtureRequest) -> int:
    """How many schedules to explore."""
    return _count(request)


@pytest.fixture
def tries(request: pytest.FixtureRequest) -> int:
    """How often each escape artist tries."""
    return _count(request)


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> int:
    """How often to kill."""
    return _count(request)


@pytest.fixture
def stops(request: pytest.FixtureRequest) -> int:
    """How often to stop at random."""
    return _count(request)


@pytest.fixture
def histories(request: pytest.FixtureRequest) -> int:
    """How many histories of a folder to play."""
    return _count(request)


@pytest.fixture
def check_repeats(request: pytest.FixtureRequest) -> int:
    """How often a check tells each story."""
    return _count(request)


@pytest.fixture
def check_musts(request: pytest.FixtureRequest) -> int:
    """How many MUSTs to tell of a fault that has nothing to do with them."""
    return _count(request)


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """What chance begins with."""
    return _count(request)
