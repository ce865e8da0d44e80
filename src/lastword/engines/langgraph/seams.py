"""The places of LangGraph and LangChain that are held to a run, and that they are where they were.

A compiled graph has no place for hooks, and its nodes call models and tools as they like. So it is
checked where every call of a tool, every request to a model and every write of a checkpoint goes
by, whoever makes it. Outside of lastword's runs each does what it did. A framework that has moved
one of them is an error when an engine is made, and never a tool that nobody holds.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any, TypeAlias, cast
from weakref import WeakSet

from lastword.engines.kit.moved import moved

Check: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Gives the function with a check."""

TRIED = {"langgraph": "1.2.22", "langgraph-checkpoint": "4.3.2", "langchain-core": "1.7.2"}
_MARK = "_lastword_held"


def hold(home: type[Any], name: str, check: Check, *takes: str) -> None:
    """Put a check around a method of the framework's own, once. `takes` are its parameters."""
    found = vars(home).get(name)
    if is_held(found):
        return
    must_take(home, name, *takes)
    setattr(home, name, _with(check, cast("Callable[..., Any]", found)))


def must_take(home: type[Any], name: str, *takes: str) -> None:
    """Raise `FrameworkMoved` if there is no such method, or it does not take this."""
    found = vars(home).get(name)
    given = tuple(inspect.signature(found).parameters) if isinstance(found, FunctionType) else ()
    if not set(takes) <= set(given) or given[:1] != ("self",):
        there = f"takes {', '.join(given) or 'nothing'}" if found is not None else "is not there"
        where = f"{home.__module__}.{home.__name__}.{name}"
        raise moved(f"{where} should take {', '.join(takes)}, and {there}", TRIED)


class Kinds:
    """The classes of one kind, of the framework and of others, whose methods have a check."""

    def __init__(self, root: type[Any], checks: Mapping[str, Check]) -> None:
        self._root = root
        self._checks = checks
        self._held: WeakSet[type[Any]] = WeakSet()

    def hold_all(self) -> None:
        """Those that there are by now."""
        for kind in _kinds(self._root):
            self.hold(kind)

    def hold(self, kind: type[Any]) -> None:
        """One, with the classes that it has its methods from."""
        if kind in self._held:
            return
        self._held.add(kind)
        for home in kind.__mro__:
            if home in self._root.__mro__:
                continue
            for name, check in self._checks.items():
                found = vars(home).get(name)
                if isinstance(found, FunctionType) and not is_held(found):
                    setattr(home, name, _with(check, found))


def is_held(function: object) -> bool:
    """Whether it has its check; whoever wraps it properly keeps the mark."""
    return bool(getattr(function, _MARK, False))


def _with(check: Check, function: Callable[..., Any]) -> Callable[..., Any]:
    held = check(function)
    setattr(held, _MARK, True)
    return held


def _kinds(of: type[Any]) -> Iterator[type[Any]]:
    for kind in of.__subclasses__():
        yield kind
        yield from _kinds(kind)
