"""Every type of a public signature can be imported from a public place."""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ForwardRef, NewType, get_args

import lastword.cells
import lastword.errors
import lastword.processes
import lastword.public
import lastword.types
from lastword.core.story import FACTS

SOURCE = Path(lastword.types.__file__).parent
PLACES = (lastword.public, lastword.types, lastword.processes, lastword.cells)
# between a call and its ledger; what a framework's part of a call is told by; between a run and
# what it asks; a program, for who runs it; a run, and the process in which its engine lives
INSIDE = {"Doubts", "Part", "AskingRun", "OpenCell", "Adopted", "Beginning", "Page", "Served"}
MADE = {lastword.public.Runtime}  # by programs; all else is given to them, or has fields


def members(found: Any) -> Iterator[Any]:
    """All that can be called or read of a public name: what it inherits from us, too."""
    if not inspect.isclass(found):
        yield found
        return
    for kind in found.__mro__:
        if kind.__module__.startswith("lastword."):
            yield kind  # its fields
            for member, value in vars(kind).items():
                if not member.startswith("_") or (member == "__init__" and found in MADE):
                    function: Any = value.fget if isinstance(value, property) else value
                    yield inspect.unwrap(function) if callable(function) else None


def _aliases(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
                yield name
            case _:
                pass


ALIASES = {name for path in SOURCE.rglob("*.py") for name in _aliases(path)}


def types_in(member: Any) -> Iterator[str]:
    """The types of ours that its annotations name, as they are written: an alias is gone once they
    are evaluated. Raises NameError for what is imported for the checker only."""
    known: dict[str, Any] = vars(builtins) | vars(sys.modules[member.__module__])
    for field, written in inspect.get_annotations(member).items():
        text = written.__forward_arg__ if isinstance(written, ForwardRef) else str(written)
        for node in ast.walk(ast.parse(text, mode="eval")):
            if isinstance(node, ast.Name) and not field.startswith("_"):
                if node.id not in known:
                    raise NameError(f"{member.__qualname__}: what {node.id} is, nobody can say")
                yield from _named(node.id, known[node.id])


def _named(name: str, found: Any) -> Iterator[str]:
    if name in ALIASES and not name.startswith("_"):
        yield name
        for inner in get_args(found):
            yield from _named("", inner)
    elif isinstance(found, type | NewType) and found.__module__.startswith("lastword."):
        yield found.__name__


def test_every_type_of_a_public_signature_is_public() -> None:
    known = {*vars(lastword.errors), *(name for place in PLACES for name in place.__all__)}
    missing: set[str] = set()
    for place in (lastword.public, lastword.types):
        for name in place.__all__:
            for member in members(getattr(place, name)):
                if inspect.isfunction(member) or inspect.isclass(member):
                    missing |= set(types_in(member)) - known

    assert missing == INSIDE


def test_every_fact_can_be_imported_from_the_types() -> None:
    public = {*lastword.public.__all__, *lastword.types.__all__}
    assert {fact.__name__ for fact in FACTS} <= public
