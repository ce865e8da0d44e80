"""Ends a test that is stuck, and lets one that is slow go on.

A clock on the wall cannot tell the two apart on a busy machine, so there is none. A test has two
budgets, and the load of the machine spends neither: how long nothing of it may want the processor
(it waits for what never comes), and how much of the processor it may use (it spins). Its processes
count too. Whoever stands in line for a processor, or for the disk, wants it.

A test that has spent a budget is ended where it stands by an exception that no test expects, is
told as failed with the stack of every thread and task, and the next one begins. One that swallows
the exception gets it again; after that only the end of its process helps, which xdist tells, by the
test's name, and makes good.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Generator
from types import FrameType

import pytest

from tests.meter import Meter
from tests.stacks import all_stacks

TICK = 0.25
LIGHT = 20  # a look at very many processes takes its time: the next one waits so much longer
AGAIN = 10.0  # seconds of either kind until a test that did not heed is told again
HEEDLESS = 6  # told so often, it never will


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("guard")
    group.addoption(
        "--idle",
        type=float,
        default=150.0,
        metavar="S",
        help="seconds in which nothing of a test wants the processor, in all, until it is ended",
    )
    group.addoption(
        "--busy",
        type=float,
        default=900.0,
        metavar="S",
        help="seconds of the processor that a test may use until it is ended",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Guard(config))


class Stuck(BaseException):
    """Not an `Exception`: what a test catches in the course of its story must not catch this."""


class Watch:
    """What one test has spent."""

    def __init__(self, idle: float, busy: float) -> None:
        self.told = 0  # how often it was to end
        self._meter = Meter()
        self._idle, self._most_idle = 0.0, idle
        self._busy, self._most_busy = 0.0, busy
        self._again = min(AGAIN, idle, busy)

    def look(self, most: float) -> str:
        """Why the test is to be ended now; empty, if it is not.

        If more than `most` has passed, it was this process that was not let run.
        """
        spent = self._meter.read()
        self._idle = max(0.0, self._idle + min(spent.passed, most) - spent.wanted)
        self._busy += spent.ran
        if self._idle >= self._most_idle:
            reason = f"nothing of it wanted the processor, for {self._idle:.0f} s in all"
        elif self._busy >= self._most_busy:
            reason = f"it has used the processor for {self._busy:.0f} s"
        else:
            return ""
        self.told += 1
        self._most_idle = max(self._most_idle, self._idle + self._again)
        self._most_busy = max(self._most_busy, self._busy + self._again)
        return reason


class Guard:
    """A thread that counts, and a signal that ends."""

    def __init__(self, config: pytest.Config) -> None:
        self._idle: float = config.option.idle
        self._busy: float = config.option.busy
        self._is_worker = hasattr(config, "workerinput")  # then somebody else has the results
        self._stderr = os.dup(2)  # as it is now: later, what a test writes there is captured
        self._running = ""  # the test whose phase it is; only the main thread sets it
        self._test = 0  # counts them, as a test may be run twice
        self._verdict: tuple[int, str] | None = None
        self._struck: list[str] = []  # what was said to the phase under way

    def pytest_sessionstart(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return  # signals, by which tests are ended, come to the main thread only
        self._main = threading.get_ident()
        signal.signal(signal.SIGALRM, self._strike)
        threading.Thread(target=self._watch, name="guard of the tests", daemon=True).start()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self._test += 1
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None]:
        yield from self._phase(item)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        yield from self._phase(item)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None]:
        yield from self._phase(item)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self,
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """A phase that swallowed its end, and went on to pass, has failed all the same."""
        report = yield
        if self._struck and not report.failed:
            report.outcome, report.longrepr = "failed", self._struck[0]
        self._struck.clear()
        return report

    def _phase(self, item: pytest.Item) -> Generator[None]:
        self._running = item.nodeid
        try:
            yield
        finally:
            self._running = ""

    def _watch(self) -> None:
        test, watch, pause = 0, Watch(self._idle, self._busy), TICK
        while True:
            time.sleep(pause)
            began, running = time.monotonic(), self._running
            if test != self._test:
                test, watch = self._test, Watch(self._idle, self._busy)
            elif running and (reason := watch.look(most=2 * pause)):
                self._end(test, watch, f"{running} is stuck: {reason}")
            pause = max(TICK, LIGHT * (time.monotonic() - began))

    def _end(self, test: int, watch: Watch, reason: str) -> None:
        if watch.told > HEEDLESS and self._is_worker:
            words = f"\n{reason}, and it does not heed\n{all_stacks()}\n"
            os.write(self._stderr, words.encode())
            os._exit(1)
        self._verdict = test, reason
        signal.pthread_kill(self._main, signal.SIGALRM)

    def _strike(self, _: int, frame: FrameType | None) -> None:
        verdict, self._verdict = self._verdict, None
        if self._running and verdict and verdict[0] == self._test:
            words = f"{verdict[1]}\n{all_stacks(frame)}"
            self._struck.append(words)
            raise Stuck(words)
