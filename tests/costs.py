"""What a test costs: seconds of the processor, its processes' included, as `--costs` measured it.

That is kept in `costs.json` for each function, and for cases that cost much more than the others of
theirs; by lane, because some tests repeat themselves more often in the deep one. What costs so
little that no lane asks is not kept. A busy machine changes little of it: who waits, or stands in
line, costs nothing.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Generator, Mapping
from pathlib import Path
from statistics import median
from typing import Any, cast

import pytest

_FILE = Path(__file__).with_name("costs.json")
_JIFFY = 1 / os.sysconf("SC_CLK_TCK")
CHEAP = 0.1  # seconds; a test that costs less is in every lane
_APART = 3  # times what its function's cases usually cost, a case's is kept by itself

Costs = Mapping[str, Mapping[str, float]]  # by lane, by function or case


def known() -> Costs:
    """As they were measured last."""
    return cast(Costs, json.loads(_FILE.read_text(encoding="utf-8")))


def of(costs: Costs, lane: str, case: str) -> float:
    """What a test costs in a lane; what is not known is cheap."""
    for name in (case, function_of(case)):
        for known in (costs[lane], costs[{"quick": "deep", "deep": "quick"}[lane]]):
            if name in known:
                return known[name]
    return CHEAP / 5


def function_of(nodeid: str) -> str:
    """The function that a case is one of."""
    return nodeid.partition("[")[0]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("lanes").addoption(
        "--costs", action="store_true", help="measure what each test costs, for tests/costs.json"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.option.costs:
        here = Measuring() if hasattr(config, "workerinput") else Keeping(config)
        config.pluginmanager.register(here)


class Measuring:
    """In the process that runs a test."""

    def __init__(self) -> None:
        self._before = _used()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self,
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        before, self._before = self._before, _used()
        report.user_properties.append(("cost", self._before - before))
        return report


class Keeping(Measuring):
    """In the process that prints, which runs tests itself if there are no workers."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__()
        self._lane = "deep" if config.option.deep or config.option.deep_only else "quick"
        self._spent = defaultdict[str, float](float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = cast("list[tuple[str, Any]]", report.user_properties)
        self._spent[report.nodeid] += sum(value for name, value in told if name == "cost")

    def pytest_sessionfinish(self) -> None:
        cases = defaultdict[str, dict[str, float]](dict)
        for case, cost in self._spent.items():
            cases[function_of(case)][case] = cost
        costs = {lane: dict(those) for lane, those in known().items()}
        mine = costs[self._lane]
        for function, each in cases.items():
            for name in (function, *each):
                mine.pop(name, None)
            mine.update(worth_keeping(function, each))
        _FILE.write_text(json.dumps(costs, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def worth_keeping(function: str, each: Mapping[str, float]) -> dict[str, float]:
    """What a function's cases cost, and which of them are to be known by themselves."""
    most = max(1.0, _APART * median(each.values()))
    apart = {case: cost for case, cost in each.items() if cost > most}
    usual = [cost for cost in each.values() if cost <= most]
    found = {function: sum(usual) / len(usual), **apart}
    return {name: round(cost, 2) for name, cost in found.items() if cost >= CHEAP}


def _used() -> float:
    """Seconds of the processor, by this process, whom it has reaped, and all below it."""
    children = defaultdict[int, list[tuple[int, float]]](list)
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            after = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        children[int(after[1])].append((int(folder.name), sum(map(int, after[11:15])) * _JIFFY))
    used, below = sum(os.times()[:4]), [os.getpid()]
    while below:
        for pid, its in children[below.pop()]:
            used += its
            below.append(pid)
    return used
