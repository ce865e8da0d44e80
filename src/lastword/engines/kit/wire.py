"""Names, ids and texts that every provider takes, whatever a person, a model or a tool said.

Providers refuse a whole request for one thing in it: half of a character, a tool's name or an id of
the wrong letters. The log keeps such things as they were, so they are put right on their way out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, TypeVar, cast

from lastword.core.entries import Native
from lastword.runtime.checks import encodable

T = TypeVar("T")
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_OF_A_NAME = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64
_UNNAMED = "unnamed"


def wire_name(name: str) -> str:
    """A tool's name in letters and length that every provider takes, although nobody has it."""
    return _NOT_OF_A_NAME.sub("_", name)[:_LONGEST_NAME] if name.strip() else _UNNAMED


def is_id(given: str) -> bool:
    """Whether it can be the id of a call."""
    return _ID.fullmatch(given) is not None


def wire_id(id_: object) -> str:
    """An id in letters and length that every provider takes."""
    return f"call_{blake2b(str(id_).encode(errors='replace'), digest_size=12).hexdigest()}"


def native(whose: str, **kept: object) -> Native:
    """What a provider wants back with something, for whoever writes to the same one again."""
    return Native(whose, encodable(json.dumps(kept, ensure_ascii=False, default=str)))


def kept(given: Native | None, whose: str) -> dict[str, Any]:
    """The same, read again; nothing, if it is somebody else's: another would refuse it."""
    return json.loads(given.data) if given and given.engine == whose else {}


def safely(value: T) -> T:
    """The value itself, if every text in it can be sent; otherwise one in which it can."""
    given: Any = value
    match given:
        case str():
            return cast("T", encodable(given))
        case list() | tuple():
            items = cast("Sequence[Any]", given)
            new = [safely(item) for item in items]
            return value if same(new, items) else cast("T", new)
        case dict():
            pairs = cast("dict[Any, Any]", given)
            made = {safely(key): safely(item) for key, item in pairs.items()}
            unchanged = same([*made, *made.values()], [*pairs, *pairs.values()])
            return value if unchanged else cast("T", made)
        case _:
            return value


def same(new: Sequence[object], old: Sequence[object]) -> bool:
    """Whether these are the very same things."""
    return len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True))
