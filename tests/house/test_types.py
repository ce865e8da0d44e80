"""Every type of a public signature can be imported from a public place."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, NewType, get_args, get_type_hints

import lastword.cells
import lastword.processes
import lastword.public
import lastword.types
from lastword.core.story import FACTS

PLACES = (lastword.public, lastword.types, lastword.processes, lastword.cells)
# between a call and its ledger; what a framework's part of a call is told by
INSIDE = {"Doubts", "Part"}


def members(name: str) -> Iterator[Any]:
    """All that can be called or read of a public name: what it inherits from us, too."""
    found = getattr(lastword.public, name)
    if not inspect.isclass(found):
        yield found
        return
    for kind in found.__mro__:
        if kind.__module__.startswith("lastword."):
            yield kind  # its fields
            for member, value in vars(kind).items():
                if not member.startswith("_"):
                    function: Any = value.fget if isinstance(value, property) else value
                    yield inspect.unwrap(function) if callable(function) else None


def named(hint: Any) -> Iterator[str]:
    if isinstance(hint, type | NewType) and hint.__module__.startswith("lastword."):
        yield hint.__name__
    for inner in get_args(hint):
        yield from named(inner)


def hints_of(member: Any) -> dict[str, Any]:
    try:
        hints = get_type_hints(member)
    except NameError:  # imported for the checker only
        return {}
    return {name: hint for name, hint in hints.items() if not name.startswith("_")}


def test_every_type_of_a_public_signature_is_public() -> None:
    known = {name for place in PLACES for name in place.__all__}
    missing: set[str] = set()
    for name in lastword.public.__all__:
        for member in filter(lambda m: inspect.isfunction(m) or inspect.isclass(m), members(name)):
            missing |= {n for hint in hints_of(member).values() for n in named(hint)} - known

    assert missing == INSIDE


def test_every_fact_can_be_imported_from_the_types() -> None:
    public = {*lastword.public.__all__, *lastword.types.__all__}
    assert {fact.__name__ for fact in FACTS} <= public
