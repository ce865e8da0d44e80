"""All that a model is shown of a session, as it stood at one moment.

Of a long conversation nearly everything stands for good: the turns that have ended. They are kept
once, and every `Past` of the session shares them; so to take one costs what is new, and whoever
puts it into other words can go on where they stopped the last time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import overload

from lastword.core.shown import Shown


class ForGood:
    """What stands for good. It only grows; a summary begins another."""

    __slots__ = ("__weakref__", "items")

    def __init__(self, items: Iterable[Shown] = ()) -> None:
        self.items = list(items)


class Past(Sequence[Shown]):
    """What stood for good by then, and what might still change."""

    __slots__ = ("many", "open", "settled")

    def __init__(
        self, settled: ForGood, open: Iterable[Shown] = (), *, many: int | None = None
    ) -> None:
        self.settled = settled
        self.many = len(settled.items) if many is None else many  # of them; more may come
        self.open = tuple(open)

    def __len__(self) -> int:
        return self.many + len(self.open)

    def __iter__(self) -> Iterator[Shown]:
        return chain(islice(self.settled.items, self.many), self.open)

    @overload
    def __getitem__(self, index: int) -> Shown: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Shown, ...]: ...
    def __getitem__(self, index: int | slice) -> Shown | tuple[Shown, ...]:
        if isinstance(index, slice):
            return tuple(self[n] for n in range(*index.indices(len(self))))
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"there is no item {index}: there are {len(self)}")
        return self.settled.items[place] if place < self.many else self.open[place - self.many]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Past):
            return tuple(self) == tuple(other)
        return tuple(self) == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Past{tuple(self)!r}"


def followed_by(past: Sequence[Shown], *items: Shown) -> Sequence[Shown]:
    """The same, and these."""
    if not isinstance(past, Past):
        return (*past, *items)
    return Past(past.settled, (*past.open, *items), many=past.many)
