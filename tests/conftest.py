"""Options, fixtures and the count of kept scenarios, for all tests."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import settings

from tests.scenarios import Mark, Tally, all_scenarios, marks_of

pytest_plugins = ["tests.costs", "tests.database", "tests.guard", "tests.lanes"]

_TALLY = pytest.StashKey[Tally]()
_COUNTING = pytest.StashKey["Counting"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--real-model",
        action="store_true",
        help="ask a real language model as well, on this machine",
    )


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


def _keep_apart(config: pytest.Config) -> None:
    """What is kept for a person is not the person's who runs the tests."""
    state = tempfile.TemporaryDirectory(prefix="lastword-state-", ignore_cleanup_errors=True)
    config.add_cleanup(state.cleanup)
    os.environ["XDG_STATE_HOME"] = state.name


def pytest_configure(config: pytest.Config) -> None:
    _heed_signals()
    _keep_apart(config)
    settings.register_profile("lastword", deadline=None)  # no test has a time limit
    settings.load_profile("lastword")
    config.stash[_TALLY] = Tally(all_scenarios())
    config.stash[_COUNTING] = Counting(config.stash[_TALLY])
    config.pluginmanager.register(config.stash[_COUNTING])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    for mark in marks_of(item):
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
