"""A thread that serves whoever stands in line.

What is asked is shipped whole: no transaction ever waits for the event loop, and whoever stops
waiting for an answer leaves nothing half done. The thread is a daemon, as one that hangs in a
system call must not keep the program alive.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from lastword.errors import StoreError

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class StoreJob:
    """Something asked, and what came of it."""

    work: Callable[[Any], Any]  # it is given a connection
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    durable: bool = True  # whether it has to be on the disk before it is answered
    last: bool = False  # the line ends behind it
    result: Any = None
    error: Exception | None = None

    def answer(self) -> None:
        if self.future.done():
            return  # nobody waits any more; it was done all the same
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class Line:
    """Hands what waits to `serve`, at most so much `at_once`, and calls `idle` every so often.

    At the end it calls `finish`, also in its own thread.
    """

    def __init__(
        self,
        name: str,
        serve: Callable[[list[StoreJob]], None],
        finish: Callable[[], None],
        *,
        at_once: int = 1,
        idle: Callable[[], None] | None = None,
        every: float | None = None,
    ) -> None:
        self._serve = serve
        self._finish = finish
        self._at_once = at_once
        self._idle = idle
        self._every = every
        self._waiting: queue.SimpleQueue[StoreJob | None] = queue.SimpleQueue()
        self.closed = False
        self._process = os.getpid()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def ask(self, work: Callable[[Any], T], *, durable: bool = True) -> asyncio.Future[T]:
        """Put something in line. It is done even if nobody waits for it any more."""
        if self.closed:
            raise StoreError("the store has been closed, so this was not done")
        if os.getpid() != self._process:
            raise StoreError("the store was opened before a fork; open another one in the child")
        return self._put(work, durable=durable)

    def nudge(self) -> None:
        """Call `idle` now. Any thread may ask."""
        self._waiting.put(None)

    def end(self) -> asyncio.Future[None]:
        """Take nothing more. Done when everything in line is, and the thread leaves."""
        self.closed = True
        return self._put(lambda _: None, last=True)

    def _put(
        self, work: Callable[[Any], Any], *, durable: bool = True, last: bool = False
    ) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        job = StoreJob(work, loop, loop.create_future(), durable, last)
        self._waiting.put(job)
        return job.future

    def _run(self) -> None:
        while True:
            jobs = self._take()
            if asked := [job for job in jobs if not job.last]:
                self._do(asked)
            elif self._idle and not jobs:
                with suppress(Exception):  # the thread must live; whoever asks next will hear
                    self._idle()
            for job in jobs:
                if job.last:
                    with suppress(Exception):
                        self._finish()
                    _tell(job.loop, [job])
                    return

    def _take(self) -> list[StoreJob]:
        """Everything that waits; nothing, if nothing came for so long, or there was a nudge."""
        with suppress(queue.Empty):
            job = self._waiting.get(timeout=self._every)
            jobs: list[StoreJob] = []
            with suppress(queue.Empty):
                while job:
                    jobs.append(job)
                    full = len(jobs) == self._at_once or job.last
                    job = None if full else self._waiting.get_nowait()
            return jobs
        return []

    def _do(self, jobs: list[StoreJob]) -> None:
        try:
            self._serve(jobs)
        except BaseException as error:  # noqa: BLE001 - the thread must live, and they must hear
            for job in jobs:
                job.error = StoreError(f"the store failed: {error!r}")
        for loop in {job.loop for job in jobs}:
            _tell(loop, [job for job in jobs if job.loop is loop])


def _tell(loop: asyncio.AbstractEventLoop, jobs: list[StoreJob]) -> None:
    with suppress(RuntimeError):  # the loop was closed, and everybody who waited in it has gone
        loop.call_soon_threadsafe(_answer, jobs)


def _answer(jobs: list[StoreJob]) -> None:
    for job in jobs:
        job.answer()
