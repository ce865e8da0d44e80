"""Every type of a public signature can be imported from a public place."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import lastword.public
import lastword.types
from lastword.core.story import FACTS

# what a program is given, and never makes or names: it is awaited, or passed on
HANDED_OUT = {"Answer", "Part"}


def signatures(name: str) -> Iterator[Any]:
    """The types of all that can be called or read of a public name."""
    found = getattr(lastword.public, name)
    if not inspect.isclass(found):
        yield found
        return
    for member, value in vars(found).items():
        if not member.startswith("_"):
            function: Any = value.fget if isinstance(value, property) else value
            yield inspect.unwrap(function) if callable(function) else None


def named(hint: Any) -> Iterator[type]:
    if isinstance(hint, type) and hint.__module__.startswith("lastword."):
        yield hint
    for inner in get_args(hint):
        yield from named(inner)


def test_every_type_of_a_public_signature_is_public() -> None:
    known = {*lastword.public.__all__, *lastword.types.__all__, *HANDED_OUT}
    missing: set[str] = set()
    for name in lastword.public.__all__:
        for signature in filter(inspect.isfunction, signatures(name)):
            try:
                hints = get_type_hints(signature)
            except NameError:  # imported for the checker only
                continue
            missing |= {t.__name__ for hint in hints.values() for t in named(hint)} - known

    assert missing == {"Doubts"}  # between a call and its ledger


def test_every_fact_can_be_imported_from_the_types() -> None:
    public = {*lastword.public.__all__, *lastword.types.__all__}
    assert {fact.__name__ for fact in FACTS} <= public
