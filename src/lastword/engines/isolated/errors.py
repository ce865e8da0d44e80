"""Errors on their way from a host to a run's process: as they are, or else in words."""

from __future__ import annotations

import pickle
from contextlib import suppress
from typing import Any, NamedTuple

from lastword.errors import LastwordError, ProcessError, Refused, StoreError

_KINDS = (ProcessError, StoreError, Refused, LastwordError, PermissionError, ValueError, TypeError)


class InWords(NamedTuple):
    """An error that could not be taken along."""

    name: str
    kind: str  # what it is caught as
    why: str


def carried(error: BaseException) -> bytes | InWords:
    """For the way there."""
    with suppress(Exception):  # a class of a team's own can raise anything
        data = pickle.dumps(error)
        if type(pickle.loads(data)) is type(error):  # noqa: S301 - it is ours; not all can be read
            return data
    kind = next((one.__name__ for one in _KINDS if isinstance(error, one)), "")
    return InWords(type(error).__name__, kind, str(error))


def arrived(said: bytes | InWords) -> BaseException:
    """What it was."""
    if isinstance(said, bytes):
        try:
            error: object = pickle.loads(said)  # noqa: S301 - the host wrote it
        except Exception as unread:  # noqa: BLE001 - a class of a team's own can raise anything
            return RuntimeError(f"an error that cannot be read here: {unread!r}")
        return error if isinstance(error, BaseException) else RuntimeError(repr(error))
    base = next((one for one in _KINDS if one.__name__ == said.kind), RuntimeError)
    made: Any = type(said.name, (base,), {"__init__": _init})
    error = made(said.why)
    return error if isinstance(error, Exception) else RuntimeError(said.why)


def _init(self: Exception, why: str) -> None:
    self.args = (why,)
