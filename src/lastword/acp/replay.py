"""What has happened in a session, told again to a client that opens it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lastword.acp import updates
from lastword.acp.wire import Params
from lastword.core.model import CallId, RunId, Status
from lastword.core.transcript import Called, Entry, LeftOut, Result, Said, Text, Thinking


def replay(log: Iterable[Entry], root: str, active: RunId | None) -> Iterator[Params]:
    """The updates that tell it: what was said, and every call with how it ended.

    Those of the active run have not ended, and how they do is still to be told.
    """
    calls: dict[CallId, Called] = {}
    for entry in log:
        match entry:
            case Said() if entry.message.origin == "person":
                yield updates.said(entry.message.text)
            case Text() if entry.text:
                yield updates.message(entry.text)
            case Thinking() | LeftOut() if entry.text:
                yield updates.thought(entry.text)
            case Called() if entry.nature != "post":
                calls[entry.call] = entry
                yield updates.call(entry, root)
            case Result() if entry.call in calls:
                yield updates.call_ended(calls.pop(entry.call).name, entry)
            case _:
                pass
    for made in [one for one in calls.values() if one.run != active]:  # lost, not settled yet
        unknown = Result(made.run, made.call, Status.MAY_HAVE_EXECUTED)
        yield updates.call_ended(made.name, unknown)
