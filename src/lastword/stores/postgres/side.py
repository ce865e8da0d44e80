"""An event loop of the store's own, in a thread of its own.

There the lease is renewed and stops are heard of, also while the program's loop is stalled. What is
asked goes there whole: no transaction ever waits for the program's loop, and whoever stops waiting
for an answer leaves nothing half done. The thread is a daemon, as a database that does not answer
must not keep the program alive.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from lastword.errors import StoreError

T = TypeVar("T")
log = logging.getLogger("lastword")
_PASSES = 3  # turns of the loop in which a connection that was given up is closed


class StoreThread:
    """One store's."""

    def __init__(self, name: str) -> None:
        self.closed = False
        self._process = os.getpid()
        self.loop = asyncio.new_event_loop()
        self.left: concurrent.futures.Future[None] = concurrent.futures.Future()  # by its thread
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            self.loop.close()
            self.left.set_result(None)

    def must_be_open(self) -> None:
        """Raise if nothing can be asked any more."""
        if self.closed:
            raise StoreError("the store has been closed, so this was not done")
        if os.getpid() != self._process:
            raise StoreError("the store was opened before a fork; open another one in the child")

    def ask(self, work: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Future[T]:
        """Have it done there. It is done even if nobody waits for it any more."""
        self.must_be_open()
        doing = asyncio.run_coroutine_threadsafe(work(), self.loop)
        return asyncio.shield(asyncio.wrap_future(doing))

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Have it done there, and wait for nothing. Any thread may ask."""
        asyncio.run_coroutine_threadsafe(work, self.loop).add_done_callback(_ended)

    def end(self) -> None:
        """Take nothing more; what is under way there is given up, and the thread leaves."""
        self.closed = True
        self.loop.call_soon_threadsafe(self._give_up)

    def _give_up(self) -> None:
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.create_task(self._leave())

    async def _leave(self) -> None:
        """When all have unwound, and what they closed is closed."""
        others = asyncio.all_tasks(self.loop) - {asyncio.current_task(self.loop)}
        await asyncio.gather(*others, return_exceptions=True)
        for _ in range(_PASSES):
            await asyncio.sleep(0)
        self.loop.stop()


def _ended(done: concurrent.futures.Future[None]) -> None:
    if not done.cancelled() and (error := done.exception()):
        log.error("the store's thread failed error=%r", error)
