"""A call of a Python function in a process of its own, forked by the warden, to be killed."""

from __future__ import annotations

import asyncio
import io
import os
import pickle
import signal
import sys
from collections.abc import Callable
from typing import Any

from lastword.errors import WorkerDied
from lastword.processes.command import Command
from lastword.processes.inside.worker import NOT_MAIN
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
    if not answer or code != 0:
        ending = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        raise WorkerDied(f"the process of the isolated tool {name} was ended {ending}")
    outcome = _Answer(io.BytesIO(answer)).load()
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
        stdin=pickle.dumps((_main(called, name), called)),
        errors="ours",
        output_limit=_NO_LIMIT,
        path=tuple(sys.path),
    )


class _Answer(pickle.Unpickler):
    """What the worker wrote, in which the script's own classes go by another name."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - as it has it
        return super().find_class("__main__" if module == NOT_MAIN else module, name)


def _main(called: bytes, name: str) -> tuple[str, str]:
    """The script to load first, if something in it is needed: its module's name, and its file."""
    if b"__main__" not in called:
        return "", ""
    main = sys.modules["__main__"]
    file = str(getattr(main, "__file__", "") or "")
    if not file:
        why = "it, or an argument, is defined in no file"
        raise TypeError(f"the isolated tool {name} cannot be handed to another process: {why}")
    spec = getattr(main, "__spec__", None)
    return (spec.name if spec else ""), file
