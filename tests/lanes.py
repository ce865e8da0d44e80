"""Two lanes, one suite.

The quick lane, `scripts/test`, has every test that costs next to nothing, one at least of each
story, and of the others as many as fit into its budget. Those that repeat themselves do so less
often. The deep lane, `--deep`, is all of it; `--deep-only` is what of it the quick lane did not do,
and with `--budget` as much of that as fits. What a test costs is in `costs.json`. What is left to
chance (which cases, which schedules) begins with one number, which changes with the commit, is told
in the first lines, and can be given with `--seed`.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from lastword.testing.seeded import explore
from tests import costs
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
QUICK = 200.0  # seconds of the processor: with what is cheap, under five minutes on two cores
_MOST = 1 << 31


@dataclass(frozen=True, slots=True)
class Case:
    """One test, as far as it matters which lane it is in."""

    id: str
    cost: float
    marks: frozenset[Mark] = frozenset()


def affordable(
    cases: Sequence[Case], budget: float, seed: int, kept: Iterable[Mark] = ()
) -> set[str]:
    """The ids of those that fit: what is cheap, each story that is not kept yet, then a sample.

    The first two are had also if they alone are too dear. The sample has one case of each function
    before it has a second of any.
    """
    chosen = {case.id: case for case in cases if case.cost < costs.CHEAP}
    kept = {*kept, *(mark for case in chosen.values() for mark in case.marks)}
    dear = sorted((case for case in cases if case.id not in chosen), key=lambda case: case.id)
    random.Random(seed).shuffle(dear)
    for case in sorted(dear, key=lambda case: case.cost):
        if not case.marks <= kept:
            chosen[case.id] = case
            kept |= case.marks
    spent = sum(case.cost for case in chosen.values())
    for case in _functions_in_turn(case for case in dear if case.id not in chosen):
        if spent + case.cost <= budget:
            chosen[case.id] = case
            spent += case.cost
    return set(chosen)


def _functions_in_turn(cases: Iterable[Case]) -> list[Case]:
    seen = Counter[str]()
    turns: list[tuple[int, Case]] = []
    for case in cases:
        function = costs.function_of(case.id)
        turns.append((seen[function], case))
        seen[function] += 1
    return [case for _, case in sorted(turns, key=lambda turn: turn[0])]


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
    group.addoption(
        "--budget",
        type=float,
        metavar="S",
        help=f"seconds of the processor for all tests together ({QUICK:.0f} in the quick lane)",
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
    option = config.option
    if option.deep and not option.deep_only:
        return
    known = costs.known()
    seed, budget = option.seed, QUICK if option.deep_only or not option.budget else option.budget
    here = affordable([_case(item, known, "quick") for item in items], budget, seed)
    if option.deep_only:
        kept = {mark for item in items if item.nodeid in here for mark in marks_of(item)}
        rest = [item for item in items if item.nodeid not in here or _repeats_itself(item)]
        most = option.budget or float("inf")
        here = affordable([_case(item, known, "deep") for item in rest], most, seed, kept)
    named = tuple(arg for arg in config.args if "::" in arg)
    here |= {item.nodeid for item in items if named and item.nodeid.startswith(named)}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in here])
    items[:] = [item for item in items if item.nodeid in here]


def _repeats_itself(item: pytest.Item) -> bool:
    """More often in the deep lane than in the other."""
    names: Iterable[str] = getattr(item, "fixturenames", ())
    more = {name for name, count in COUNTS.items() if count.deep > count.quick}
    return not more.isdisjoint(names)


def _case(item: pytest.Item, known: costs.Costs, lane: str) -> Case:
    cost = costs.of(known, lane, item.nodeid)
    return Case(item.nodeid, cost, frozenset(marks_of(item)))


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
