"""An engine by its name, as it is found by whoever cannot be handed it: `module:engine`, or
`module:make`, a plain function without parameters that makes it."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any, cast

from lastword.runtime.fence import is_async
from lastword.runtime.run import Engine


def engine_named(name: str) -> Engine:
    """The engine of that name. Raises ValueError, which says what is missing."""
    module, _, attribute = name.partition(":")
    found: Any = _module(module)
    for part in attribute.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise ValueError(f"the module {module!r} has no {attribute!r}")
    if inspect.isfunction(found) and not is_async(found) and not _parameters(found):
        found = found()
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
