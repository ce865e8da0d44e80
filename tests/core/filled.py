"""Receipts made from their own types: one for each thing that each field can say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass, replace
from enum import StrEnum
from typing import Any, Literal, NewType, cast, get_args, get_origin, get_type_hints

from lastword.core.model import Generation, Message, Reason, RunId, SessionId, Status
from lastword.core.plain import written
from lastword.core.receipt import Receipt

BASE = Receipt(SessionId("s"), Generation(4), Reason.STOPPED, 1000.0, runs=(RunId("s#1"),))
_UNENDED = (Status.INTENDED, Status.BEGUN)  # no call is so when it has been ended


def receipts(ids: str = "an-id", words: str = "some words") -> Iterator[tuple[str, Receipt]]:
    """The base with one field filled, in every way, with the name of that field."""
    hints = get_type_hints(Receipt)
    for field in written(Receipt):
        for value in variants(hints[field.name], ids, words):
            yield field.name, replace(BASE, **{field.name: value})


def variants(hint: Any, ids: str, words: str) -> list[Any]:
    """Values of a type: one for each way that a person should tell apart."""
    if isinstance(hint, NewType):
        return [ids] if hint.__supertype__ is str else [7]
    if is_dataclass(hint):
        return _parts(cast("type[Any]", hint), ids, words)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return [one for one in hint if one not in _UNENDED]
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    if get_origin(hint) is tuple:
        return [(one,) for one in variants(get_args(hint)[0], ids, words)]
    return {str: [words], bool: [True, False], int: [7], float: [3.5]}[hint]


def _parts(kind: type[Any], ids: str, words: str) -> list[Any]:
    hints = get_type_hints(kind)
    ways = {one.name: variants(hints[one.name], ids, words) for one in written(kind)}
    first = kind(**{name: several[0] for name, several in ways.items()})
    others = [
        replace(first, **{name: one}) for name, several in ways.items() for one in several[1:]
    ]
    return [first] if kind is Message else [first, *others]  # a message has no fate of its own
