"""The home of threads: daemons, so that one that never returns cannot keep the program alive.

A thread cannot be ended from outside. What runs in one is fenced by its run's hold, and named
in the receipt if it has not returned.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
_IDLE_SECONDS = 2.0


class DaemonThreads(Executor):
    """As many threads as there is work; each waits a little for more before it leaves."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        future: Future[R] = Future()

        def work() -> None:
            if future.set_running_or_notify_cancel():
                _fulfil(future, fn, *args, **kwargs)

        with self._lock:
            if self._idle:
                self._idle -= 1  # taken: that thread will find the work
                self._work.put(work)
                return future
        threading.Thread(target=self._serve, args=([work],), name="lastword", daemon=True).start()
        return future

    def _serve(self, first: list[Callable[[], None]]) -> None:
        work = first.pop()
        while True:
            work()
            del work  # or it lives on, with all that it was done for, while this thread is idle
            with self._lock:
                self._idle += 1
            try:
                work = self._work.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._idle:
                        self._idle -= 1
                        return
                work = self._work.get()  # every thread that waits is spoken for, this one too


def _fulfil(future: Future[Any], fn: Callable[..., Any], *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
    try:
        result = fn(*args, **kwargs)
    except (StopIteration, KeyboardInterrupt, SystemExit) as error:
        # a future cannot hand on the first, and the others would end the program, not the tool
        told = RuntimeError(f"it raised {type(error).__name__} in its thread: {error}")
        told.__cause__ = error
        future.set_exception(told)
    except BaseException as error:  # noqa: BLE001 - whoever waits gets it, whatever it is
        future.set_exception(error)
    else:
        future.set_result(result)
