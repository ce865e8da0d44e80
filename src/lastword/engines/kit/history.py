"""What the model is shown, side by side, as every provider's format needs it.

What the model said is one side, what it is told the other; results come first in what it is told,
right behind their calls. Each call has an id of its own that every provider takes. What lastword
itself says stands in brackets, so that the model does not take it for the person's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Literal, NamedTuple, TypeAlias

from lastword.core.model import CallId
from lastword.core.shown import Shown
from lastword.engines.kit.files import Content, Reads, content_of, read_by_all
from lastword.engines.kit.wire import is_id, kept, wire_id
from lastword.runtime.checks import encodable

Item: TypeAlias = dict[str, Any]
_BY_THE_MODEL = ("assistant", "thinking", "call")
_LONGEST_ID = 40  # that every provider takes


class Side(NamedTuple):
    """What was said on one side, until the other spoke."""

    of: Literal["model", "told"]
    items: list[Shown]


def sides(history: Iterable[Shown], whose: str) -> Iterator[Side]:
    """The sides in turn. A thinking that is another's to have back is not among them."""
    given = (item for item in history if item.role != "thinking" or kept(item.native, whose))
    for by_the_model, items in groupby(given, lambda item: item.role in _BY_THE_MODEL):
        yield Side("model" if by_the_model else "told", list(items))


class Ids:
    """What each call is known by: what its provider called it, or what is its own alone."""

    def __init__(self, whose: str) -> None:
        self._whose = whose
        self._own: dict[CallId | None, str] = {}
        self._taken: set[str] = set()

    def of(self, item: Shown) -> str:
        """The id of a call, or of the call that a result is of."""
        if item.role == "call":
            self._own[item.call] = self._name(item)
        return self._own[item.call]

    def _name(self, made: Shown) -> str:
        given = str(kept(made.native, self._whose).get("call_id", ""))
        usable = is_id(given) and len(given) <= _LONGEST_ID and given not in self._taken
        own = given if usable else wire_id(made.call)
        self._taken.add(own)
        return own


def told(item: Shown, reads: Reads = read_by_all) -> list[Content]:
    """What stands on the person's side, with the files that all providers take."""
    if item.role == "user":
        return content_of(item.text, item.message, reads)
    return [f"[{encodable(item.text)}]"]
