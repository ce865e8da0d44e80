"""The home of tasks: each has an owner, which can name it, cancel it and wait for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from lastword.core.brief import cut
from lastword.errors import EngineFailed, LastwordError, RuntimeClosed
from lastword.runtime.checks import encodable

log = logging.getLogger("lastword")
T = TypeVar("T")
_LONGEST = 10_000  # letters of an error


class Tasks:
    """The tasks of one owner. What a loud one's tasks raise is logged as an error."""

    __slots__ = ("_living", "_loud", "_owner")

    def __init__(self, owner: str = "", *, loud: bool = False) -> None:
        self._living: dict[asyncio.Task[Any], str] = {}  # in order of their start
        self._owner = owner
        self._loud = loud

    def start(self, work: Coroutine[Any, Any, T], *, name: str) -> asyncio.Task[T]:
        """Begin; the task is owned until it ends."""
        # not by the loop's factory: an eager one would run it before its owner knows of it
        full = f"{self._owner} {name}".strip()
        task = asyncio.Task(work, loop=asyncio.get_running_loop(), name=full)
        self._living[task] = name
        task.add_done_callback(self._ended)
        return task

    @property
    def living(self) -> tuple[asyncio.Task[Any], ...]:
        return tuple(self._living)

    @property
    def names(self) -> tuple[str, ...]:
        """What the living ones are called, among themselves."""
        return tuple(self._living.values())

    def cancel(self) -> None:
        """Ask all of them to end."""
        for task in self.living:
            task.cancel()

    def _ended(self, task: asyncio.Task[Any]) -> None:
        del self._living[task]
        if not task.cancelled() and (error := task.exception()):
            level = logging.ERROR if self._loud else logging.DEBUG
            log.log(level, "task failed task=%s error=%s", task.get_name(), type(error).__name__)


async def ended(tasks: tuple[asyncio.Task[Any], ...], seconds: float) -> bool:
    """Wait until all have ended, at most so long; whether they have."""
    if tasks:
        await asyncio.wait(tasks, timeout=max(seconds, 0))
    return all(task.done() for task in tasks)


async def unless_closed(duty: asyncio.Task[T], error: LastwordError | None = None) -> T:
    """Wait for something the runtime does; if it was given up, the runtime is being closed."""
    try:
        return await asyncio.shield(duty)
    except asyncio.CancelledError:
        here = asyncio.current_task()
        if duty.cancelled() and not (here and here.cancelling()):
            closed = RuntimeClosed("this runtime was closed before it was done")
            raise (error or closed) from None
        raise


def described(error: BaseException) -> str:
    """An error in a line, which is not endless; an engine that says why says enough."""
    try:
        if isinstance(error, EngineFailed):
            return encodable(cut(str(error), _LONGEST))
        return encodable(cut(f"{type(error).__name__}: {error}", _LONGEST))
    except Exception:  # noqa: BLE001 - an error of a team's own must not be able to keep a run going
        return type(error).__name__


def kind_of(error: BaseException | str) -> str:
    """What of an error the model may be told in every later turn: nobody's words are in it."""
    if isinstance(error, str):
        return error
    return (isinstance(error, EngineFailed) and error.kind) or type(error).__name__
