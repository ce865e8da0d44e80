"""Threads that a run's code starts without saying whose they are.

`asyncio.to_thread` and `run_in_executor(None, …)` are what frameworks use for functions that are
not async. They come by the event loop's default executor, in the context of who asked. So that is
one which asks whose it is: inside of a run a thread is fenced as that run's, checked as it begins
and named if it does not end; outside it does what the loop's own did.

No engine has to ask for it: it is so from where a run's calls are kept (`Calls`), and where one is
made (`making`).
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from lastword.runtime.framework import run_inside

P = ParamSpec("P")
R = TypeVar("R")
_LOOKUPS = (socket.getaddrinfo, socket.getnameinfo)  # the loop's own, and no act of anybody's


class HeldThreads(ThreadPoolExecutor):  # asyncio wants this very class
    """A loop's default executor. It has threads of its own only for what is outside of runs."""

    def __init__(self, before: ThreadPoolExecutor | None) -> None:
        super().__init__(thread_name_prefix="asyncio")
        self._before = before  # whose place it has taken

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        run = run_inside()
        if run is not None and fn not in _LOOKUPS:
            return run.executor.submit(fn, *args, **kwargs)
        if self._before is not None:
            return self._before.submit(fn, *args, **kwargs)
        return super().submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait, cancel_futures=cancel_futures)
        if self._before is not None:
            self._before.shutdown(wait, cancel_futures=cancel_futures)


_held: WeakKeyDictionary[asyncio.AbstractEventLoop, HeldThreads] = WeakKeyDictionary()


def hold_threads() -> None:
    """From here on, threads of runs on this event loop are held. It is asked again and again.

    An app may have set an executor of its own since: it is kept, for what is outside of runs. Loops
    that do not say which they have (uvloop) are given this one once, in place of what they had. In
    a thread without an event loop there is nothing to hold.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return
    ours = _held.get(loop)
    now = getattr(loop, "_default_executor", ours)
    if ours is not None and now is ours:
        return
    _held[loop] = HeldThreads(now if isinstance(now, ThreadPoolExecutor) else None)
    loop.set_default_executor(_held[loop])
