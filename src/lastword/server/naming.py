"""The ids in a value, by other names: found by their types, so that none is left out.

They are changed where ids are. What is told in words, like a command line, may have the same
letters in it and stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass, replace
from functools import cache
from typing import Any, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from lastword.core.model import CallId, RunId, SessionId
from lastword.core.plain import written

T = TypeVar("T")
Naming: TypeAlias = Callable[[str], str]
_Change: TypeAlias = Callable[[Any, Naming], Any]
_IDS = (SessionId, RunId, CallId)


def renamed(value: T, name: Naming) -> T:
    """The same value, with every session, run and call in it as `name` has it."""
    places = _places(type(value)).items()
    changed = {field: change(getattr(value, field), name) for field, change in places}
    held: Any = value
    return replace(held, **changed) if changed else value


@cache
def _places(kind: type[Any]) -> dict[str, _Change]:
    hints = get_type_hints(kind)
    found = {one.name: _change(hints[one.name]) for one in written(kind)}
    return {field: change for field, change in found.items() if change}


def _change(hint: Any) -> _Change | None:  # noqa: ANN401 - any annotation
    if hint in _IDS:
        return lambda held, name: name(held)
    if is_dataclass(hint):
        return renamed
    if get_origin(hint) is tuple:
        return _each(_change(get_args(hint)[0]))
    return None


def _each(change: _Change | None) -> _Change | None:
    if change is None:
        return None
    return lambda held, name: tuple(change(one, name) for one in held)
