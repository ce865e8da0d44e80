"""A process that was there before its run: from one step on it is the run's, and ends with it.

In the instant in which the run may not act any more, whoever stops it, in whatever thread, and
whether or not the event loop turns, it is told so: by a page of memory that it looks at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from lastword.processes import Warden
from lastword.processes.served import Served
from lastword.runtime.active_run import ActiveRun


class Page(Protocol):
    """Where the process sees whether it may act."""

    def open(self) -> None: ...
    def shut(self) -> None: ...


class Adopted:
    """A run's process, until the run has ended."""

    def __init__(self, going: ActiveRun, warden: Warden, page: Page) -> None:
        self._going = going
        self._warden = warden
        self._hold = going.hold
        self._shuts = list(_shuts(going))
        self._page = page

    def dropped(self, what: str) -> None:
        """It said this when the run had lost its session."""
        self._hold.drop(what)

    def over(self) -> None:
        """It will not act any more, and needs not be told."""
        with self._hold.lock:
            self._shut()

    def let_go(self) -> bool:
        """The run has ended by itself, and this process is nobody's; not if it was stopped."""
        with self._hold.lock:
            free = self._hold.current and not self._going.wardens.closed
            if free:
                self._shut()
                self._going.processes.let_go(self._warden)
        return free

    def may_go_on(self, going: ActiveRun) -> bool:
        """Whether it may be that run's, once it was let go: of the same session, as it was loaded
        then, in which nobody has stopped or taken over anything since."""
        return going.home is self._going.home and not self._hold.fenced

    def _shut(self) -> None:
        for shuts in self._shuts:
            shuts.discard(self._page.shut)
        self._page.shut()


def adopt(going: ActiveRun, warden: Warden, who: Served, page: Page, grace: float) -> Adopted:
    """Have it be the run's. Raises `Superseded`, and then it is nobody's still."""
    going.hold.must_hold("this start")
    with going.hold.lock:
        current = going.hold.current
        if current:
            for shuts in _shuts(going):
                shuts.add(page.shut)
            page.open()
    if not current:  # a stop from another thread was quicker
        going.hold.must_hold("this start")
    going.processes.adopt(warden, who, grace)
    return Adopted(going, warden, page)


def _shuts(going: ActiveRun) -> Iterator[set[Callable[[], object]]]:
    """Of its session, and of those above: a stop there ends it in the same instant."""
    one: ActiveRun | None = going
    while one is not None:
        yield one.home.shuts
        one = one.parent
