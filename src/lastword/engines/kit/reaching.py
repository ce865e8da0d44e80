"""Where the code of others begins; the check is there, and so is whose call it is.

Between a framework's order and a tool's first line are hooks, wrappers and threads to be started,
all of which may wait. So an engine says which call it is making (`making`), and asks once more in
the places where the tool's own code is reached (`reached`). Outside of a run both do nothing.

Which run that is, is known to `runtime.asking` and to nobody else.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from lastword.engines.kit.threads import hold_threads
from lastword.runtime.executor import Part
from lastword.runtime.framework import ForFrameworks, run_inside


class Counted(Protocol):
    """A call that is being made: the ledger's, or one that only the run counts."""

    def under_way(self) -> AbstractContextManager[Part]: ...


@dataclass(frozen=True, slots=True)
class _Making:
    call: Counted
    run: ForFrameworks | None  # whose call it is: a run that is started in it makes its own


_making: ContextVar[_Making | None] = ContextVar("lastword_making", default=None)


@contextmanager
def making(call: Counted) -> Generator[None]:
    """What is reached inside belongs to this call."""
    run = run_inside()
    if run is not None:
        hold_threads()
    token = _making.set(_Making(call, run))
    try:
        yield
    finally:
        _making.reset(token)


def is_making(run: ForFrameworks) -> bool:
    """Whether this is inside of a call of this run's."""
    made = _making.get()
    return made is not None and made.run is run


@contextmanager
def reached(name: str) -> Generator[Part]:
    """Around code of others that is a tool, or may be; refused once the run lost its session."""
    if (run := run_inside()) is None:
        yield Part()
        return
    made = _making.get()
    counted = made.call if made and made.run is run else run.acting(name)
    with counted.under_way() as part:
        yield part
