"""What a run's process says, checked in shape before anything is done for it.

It may be anything: whoever wrote the engine may have made a mistake, or worse. What does not have
the shape that it should have is `Nonsense`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    NamedTuple,
    NewType,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from lastword.core.plain import from_plain, written
from lastword.engines.isolated.line import Nonsense

T = TypeVar("T")
_MOST = 1 << 62  # of a number
_LONGEST = 60  # bytes of what was not done


class Verb(NamedTuple):
    """Something that can be asked for, and what is to come with it."""

    act: Callable[..., Any]
    takes: tuple[Any, ...]


def message_in(body: bytes) -> list[Any]:
    """What is said in a frame."""
    try:
        said: object = json.loads(body)
    except (ValueError, RecursionError):
        raise Nonsense("a frame that is no JSON") from None
    if not isinstance(said, list) or not said:
        raise Nonsense("a frame that is no list")
    return cast("list[Any]", said)


def words_in(body: bytes) -> list[str]:
    """The words in a frame."""
    said = message_in(body)
    if not all(isinstance(word, str) for word in said):
        raise Nonsense("words that are no text")
    return said


def dropped_in(body: bytes) -> str:
    """What a process says that it has not done, as its run may not act."""
    said = body[:_LONGEST].decode(errors="replace")
    return "".join(c for c in said if c.isprintable()) or "something"


def verb_in(verbs: dict[str, Verb], name: object, given: list[Any]) -> Verb:
    """What is asked for, if it comes with what it should."""
    verb = verbs.get(name) if isinstance(name, str) else None
    if verb is None:
        raise Nonsense(f"{str(name)[:40]!r}, which is nothing")
    if len(given) != len(verb.takes) or not all(map(fits, verb.takes, given)):
        raise Nonsense(f"{name!r} with what does not go with it")
    return verb


def value_in(kind: type[T], plain: object) -> T:
    """A value of this type, as it was written."""
    if not fits(kind, plain):
        raise Nonsense(f"no {kind.__name__}")
    return from_plain(kind, cast("dict[str, Any]", plain))


def fits(hint: Any, plain: object) -> bool:  # noqa: ANN401 - one match of any annotation
    """Whether it is what a value of that type is written as."""
    origin, args = get_origin(hint), get_args(hint)
    if isinstance(hint, NewType):
        return fits(hint.__supertype__, plain)
    if isinstance(hint, type) and is_dataclass(hint):
        return _fits_value(hint, plain)
    if origin in (Union, UnionType):
        return any(fits(one, plain) for one in args)
    if origin is Literal:
        return isinstance(plain, str) and plain in args
    if origin in (tuple, list):
        many = cast("list[object]", plain)
        return isinstance(plain, list) and all(fits(args[0], one) for one in many)
    return _fits_plainly(hint, plain)


def _fits_plainly(hint: Any, plain: object) -> bool:  # noqa: ANN401 - any annotation
    if hint in (None, NoneType):
        return plain is None
    if hint is float:
        return isinstance(plain, int | float) and not isinstance(plain, bool)
    if hint is int:
        return type(plain) is int and -_MOST < plain < _MOST
    return hint is Any or (hint in (str, bool, dict) and type(plain) is hint)


def _fits_value(kind: type[Any], plain: object) -> bool:
    if not isinstance(plain, dict):
        return False
    given, hints = cast("dict[str, object]", plain), get_type_hints(kind)
    return {one.name for one in written(kind)} == given.keys() and all(
        fits(hints[name], one) for name, one in given.items()
    )
