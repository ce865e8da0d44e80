"""A call of a Python function in a process of its own, forked by the warden, to be killed."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
from collections.abc import Callable
from typing import Any

from lastword.errors import WorkerDied
from lastword.processes.command import Command
from lastword.processes.warden import Warden, anyone

_NO_LIMIT = 1 << 60  # what a tool gives back is kept whole, as it would be without a process


async def call(
    warden: Warden,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    name: str,
    may_start: Callable[[str], None] = anyone,
    may_act: Callable[[str], None] = anyone,
) -> Any:  # noqa: ANN401 - whatever the function gives
    """Call it there; give what it gives, raise what it raises. Given up, it is killed."""
    command = _command(function, args, kwargs, name)
    process = await warden.spawn(command, may_start=may_start, may_act=may_act)
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        warden.end(process.id, 0.0)
        raise
    await process.stdout.finished()
    answer = process.stdout.head
    if not answer:
        ending = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        raise WorkerDied(f"the process of the isolated tool {name} was ended {ending}")
    outcome = pickle.loads(answer)  # noqa: S301 - our own tool wrote it
    if outcome[0] == "gave":
        return outcome[1]
    _, error, trace = outcome
    error.add_note(f"In its process:\n{trace}")
    raise error


def _command(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str
) -> Command:
    try:
        called = pickle.dumps((function, args, kwargs))
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise TypeError(
            f"the isolated tool {name} cannot be handed to another process ({why}); it must be "
            "defined at the top level of a module, and its arguments must be picklable"
        ) from error
    return Command(
        argv=tuple(sys.argv),
        name=f"isolated tool {name}",
        cwd=os.getcwd(),  # noqa: PTH109 - a str
        env=dict(os.environ),
        stdin=pickle.dumps((_main(function), called)),
        errors="ours",
        output_limit=_NO_LIMIT,
        path=tuple(sys.path),
    )


def _main(function: Callable[..., Any]) -> str:
    """The script to load first, if that is where the tool is defined."""
    if getattr(function, "__module__", "") != "__main__":
        return ""
    return str(getattr(sys.modules["__main__"], "__file__", "") or "")
