"""A call of a Python function in a process of its own, forked by the warden, to be killed."""

from __future__ import annotations

import asyncio
import io
import os
import pickle
import pickletools
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from lastword.errors import WorkerDied
from lastword.processes.command import Command, current_folder
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
) -> Any:  # noqa: ANN401 - whatever the function gives
    """Call it there; give what it gives, raise what it raises. Given up, it is killed."""
    return await make(warden, prepared(function, args, kwargs, name))


async def make(
    warden: Warden,
    work: Command,
    *,
    may_start: Callable[[str], None] = anyone,
    may_act: Callable[[str], None] = anyone,
) -> Any:  # noqa: ANN401 - whatever the function gives
    """Make a call that was prepared."""
    process = await warden.spawn(work, may_start=may_start, may_act=may_act)
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        warden.end(process.id, 0.0)
        raise
    await process.stdout.finished()
    answer = process.stdout.head
    if not answer or code != 0:
        ending = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        raise WorkerDied(f"the process of the {work.name} was ended {ending}")
    try:
        kind, *outcome = _Answer(io.BytesIO(answer)).load()
    except Exception as error:
        raise WorkerDied(f"the {work.name} left an answer that cannot be read") from error
    if kind == "gave":
        return outcome[0]
    raise _as_raised(*outcome)


def _as_raised(error: object, trace: str) -> Exception:
    """What the tool raised, if it is an error; anything else would end more than the tool."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        with suppress(Exception):  # a class of the tool's own may forbid notes
            error.add_note(f"In its process:\n{trace}")
        return error
    return RuntimeError(f"it raised {type(error).__name__} in its process: {error}")


def prepared(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str
) -> Command:
    """A call, ready to be made. Raises TypeError if it cannot be handed to another process."""
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
        cwd=current_folder(),
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
    if not any(argument == "__main__" for _, argument, _ in pickletools.genops(called)):
        return "", ""
    main = sys.modules["__main__"]
    file = str(getattr(main, "__file__", "") or "")
    if not file:
        why = "it, or an argument, is defined in no file"
        raise TypeError(f"the isolated tool {name} cannot be handed to another process: {why}")
    spec = getattr(main, "__spec__", None)
    return (spec.name if spec else ""), file
