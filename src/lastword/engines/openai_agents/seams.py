"""The names of openai-agents that are held, each with what it takes.

Whether they are all there, and take what they took, is asked before the first of them is changed,
and whenever an engine is made. So a framework that has moved one is an error at the start, never a
tool that nobody holds.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

from lastword.engines.kit.moved import moved

TRIED = {"openai-agents": "0.24.0"}
Wrap: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]

_held: set[Any] = set()


class HeldName(NamedTuple):
    """A function of a module, or of a class in it (`agents.run:AgentRunner`)."""

    home: str
    name: str
    takes: tuple[str, ...]
    wrap: Wrap

    def found(self) -> tuple[Any, Any]:
        """Where it is, and what is there."""
        module, _, inside = self.home.partition(":")
        try:
            home: Any = import_module(module)
            if inside:
                home = getattr(home, inside)
            function = getattr(home, self.name)
            given = inspect.signature(function).parameters
        except (ImportError, AttributeError, TypeError, ValueError) as error:
            raise moved(f"{self.home} has no {self.name}", TRIED) from error
        if missing := [name for name in self.takes if name not in given]:
            raise moved(f"{self.home}.{self.name} takes no {', '.join(missing)}", TRIED)
        return home, function

    def hold(self) -> None:
        """From now on it is checked, wherever there is a run of lastword's."""
        home, unheld = self.found()
        if unheld in _held:
            return
        held = wraps(unheld)(self.wrap(unheld))
        _held.add(held)
        bound = isinstance(inspect.getattr_static(home, self.name), classmethod)
        setattr(home, self.name, staticmethod(held) if bound else held)


def hold_all(seams: Iterable[HeldName]) -> None:
    """All of them, or none."""
    there = list(seams)
    for seam in there:
        seam.found()
    for seam in there:
        seam.hold()
