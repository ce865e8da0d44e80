"""Options, fixtures and the count of kept scenarios, for all tests."""

from __future__ import annotations

import gc
import random
import shutil
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.scenarios import Mark, Tally, all_scenarios

pytest_plugins = ["tests.guard"]

_TALLY = pytest.StashKey[Tally]()
_COUNTING = pytest.StashKey["Counting"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--schedules",
        type=int,
        default=500,
        metavar="N",
        help="how many schedules a test of interleavings explores (500)",
    )
    parser.addoption(
        "--tries",
        type=int,
        default=10,
        metavar="N",
        help="how often each escape artist tries to outlive a stop (10)",
    )
    parser.addoption(
        "--rounds",
        type=int,
        default=40,
        metavar="N",
        help="how often a process is killed in the middle of its life (40)",
    )
    parser.addoption(
        "--seed", type=int, default=None, metavar="N", help="what chance begins with (any)"
    )
    parser.addoption(
        "--real-model",
        action="store_true",
        help="ask a real language model as well, on this machine",
    )


@pytest.fixture
def schedules(request: pytest.FixtureRequest) -> int:
    """How many schedules to explore."""
    schedules: int = request.config.option.schedules
    return schedules


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> int:
    """How often to kill."""
    rounds: int = request.config.option.rounds
    return rounds


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """What chance begins with."""
    given: int | None = request.config.option.seed
    return random.randrange(1 << 31) if given is None else given


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """A file system of a megabyte. Only root can make one."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    disk = tmp_path / "disk"
    disk.mkdir()
    command = [mount or "", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if not mount or not umount or subprocess.run(command, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield disk
    subprocess.run([umount, "-l", str(disk)], check=True)


@pytest.fixture
def tries(request: pytest.FixtureRequest) -> int:
    """How often each escape artist tries."""
    tries: int = request.config.option.tries
    return tries


def _heed_signals() -> None:
    """Programs under test are to be sent what a person at a terminal sends.

    Whoever runs the tests in the background has it ignored, and they would inherit that.
    """
    for number, usual in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGHUP, signal.SIG_DFL),
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


def pytest_collection_finish() -> None:
    """What the tests import stays: the collector need not look at it again and again."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    _heed_signals()
    config.stash[_TALLY] = Tally(all_scenarios())
    config.stash[_COUNTING] = Counting(config.stash[_TALLY])
    config.pluginmanager.register(config.stash[_COUNTING])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    for marker in item.iter_markers("scenario"):
        mark = Mark(*marker.args, **marker.kwargs)
        report.user_properties.append(("scenario", (mark.id, mark.part)))  # across processes too
    return report


class Counting:
    """Counts the marks of what has run, in the process that prints."""

    def __init__(self, tally: Tally) -> None:
        self.states = self.transitions = 0
        self.measured: list[str] = []
        self._tally = tally

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = cast("list[tuple[str, Any]]", report.user_properties)
        marks = {Mark(*value) for name, value in told if name == "scenario"}
        if report.when == "call":
            explored = [value for name, value in told if name == "explored"]
            self.states += sum(states for states, _ in explored)
            self.transitions += sum(transitions for _, transitions in explored)
            self.measured += [value for name, value in told if name == "measured"]
        for mark in marks:
            if report.failed or hasattr(report, "wasxfail"):
                self._tally.failed(mark)
            elif report.passed and report.when == "call":
                self._tally.passed(mark)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counting = terminalreporter.config.stash[_COUNTING]
    if counting.states:
        explored = f"{counting.states:,} states, {counting.transitions:,} transitions"
        terminalreporter.write_line(f"core explored: {explored}")
    for line in counting.measured:
        terminalreporter.write_line(f"measured: {line}")
    for line in terminalreporter.config.stash[_TALLY].lines():
        terminalreporter.write_line(line)
