"""Every history of a machine that there is, within stated bounds.

A machine takes in an event and returns what comes of it; its fields are immutable values, so that
a copy of it is a moment that was. Its *alphabet* says what may happen next, and holds the bounds.
Its *law* judges each step with what a bystander remembers, and says what has to be turned down.
Any machine that has these is explored: breadth first, so that the first clause found broken comes
with its shortest history; two histories that led to the same are one.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from lastword.errors import LastwordError


class Broken(AssertionError):
    """A clause of the promise did not hold."""


def must(so: bool, clause: str) -> None:
    if not so:
        raise Broken(clause)


class Machine(Protocol):
    """What takes in events. A move that cannot be made raises before any field is touched."""

    def apply(self, event: Any, /) -> list[Any]: ...


M = TypeVar("M", bound=Machine)
E = TypeVar("E")
G = TypeVar("G")  # what is remembered: a ghost


def nothing(_: object) -> tuple[()]:
    """No event follows by itself."""
    return ()


def anything(*_: object) -> None:
    """No event has to be turned down."""


@dataclass(frozen=True, slots=True)
class Alphabet(Generic[M, E, G]):
    """What may happen, within bounds that have a name."""

    name: str
    next: Callable[[M, G], Iterable[E]]
    at_once: Callable[[G], Iterable[E]] = nothing  # what follows on any event, before another can


@dataclass(frozen=True, slots=True)
class Law(Generic[M, E, G]):
    """What each step is held to."""

    memory: G  # before anything happened
    judge: Callable[[M, E, M, list[Any], G], G]  # before, event, after, orders; what is known then
    key: Callable[[M, G], Hashable]  # histories in which it is equal are one
    forbidden: Callable[[M, E, G], type[LastwordError] | None] = anything


@dataclass(frozen=True, slots=True)
class Explored:
    """How far an exploration went."""

    states: int
    transitions: int
    refused: int  # events that the machine had to turn down, and did


def explore(machine: M, alphabet: Alphabet[M, E, G], law: Law[M, E, G]) -> Explored:
    """Walk every history of the machine; raise `Broken` at the first broken clause."""
    start = machine, law.memory
    seen = {law.key(*start)}
    came_from: list[tuple[int, E | None]] = [(-1, None)]
    todo = deque([(0, start)])
    transitions = refused = 0
    while todo:
        at, state = todo.popleft()
        for event in alphabet.next(*state):
            try:
                following = _step(state, event, alphabet, law)
            except Broken as broken:
                raise Broken(_story(alphabet.name, came_from, at, event, broken)) from broken
            if following is state:
                refused += 1
                continue
            transitions += 1
            key = law.key(*following)
            if key not in seen:
                seen.add(key)
                todo.append((len(came_from), following))
                came_from.append((at, event))
    return Explored(len(seen), transitions, refused)


def _step(
    state: tuple[M, G], event: E, alphabet: Alphabet[M, E, G], law: Law[M, E, G]
) -> tuple[M, G]:
    state = _take(state, event, law)
    for following in alphabet.at_once(state[1]):
        state = _take(state, following, law)
    return state


def _take(state: tuple[M, G], event: E, law: Law[M, E, G]) -> tuple[M, G]:
    """What comes of an event; the very same state, if it had to be turned down and was."""
    before, memory = state
    after = copy.copy(before)
    error = law.forbidden(before, event, memory)
    try:
        orders = after.apply(event)
    except LastwordError as raised:
        if type(raised) is not error:
            raise Broken(f"{raised!r} was raised, which nothing forbids") from raised
        if vars(after) != vars(before):
            raise Broken(f"{raised!r} was raised, and yet something was touched") from raised
        return state
    if error is not None:
        raise Broken(f"{error.__name__} was not raised")
    return after, law.judge(before, event, after, orders, memory)


def _story(name: str, came_from: list[tuple[int, E | None]], at: int, event: E, why: Broken) -> str:
    steps = [event]
    while at > 0:
        at, before = came_from[at]
        if before is not None:
            steps.append(before)
    told = "\n  ".join(str(step) for step in reversed(steps))
    return f"{why}\n  within {name}\n  {told}"
