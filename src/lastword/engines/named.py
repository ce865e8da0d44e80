"""An engine by its name, as it is found by whoever cannot be handed it: `module:engine`, or
`module:make`, a plain function without parameters that makes it.

What `make` gives may also be an async context manager: its engine is had for as long as that is
entered, which only a process of its own can do. The other way round, `name_of` says by which name
a process finds an engine that it has.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, cast

from lastword.runtime.fence import is_async
from lastword.runtime.run import Engine


def engine_named(name: str) -> Engine:
    """The engine of that name. Raises ValueError, which says what is missing."""
    made, had_in = engine_made(name)
    if had_in is not None:
        why = "is entered for as long as a run goes on, so each run needs a process"
        raise ValueError(f"what {name} gives {why}: it has to be isolated")
    return must_be_engine(made, name)


def engine_made(name: str) -> tuple[object, AbstractAsyncContextManager[object] | None]:
    """What that name gives; or else what has to be entered for that."""
    module, _, attribute = name.partition(":")
    found: Any = _module(module)
    for part in attribute.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise ValueError(f"the module {module!r} has no {attribute!r}")
    if inspect.isfunction(found) and not is_async(found) and not _parameters(found):
        found = found()
        if isinstance(found, AbstractAsyncContextManager):
            return None, cast("AbstractAsyncContextManager[object]", found)
    return found, None


def name_of(engine: object, module: str) -> str:
    """By which it is found: a function by its own name, anything else by that which it has in this
    module. Raises ValueError if it has none."""
    names = [(getattr(engine, "__module__", ""), getattr(engine, "__qualname__", ""))]
    names += [(module, name) for name, one in vars(sys.modules[module]).items() if one is engine]
    for at, attribute in names:
        found: Any = sys.modules.get(at)
        for part in str(attribute).split("."):
            found = getattr(found, part, None)
        if found is engine:
            return f"{at}:{attribute}"
    why = f"a module's own function, or an object that {module} has"
    raise ValueError(f"another process finds an engine by its name: {why}; {engine!r} is neither")


def must_be_engine(found: object, name: str) -> Engine:
    """What that name gives, if it can be one. Raises ValueError."""
    if not callable(found):
        why = "is no function, so it cannot be an engine, and makes none"
        raise ValueError(f"{name} {why}")  # noqa: TRY004 - a mistake in typing
    return cast("Engine", found)


def _module(name: str) -> object:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0] and error.name != name:
            why = f"{name!r} needs {error.name}, which is not installed"
            raise ValueError(why) from error
        raise ValueError(f"there is no module {name!r} here") from error


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    every = inspect.signature(function).parameters.values()
    return [one for one in every if one.default is one.empty]
