"""What an engine holds of a framework is asked for when the engine is made.

A framework that has moved one of the names, or takes something else there, is an error at the
start, with the versions: never a tool that nobody holds.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from lastword.errors import LastwordError


class FrameworkMoved(LastwordError, ImportError):
    """A framework is of another make than the engine over it, which could hold nothing there."""


class KnownName(NamedTuple):
    """A name of a framework's, dotted where it is inside another, and what it takes at least."""

    module: str
    name: str
    takes: tuple[str, ...] = ()

    def found(self) -> Any:  # noqa: ANN401 - whatever it is
        """What is there; an `ImportError` or an `AttributeError` if nothing is."""
        at: Any = import_module(self.module)
        for part in self.name.split("."):
            at = getattr(at, part)
        return at


def must_be_there(names: Iterable[KnownName], tried: Mapping[str, str]) -> None:
    """Raise `FrameworkMoved` if one of them is gone, or takes something else."""
    if gone := list(_gone(names)):
        raise moved("; ".join(gone), tried)


def _gone(names: Iterable[KnownName]) -> Iterator[str]:
    for one in names:
        try:
            given = inspect.signature(one.found()).parameters
        except (ImportError, AttributeError, TypeError, ValueError):
            yield f"{one.module} has no {one.name}"
            continue
        if missing := [name for name in one.takes if name not in given]:
            yield f"{one.module}.{one.name} takes no {', '.join(missing)}"


def moved(what: str, tried: Mapping[str, str]) -> FrameworkMoved:
    """What is not as it was, of a framework that was tried in these versions."""
    there = ", ".join(f"{name} {_version(name)}" for name in tried)
    known = ", ".join(f"{name} {number}" for name, number in tried.items())
    install = " ".join(f"'{name}=={number}'" for name, number in tried.items())
    return FrameworkMoved(
        f"{what}: {there} is of another make than {known}, which lastword holds. Its tools could "
        f"not be held to their runs, so no engine was made. Run: pip install {install}"
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed)"
