"""A call of a Python function in a process of its own, forked by the warden, to be killed."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from lastword.core.value import value
from lastword.errors import WorkerDied
from lastword.processes.command import Command, current_folder
from lastword.processes.nursery import Home
from lastword.processes.pickled import Pickled, unpickled
from lastword.processes.warden import Warden, anyone

_NO_LIMIT = 1 << 60  # what a tool gives back is kept whole, as it would be without a process
_MAIN = "__main__"
_AT_ONCE = 1 << 16  # bytes of an answer that are read in no time


@value
class Prepared:
    """A call, ready to be made."""

    command: Command
    home: Home


async def call(
    warden: Warden,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    name: str,
) -> Any:  # noqa: ANN401 - whatever the function gives
    """Call it there; give what it gives, raise what it raises. Given up, it is killed."""
    return await make(warden, await prepared(function, args, kwargs, name))


async def make(
    warden: Warden,
    work: Prepared,
    *,
    may_start: Callable[[str], None] = anyone,
    may_act: Callable[[str], None] = anyone,
) -> Any:  # noqa: ANN401 - whatever the function gives
    """Make a call that was prepared."""
    name = work.command.name
    process = await warden.spawn(work.command, may_start=may_start, may_act=may_act)
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        warden.end(process.id, 0.0)
        raise
    await process.stdout.finished()
    if not process.stdout.total or code != 0:
        ending = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        raise WorkerDied(f"the process of the {name} was ended {ending}")
    much = process.stdout.total > _AT_ONCE
    answer = process.stdout.handed_over()  # raises if nobody may have it: then it is not read
    reading = partial(_read, answer, name)
    kind, *outcome = await asyncio.to_thread(reading) if much else reading()
    may_act("reading of what it gave")
    if kind == "gave":
        return outcome[0]
    raise _as_raised(*outcome)


def _read(answer: deque[bytes | bytearray], name: str) -> Any:  # noqa: ANN401 - whatever it gave
    try:
        return unpickled(answer)
    except BaseException as error:  # whatever it does as it is read ends no more than the call
        raise WorkerDied(f"the {name} left an answer that cannot be read") from error


def _as_raised(error: object, trace: str) -> Exception:
    """What the tool raised, if it is an error; anything else would end more than the tool."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        with suppress(Exception):  # a class of the tool's own may forbid notes
            error.add_note(f"In its process:\n{trace}")
        return error
    return RuntimeError(f"it raised {type(error).__name__} in its process: {error}")


async def prepared(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str
) -> Prepared:
    """A call, ready to be made; what it is given may be much, and is pickled beside the loop.

    Raises TypeError if it cannot be handed to another process.
    """
    called, own = await asyncio.to_thread(_pickled, function, (args, kwargs), name)
    home = _home(own, called.modules, name)
    told = Command(
        argv=tuple(sys.argv),
        name=f"isolated tool {name}",
        cwd=current_folder(),
        env=dict(os.environ),
        stdin=(pickle.dumps(home.main), *called.pieces),
        errors="ours",
        output_limit=_NO_LIMIT,
        path=tuple(sys.path),
    )
    return Prepared(told, home)


def _pickled(function: object, given: object, name: str) -> tuple[Pickled, set[str]]:
    """With the modules that the function itself is found in."""
    called = Pickled()
    try:
        called.add(function)
        own = set(called.modules)
        called.add(given)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise TypeError(
            f"the isolated tool {name} cannot be handed to another process ({why}); it must be "
            "defined at the top level of a module, and its arguments must be picklable"
        ) from error
    return called, own


def _home(own: set[str], everything: set[str], name: str) -> Home:
    """The script, if something in it is needed: it imports the rest. Else where the function is."""
    if _MAIN in everything:
        return Home((_MAIN,), ("",), _script(name))
    strange = {m for m in own if m.partition(".")[0] not in sys.stdlib_module_names}
    modules = tuple(sorted(strange))
    return Home(modules, tuple(map(_file, modules)))


def _file(module: str) -> str:
    return str(getattr(sys.modules.get(module), "__file__", None) or "")


def _script(name: str) -> tuple[str, str]:
    main = sys.modules[_MAIN]
    file = str(getattr(main, "__file__", "") or "")
    if not file:
        why = "it, or an argument, is defined in no file"
        raise TypeError(f"the isolated tool {name} cannot be handed to another process: {why}")
    spec = getattr(main, "__spec__", None)
    return (spec.name if spec else ""), file
