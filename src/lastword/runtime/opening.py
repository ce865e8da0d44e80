"""An engine that has something of its own: it is opened with its runtime, and closed with it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from lastword.processes import Processes


@runtime_checkable
class OpenedEngine(Protocol):
    """An engine that has something of its own for as long as a runtime is open."""

    def open(self, processes: Processes) -> None: ...
    def close(self) -> None: ...


def open_engine(engine: object, processes: Processes) -> None:
    """Its processes are the runtime's."""
    if isinstance(engine, OpenedEngine):
        engine.open(processes)


def close_engine(engine: object) -> None:
    """Nothing is waited for: the runtime closes its processes next."""
    if isinstance(engine, OpenedEngine):
        engine.close()
