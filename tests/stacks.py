"""Where everybody is: the stacks of all threads, and of all tasks of the loop that runs here."""

from __future__ import annotations

import asyncio
import sys
import threading
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import Any

_FAR = ("/_pytest/", "/pluggy/", "/pytest/", "/xdist/", "/execnet/")  # how every test is begun


def all_stacks(here: FrameType | None = None) -> str:
    """`here` is the frame of this thread to begin with, if its own is of no interest."""
    frames = dict(sys._current_frames())  # pyright: ignore[reportPrivateUsage] - documented, for this
    if here:
        frames[threading.get_ident()] = here
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    lines = [
        f"-- thread {names.get(ident, ident)}\n{_told(traceback.extract_stack(frame))}"
        for ident, frame in frames.items()
    ]
    return "\n".join([*lines, *_tasks()])


def _tasks() -> Iterator[str]:
    try:
        tasks = asyncio.all_tasks()
    except RuntimeError:  # no loop runs in this thread
        return
    for task in sorted(tasks, key=lambda task: task.get_name()):
        frames = [(frame, frame.f_lineno) for frame in _awaiting(task.get_coro())]
        stack = traceback.StackSummary.extract(iter(frames))
        yield f"-- task {task.get_name()}\n{_told(stack)}"


def _told(stack: list[traceback.FrameSummary]) -> str:
    ours = [frame for frame in stack if not any(part in frame.filename for part in _FAR)]
    return "".join(traceback.format_list(ours))


def _awaiting(awaited: Any) -> Iterator[FrameType]:
    """The frames of a coroutine, and of what it awaits, from the outermost."""
    while awaited is not None:
        for kind in ("cr", "gi", "ag"):
            if frame := getattr(awaited, f"{kind}_frame", None):
                yield frame
        awaited = next(
            (
                inner
                for name in ("cr_await", "gi_yieldfrom", "ag_await")
                if (inner := getattr(awaited, name, None)) is not None
            ),
            None,
        )
