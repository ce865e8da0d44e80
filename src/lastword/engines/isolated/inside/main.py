"""A run's process, from its first line to its last.

It makes its engine, waits for a run, has the engine answer it, and leaves, all at once: threads and
tasks that are left end there. Asked to stop, it says at once that it heard, cancels every task
there is, and leaves when they have unwound; should they not, somebody else sees to that. If its
host has gone, so must it.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import mmap
import os
import pickle
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from typing import Any, ParamSpec, TypeVar

from lastword.engines.isolated.inside.logs import HostLog
from lastword.engines.isolated.inside.post import Post
from lastword.engines.isolated.inside.run import RunInside, run_inside_of
from lastword.engines.isolated.line import AT_ONCE, HEARD, RunLine
from lastword.engines.named import engine_made, must_be_engine
from lastword.errors import EngineFailed
from lastword.runtime.beginning import Beginning
from lastword.runtime.hold import Hold
from lastword.runtime.run import Engine
from lastword.runtime.tasks import Tasks, ended

_THREADS = 0.25  # seconds in which a tool's thread may end, once the rest has unwound
_DELIVERIES = 3.0  # seconds that a sink in here has to end what it has begun
_LONGEST = 10_000  # letters of an error
_OURS = "lastword"  # threads that wait for work
P = ParamSpec("P")
R = TypeVar("R")


def main(fds: list[int], told: dict[str, str]) -> None:
    """Serve the host that started this, and never return."""
    end = socket.socket(fileno=fds[0])
    page = mmap.mmap(fds[1], mmap.PAGESIZE, prot=mmap.PROT_READ)
    os.close(fds[1])
    asyncio.run(_Process(end, page, told["engine"]).serve())


class _Process:
    """This one."""

    def __init__(self, end: socket.socket, page: mmap.mmap, name: str) -> None:
        self._end = end
        self._page = page
        self._name = name
        self._tasks = Tasks()
        self._own: set[asyncio.Task[Any] | None] = set()
        self._run: RunInside | None = None
        self._stopping = False
        self._entered = AsyncExitStack()  # what its engine is had in
        self._is_entered = False
        self._threads = Blocking()

    async def serve(self) -> None:
        line = self._line = RunLine(self._end, believes=True)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._stop)
        loop.set_default_executor(self._threads)
        self._own.add(asyncio.current_task())
        try:
            engine = await self._engine(self._name)
        except BaseException as error:  # noqa: BLE001 - the host tells whoever wants it
            line.send(json.dumps(["unready", *_in_words(error)]).encode())
            await self._leave()
            return
        line.send(json.dumps(["ready"]).encode())
        with suppress(asyncio.CancelledError):
            while await self._did_one(engine):
                pass
        await self._leave()

    async def _engine(self, name: str) -> Engine:
        made, had_in = engine_made(name)
        if had_in is not None:
            self._is_entered = True
            made = await self._entered.enter_async_context(had_in)
        return must_be_engine(made, name)

    async def _did_one(self, engine: Engine) -> bool:
        """Whether another run may come."""
        while True:
            try:
                kind, body = await self._line.next()
            except EOFError:
                return False
            if kind == AT_ONCE:
                continue
            match pickle.loads(body):  # noqa: S301 - the host wrote it
                case ("begin", Beginning() as told, str(name), bool(may_stay)):
                    return await self._answered(engine, told, name, may_stay=may_stay)
                case ("stop",):
                    self._line.send(b"", HEARD)
                    return False
                case _:
                    pass  # for the run before

    async def _answered(
        self, engine: Engine, told: Beginning, name: str, *, may_stay: bool
    ) -> bool:
        post, module = Post(self._line), (name or self._name).partition(":")[0]
        run = self._run = run_inside_of(told, post, self._page, module)
        HostLog(post).take_over()
        post.tell("begun")
        reader = self._tasks.start(self._hear(post), name="line")
        self._own.add(reader)
        try:
            engine = await self._engine(name) if name else engine
        except Exception as error:  # noqa: BLE001 - it fails the run, whatever it is
            post.tell("failed", *_in_words(error), None)
            return False
        main = run.going.main = self._tasks.start(_drive(engine, run), name=f"run {run.id}")
        await asyncio.wait([main])
        if self._stopping:
            await self._unwound(run)
            await self._left()
            return False
        await self._delivered(run)
        if may_stay and not self._is_entered and not main.cancelled() and not main.exception():
            return await self._stays(run, post, reader)
        left = await self._left()
        if main.cancelled():
            post.tell("cancelled")
        elif error := main.exception() or left:
            kind = error.kind if isinstance(error, EngineFailed) else None
            post.tell("failed", *_in_words(error), kind)
        else:
            post.tell("done", False)
        return False

    async def _stays(self, run: RunInside, post: Post, reader: asyncio.Task[None]) -> bool:
        """Whether nothing is left of the run, so that another may come."""
        reader.cancel()
        await asyncio.wait([reader])
        self._own.discard(reader)
        alone = not self._stopping and not run.hold.busy and not self._threads.busy
        alone = alone and asyncio.all_tasks() <= self._own and not _strangers()
        post.tell("done", alone)
        if alone:
            self._run = None
            run.retire()
        return alone

    async def _left(self) -> Exception | None:
        """What its engine was had in; the error that raised."""
        try:
            await self._entered.aclose()
        except Exception as error:  # noqa: BLE001 - it fails the run, whatever it is
            return error
        return None

    async def _hear(self, post: Post) -> None:
        while True:
            try:
                kind, body = await self._line.next()
            except EOFError:
                os._exit(0)
            if kind == AT_ONCE:
                continue  # for who has given up
            message = pickle.loads(body)  # noqa: S301 - the host wrote it
            if message[0] == "stop":
                self._line.send(b"", HEARD)
                self._stop()
            else:
                post.hear(*message)

    def _stop(self) -> None:
        """Cancel whatever there is, once: what the engine started by itself, too. What a sink in
        here has begun may end."""
        if self._run is None:
            os._exit(0)
        if not self._stopping:
            self._stopping = True
            spared = {*self._own, *self._run.going.deliveries.living}
            for task in asyncio.all_tasks() - spared:
                task.cancel()

    async def _unwound(self, run: RunInside) -> None:
        own = {*self._own, asyncio.current_task()}
        while left := tuple(asyncio.all_tasks() - own):
            await asyncio.wait(left)
        await _ended(run.hold, _THREADS)

    async def _delivered(self, run: RunInside) -> None:
        await ended(run.going.deliveries.living, _DELIVERIES)

    async def _leave(self) -> None:
        """At once, with all that is left."""
        await self._line.room(all_of_it=True)
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(0)


async def _ended(hold: Hold, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await hold.ended("tool", "write")


async def _drive(engine: Engine, run: RunInside) -> None:
    run.going.enter()
    answer: Any = engine(run)
    if not inspect.isawaitable(answer):
        raise TypeError(f"the engine must be an async function, and {engine!r} is not")
    await answer


def _in_words(error: BaseException) -> tuple[str, str, str]:
    trace = "".join(traceback.format_exception(error))
    return type(error).__name__, str(error)[:_LONGEST], trace[-_LONGEST:]


class Blocking(ThreadPoolExecutor):
    """Where an event loop does what blocks: whether something is being done."""

    def __init__(self) -> None:
        super().__init__(thread_name_prefix=_OURS)
        self._doing: set[Future[Any]] = set()

    @property
    def busy(self) -> bool:
        return bool(self._doing)

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        doing = super().submit(fn, *args, **kwargs)
        self._doing.add(doing)
        doing.add_done_callback(self._doing.discard)
        return doing


def _strangers() -> list[threading.Thread]:
    """Threads that somebody has started, and that are not known to wait for work."""
    others = (one for one in threading.enumerate() if one is not threading.main_thread())
    return [one for one in others if not one.name.startswith(_OURS)]
