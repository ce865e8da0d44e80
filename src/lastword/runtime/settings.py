"""What a runtime is told when it is made, as it is used.

Each is checked here, once, by an error that names it and says what it could be.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Literal, TypeAlias, get_args

from lastword.core.model import Policy, QueueOnStop, Settings
from lastword.core.shown import PARTIAL, Partial
from lastword.core.value import value
from lastword.processes import Level, Processes
from lastword.processes.inside.worker import LOADING
from lastword.processes.levels import AUTO, GRACE
from lastword.runtime.active_run import Hears, Listener
from lastword.runtime.checks import must_be_count, must_be_name, must_be_one_of, must_be_seconds
from lastword.runtime.fence import LONGEST_PACE
from lastword.runtime.run import Sink
from lastword.stores.contract import Store
from lastword.stores.opening import open_store

OnRestart: TypeAlias = Literal["wait", "run"]


@value
class RuntimeSettings:
    """What holds for all of a runtime's sessions, and what does if nobody says otherwise."""

    partial: Partial = PARTIAL
    on_restart: OnRestart = "wait"  # what was accepted and had not begun when a process died
    grace: float = GRACE  # seconds between asking a process and killing it, unless it has its own
    deadline: float = GRACE + 1.0  # seconds a stop may take to answer
    stall_after: float | None = 1.0  # seconds after which the watchdog acts; None: there is none
    feed_limit: int = 1000  # events a session's feed holds for late watchers
    rest: float = 60.0  # seconds for which an idle session stays in memory


USUAL = RuntimeSettings()


def settings_of(
    on_message: Policy,
    queue_on_stop: QueueOnStop,
    queue_limit: int,
    stoppers: Collection[str] | None,
) -> Settings:
    """What holds for each session."""
    must_be_one_of(on_message, get_args(Policy), "on_message")
    must_be_one_of(queue_on_stop, get_args(QueueOnStop), "queue_on_stop")
    must_be_count(queue_limit, "queue_limit", least=1)
    return Settings(on_message, queue_on_stop, queue_limit, stoppers=stoppers_of(stoppers))


def runtime_settings_of(
    *,
    partial: Partial,
    on_restart: OnRestart,
    grace: float | None,
    deadline: float | None,
    stall_after: float | None,
    feed_limit: int,
    rest: float,
) -> RuntimeSettings:
    """What holds for all of them."""
    must_be_one_of(partial, get_args(Partial), "partial")
    must_be_one_of(on_restart, get_args(OnRestart), "on_restart")
    must_be_count(feed_limit, "feed_limit", least=1)
    must_be_seconds(rest, "rest")
    if stall_after is not None:
        must_be_seconds(stall_after, "stall_after")
    times = _times_of(grace, deadline)
    return RuntimeSettings(partial, on_restart, *times, stall_after, feed_limit, rest)


def must_not_be_loading() -> None:
    """An error where a script is only loaded to find something in it."""
    if LOADING in os.environ:
        raise RuntimeError(
            "this script is being loaded to find an isolated tool in it, and would start all "
            "over; put what starts it under `if __name__ == '__main__':`"
        )


def processes_of(level: Level | Literal["auto"], own: Processes | None) -> Processes:
    """The caller's, if there are some: they know their level."""
    if own is None:
        return Processes(level)
    if not isinstance(own, Processes):  # pyright: ignore[reportUnnecessaryIsInstance] - for callers that are not checked
        raise TypeError(f"processes must be a Processes, not a {type(own).__name__}")
    if level != AUTO:
        raise ValueError("level is said to the Processes that are given, and not beside them")
    return own


def _times_of(grace: float | None, deadline: float | None) -> tuple[float, float]:
    """A stop answers a second after the last process was to be killed, unless it is told."""
    if grace is not None:
        must_be_seconds(grace, "grace", zero=True)
    if deadline is not None:
        must_be_seconds(deadline, "deadline")
    if deadline is None:
        grace = USUAL.grace if grace is None else grace
        return grace, grace + USUAL.deadline - USUAL.grace
    if grace is None:
        return min(USUAL.grace, deadline * 2 / 3), deadline
    if grace >= deadline:
        raise ValueError(f"grace ({grace} s) must be shorter than deadline ({deadline} s)")
    return grace, deadline


def listener_of(sink: Sink | None, pace: float, hears: Hears) -> Listener | None:
    """The sink, which has to be there for whatever else is said of it."""
    must_be_seconds(pace, "pace", zero=True, most=LONGEST_PACE)
    must_be_one_of(hears, get_args(Hears), "hears")
    if sink is not None:
        return Listener(sink, pace, hears)
    if pace or hears != "words":
        raise ValueError(f"{'pace' if pace else 'hears'} is for a sink, and there is none")
    return None


def store_of(store: Store | str, lease: float | None) -> Store:
    """The store, or the one at that address, with a lease of so many seconds."""
    if lease is not None:
        must_be_seconds(lease, "lease")
    if isinstance(store, str):
        return open_store(store) if lease is None else open_store(store, lease=lease)
    if lease is not None:
        raise TypeError("lease is for a store's address; a Store that is made has its own")
    if not isinstance(store, Store):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise TypeError(f"store must be an address or a Store, not a {type(store).__name__}")
    return store


def stoppers_of(stoppers: Collection[str] | None) -> frozenset[str] | None:
    """Who may stop what others asked for."""
    if isinstance(stoppers, str):
        raise TypeError("stoppers must be a collection of names, not one str")
    if not isinstance(stoppers, Collection | None):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        given = type(stoppers).__name__
        raise TypeError(f"stoppers must be a collection of names, not a {given}")
    for name in stoppers or ():
        must_be_name(name, "a stopper's name")
    return None if stoppers is None else frozenset(stoppers)
