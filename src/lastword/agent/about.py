"""What a call is about, as the rules and the person see it, however its arguments were written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, cast

from lastword.agent.rules import BACKGROUND, Subject, called
from lastword.core.cell import PendingCall
from lastword.runtime.call import Call

agreed: ContextVar[str | None] = ContextVar("lastword_agreed", default=None)
"""The mark of the file that a person was shown, and agreed to have changed, in the call that is
being made here; None if nobody was asked."""

begins: ContextVar[str | None] = ContextVar("lastword_begins", default=None)
"""The directory for which a command was judged, in the call that is being made here: it begins
there, also if another command has ended elsewhere meanwhile; None if no directory was looked at."""


@dataclass(frozen=True, slots=True)
class About:
    """It."""

    tool: str
    text: str
    subject: str | None  # None if that cannot be told

    @property
    def told(self) -> str:
        """The subject, as a person is told it."""
        return self.text if self.subject is None else self.subject


def about(call: Call[Any] | PendingCall, subjects: Mapping[str, Subject]) -> About:
    """What a call will do. Raises PermissionError if nobody can tell which of two things."""
    try:
        read = cast("object", json.loads(call.arguments or "{}", object_pairs_hook=_each_once))
    except (ValueError, RecursionError):  # cut, or no JSON
        read = None
    except _Twice as error:
        raise PermissionError(
            f"{call.name} was not called: its arguments give {error} more than once, so that "
            "nobody can tell which is meant; give it once"
        ) from None
    if not isinstance(read, dict):
        unknown = BACKGROUND if call.name == "shell" else call.name  # it may be that
        return About(unknown, call.arguments, None)
    arguments = cast("dict[str, Any]", read)
    text, subject_of = json.dumps(arguments, ensure_ascii=False), subjects.get(call.name)
    try:
        subject = subject_of(arguments) if subject_of else text
    except (ValueError, LookupError, OSError):  # not the arguments expected
        subject = None
    return About(called(call.name, arguments), text, subject)


class _Twice(Exception):
    """A name that an object has more than once."""


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict[str, Any]()
    for name, value in pairs:
        if name in plain:
            raise _Twice(repr(name))
        plain[name] = value
    return plain
