"""What all sessions of a runtime have in common: set once as it opens, and never changed.

What a runtime was told is in `told`, and has its defaults in `settings`: they are written nowhere
else.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from lastword.core.model import SessionId, Settings
from lastword.core.value import value
from lastword.processes import Processes
from lastword.runtime.active_run import ActiveRun, Listener
from lastword.runtime.checks import must_be_seconds
from lastword.runtime.children import Child
from lastword.runtime.clock import Clock
from lastword.runtime.counters import Counters
from lastword.runtime.ledger import BeforeTool
from lastword.runtime.run import Engine
from lastword.runtime.settings import RuntimeSettings
from lastword.runtime.threads import DaemonThreads
from lastword.runtime.tracing import Tracing
from lastword.runtime.watchdog import Watchdog
from lastword.stores.contract import Store

StartChild: TypeAlias = Callable[[SessionId, ActiveRun, str, Engine | None, bool], Awaitable[Child]]


@value
class Shared:
    """Set once, when the runtime is made."""

    loop: AbstractEventLoop  # the one that all of it belongs to
    thread: int  # that one's
    engine: Engine
    sink: Listener | None
    store: Store
    settings: Settings
    clock: Clock
    counters: Counters
    tracing: Tracing | None  # if somebody traces
    threads: DaemonThreads
    processes: Processes
    watchdog: Watchdog | None
    before_tool: BeforeTool | None
    start_child: StartChild
    told: RuntimeSettings

    def grace_of(self, asked: float | None) -> float:
        """How long a process is asked before it is killed."""
        if asked is None:
            return self.told.grace
        must_be_seconds(asked, "grace", zero=True)
        if asked >= self.told.deadline:
            limit = f"the deadline of a stop ({self.told.deadline} s)"
            raise ValueError(f"grace must be shorter than {limit}; it is {asked} s")
        return asked
