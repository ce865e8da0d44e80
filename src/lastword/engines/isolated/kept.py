"""Processes that have done a run, and wait for the next one of the same session.

What such a process has made (connections, caches) is there for the next run. It is kept only if
its run ended by itself, and if nobody else is in there: no process by the kernel's word, no task
and no thread by its own. Meanwhile it is held still, so that nothing of a run is executed between
runs, whatever it says. After a stop or a takeover it is never used again.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from lastword.engines.isolated.worker import RunWorker
from lastword.runtime.adopting import Adopted
from lastword.runtime.run import Run

_IDLE = 60.0  # seconds
_MOST = 16


class _One(NamedTuple):
    worker: RunWorker
    adopted: Adopted
    leaves: asyncio.TimerHandle


class KeptWorkers:
    """Those of one engine."""

    def __init__(self, reuse: int) -> None:
        self._reuse = reuse
        self._of: dict[tuple[str, str], _One] = {}  # the oldest first

    def may_stay(self, run: Run, worker: RunWorker, other: str) -> bool:
        """Whether it may do another run after this one: the person's, by its own engine."""
        return worker.runs <= self._reuse and not other and run.above is None

    def keep(self, run: Run, worker: RunWorker, adopted: Adopted) -> bool:
        """It has done this run, and says that nothing is left in it."""
        if len(worker.warden.living()) != 1 or not worker.fit or not adopted.let_go():
            return False
        worker.hold_still()
        who = (run.session, run.epoch)
        leaves = asyncio.get_running_loop().call_later(_IDLE, self._leave, who)
        self._of[who] = _One(worker, adopted, leaves)
        if len(self._of) > _MOST:
            self._leave(next(iter(self._of)))
        return True

    def of(self, run: Run) -> RunWorker | None:
        """The one that has done the run before this, if it may do this one."""
        who = (run.session, run.epoch)
        if not (one := self._of.get(who)):
            return None
        if not one.worker.fit or not run.may_have(one.adopted):
            self._leave(who)
            return None
        del self._of[who]
        one.leaves.cancel()
        one.worker.go_on()
        return one.worker

    def close(self) -> None:
        """Nobody needs them any more."""
        while self._of:
            self._leave(next(iter(self._of)))

    def _leave(self, who: tuple[str, str]) -> None:
        one = self._of.pop(who)
        one.leaves.cancel()
        one.worker.done_with()
        one.worker.kill()
