"""Where the framework has the code of others act, it reads a method of an object and calls it.

The method may be the class's own or a mixin's, may have been put on the object, or on the class a
moment ago, or be made up as it is read. So it is checked what is read, whatever it is. Functions of
classes are changed besides, for those that are reached by `super()`. The framework's own that only
pass a call on are left as they are: what they call is read in its turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import FunctionType, MethodType
from typing import Any, TypeAlias, cast
from weakref import WeakSet

Check: TypeAlias = Callable[[Callable[..., Any], int], Callable[..., Any]]
"""Gives the function with a check; the number is where its arguments begin, after its object."""

checked: WeakSet[Callable[..., Any]] = WeakSet()
"""Functions that have their check."""


class Seam:
    """The methods of one kind of objects."""

    def __init__(
        self,
        root: type[Any],
        checks: Mapping[str, Check],
        *,
        passes_on: tuple[str, ...] = (),  # modules of the framework's
        leads_to: tuple[str, ...] = (),  # attributes in which there are more such objects
        others: Seam | None = None,  # or of another kind
    ) -> None:
        self._root = root
        self._checks = checks
        self._passes_on = passes_on
        self._leads_to = leads_to
        self._others = others or self
        self._reads: WeakSet[type[Any]] = WeakSet()  # whose reading is held
        self._hold_reads(root)

    def hold(self) -> None:
        """Hold all kinds there are by now; what is made later is held as it is read."""
        homes = {home: kind for kind in _kinds(self._root) for home in kind.__mro__}
        for home, kind in homes.items():  # each once, whatever is made of it
            self._hold_home(home, kind)

    def hold_kind(self, kind: type[Any]) -> None:
        """Hold one, which may have nothing in common with the others but its methods."""
        for home in kind.__mro__:
            self._hold_home(home, kind)

    def _hold_home(self, home: type[Any], kind: type[Any]) -> None:
        """Hold what of a kind is written there."""
        if home in (object, self._root):
            return
        own = vars(home)
        if "__getattribute__" in own or not issubclass(kind, self._root):
            self._hold_reads(home)
        for name in self._checks.keys() & own.keys():
            check, function = self._checks[name], own[name]
            if isinstance(function, FunctionType) and self._wants(function):
                with suppress(TypeError):  # a kind that cannot be changed is held as it is read
                    setattr(home, name, _with(check, function, 1))

    def _hold_reads(self, kind: type[Any]) -> None:
        if kind in self._reads:
            return
        self._reads.add(kind)
        unheld = cast("Callable[[Any, str], Any]", kind.__getattribute__)
        known = frozenset((*self._checks, *self._leads_to))

        def read(self_: Any, name: str) -> Any:  # noqa: ANN401 - whatever there is
            if name not in known:  # thousands of these are read in a turn
                return unheld(self_, name)
            if name in self._checks:
                return self._held(_found(unheld, self_, name), self._checks[name])
            found = unheld(self_, name)
            self._others.hold_kind(cast("type[Any]", type(found)))
            return found

        with suppress(TypeError):
            kind.__getattribute__ = cast("Any", read)

    def _held(self, found: Any, check: Check) -> Any:  # noqa: ANN401
        function = found.__func__ if isinstance(found, MethodType) else found
        return _with(check, found, 0) if self._wants(function) else found

    def _wants(self, function: Any) -> bool:  # noqa: ANN401
        """Whether it has no check yet, and does not only pass on."""
        if not isinstance(function, FunctionType):
            return callable(function)
        home = str(function.__globals__.get("__name__"))  # of its code, whatever it wraps
        return function not in checked and not home.startswith(self._passes_on)


def _with(check: Check, function: Callable[..., Any], begin: int) -> Callable[..., Any]:
    held = check(function, begin)
    checked.add(held)
    return held


def _found(
    unheld: Callable[[Any, str], Any],
    of: Any,  # noqa: ANN401
    name: str,
) -> Any:  # noqa: ANN401
    try:
        return unheld(of, name)
    except AttributeError:
        made_up = getattr(cast("type[Any]", type(of)), "__getattr__", None)
        if made_up is None:
            raise
        return made_up(of, name)


def _kinds(of: type[Any]) -> Iterator[type[Any]]:
    for kind in of.__subclasses__():
        yield kind
        yield from _kinds(kind)
