"""Values as plain data, and back, made from their own types: a new field needs nothing here.

What a value neither shows nor is compared by (how to wait for what comes later) is no part of it,
and is not written.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import Field, fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    NewType,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

T = TypeVar("T")
_Read: TypeAlias = Callable[[Any], Any]


@cache
def written(kind: type[Any]) -> tuple[Field[Any], ...]:
    """The fields that make a value what it is."""
    return tuple(field for field in fields(kind) if field.compare or field.repr)


@cache
def _named(kind: type[Any]) -> tuple[str, ...] | None:
    """Their names; None of what is no value."""
    return tuple(field.name for field in written(kind)) if is_dataclass(kind) else None


def to_plain(value: object) -> Any:  # noqa: ANN401 - as JSON has it
    """A value with all of its fields, as JSON has it."""
    if isinstance(value, tuple):
        return [to_plain(one) for one in cast("tuple[object, ...]", value)]
    names = _named(type(value))
    if names is None:
        return value
    return {name: to_plain(getattr(value, name)) for name in names}


def from_plain(kind: type[T], plain: dict[str, Any]) -> T:
    """The value that was written. What it does not know of, it does not read."""
    readers = _readers(kind)
    if unknown := plain.keys() - readers.keys():
        raise ValueError(f"it has {', '.join(sorted(unknown))}")
    return kind(**{name: readers[name](value) for name, value in plain.items()})


@cache
def _readers(kind: type[Any]) -> dict[str, _Read]:
    hints = get_type_hints(kind)
    return {field.name: _reader(hints[field.name]) for field in written(kind)}


def _reader(hint: Any) -> _Read:  # noqa: ANN401, C901, PLR0911 - any annotation
    """What makes a value of that type of what JSON gives back."""
    origin, args = get_origin(hint), get_args(hint)
    if isinstance(hint, NewType):
        return _reader(hint.__supertype__)
    if is_dataclass(hint):
        made = cast("type[Any]", hint)
        return lambda plain: from_plain(made, plain)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return hint
    if origin is tuple and args[1:] == (...,):
        item = _reader(args[0])
        return lambda plain: tuple(map(item, plain))
    if origin is tuple:
        items = tuple(map(_reader, args))
        return lambda plain: tuple(read(one) for read, one in zip(items, plain, strict=True))
    if hint is bytes:
        return base64.b64decode
    if origin in (Union, UnionType) and len(args) == 2 and NoneType in args:
        some = _reader(args[args.index(NoneType) - 1])
        return lambda plain: None if plain is None else some(plain)
    if origin is Literal or hint in (str, int, float, bool):
        return _itself
    raise TypeError(f"a {hint} cannot be read back: nobody has said how")


def _itself(plain: object) -> object:
    return plain
