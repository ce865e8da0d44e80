"""Options, fixtures and the count of kept scenarios, for all tests."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.scenarios import Mark, Tally, all_scenarios

_TALLY = pytest.StashKey[Tally]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--schedules",
        type=int,
        default=500,
        metavar="N",
        help="how many schedules a test of interleavings explores (500)",
    )


@pytest.fixture
def schedules(request: pytest.FixtureRequest) -> int:
    """How many schedules to explore."""
    schedules: int = request.config.option.schedules
    return schedules


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_TALLY] = Tally(all_scenarios())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    tally = item.config.stash[_TALLY]
    for marker in item.iter_markers("scenario"):
        mark = Mark(*marker.args, **marker.kwargs)
        if report.failed or hasattr(report, "wasxfail"):
            tally.failed(mark)
        elif report.passed and report.when == "call":
            tally.passed(mark)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in terminalreporter.config.stash[_TALLY].lines():
        terminalreporter.write_line(line)
