"""What was said in a session before, in short, for a person who comes back to it.

It is the picture that is drawn live, so what is told here is what was shown then.
"""

from __future__ import annotations

from typing import assert_never

from lastword.cli.chat.words import count, short
from lastword.core.entries import Entry, Summary
from lastword.core.model import MessageId, Outcome, SessionId
from lastword.core.picture import Picture
from lastword.core.scene import (
    Aside,
    Joined,
    MessageItem,
    NoteItem,
    ReceiptItem,
    TurnHead,
    TurnItem,
    Words,
)
from lastword.errors import LastwordError
from lastword.runtime.session import Session

_SHOWN = 2  # turns
_LONGEST = 200  # characters of what was said


async def recap(session: Session) -> list[str]:
    """How many turns there were, and the last of them; nothing, if there were none."""
    try:
        return recap_lines(await session.log())
    except LastwordError:  # whoever says something will hear of it
        return []


def recap_lines(log: tuple[Entry, ...]) -> list[str]:
    """The same, of what was logged."""
    picture = Picture(SessionId(""))
    picture.record(log)
    turns: list[list[str]] = []
    asked: list[str] = []
    notes: list[str] = []
    for item in picture.items:
        match item:
            case MessageItem(message, outcome):
                asked += [] if outcome else [_said(picture, message)]
            case TurnItem(head, parts):
                joined = [
                    _said(picture, part.message) for part in parts if isinstance(part, Joined)
                ]
                words = [part for part in parts if isinstance(part, Words)]
                text = "".join(part.text for part in words if part.kind == "text")
                told = " ".join(filter(None, (short(text, _LONGEST), _ending(head))))
                turns.append([*asked, *joined, *([told] if told else [])])
                asked = []
                notes += [part.text for part in parts if isinstance(part, Aside)]
            case NoteItem(text=text):
                notes.append(text)
            case ReceiptItem():
                pass  # a turn that was stopped says so
            case _:
                assert_never(item)
    if not turns:
        return []
    earlier = " and earlier ones" if any(isinstance(entry, Summary) for entry in log) else ""
    last = [line for turn in turns[-_SHOWN:] for line in turn]
    return [f"{count(len(turns), 'turn')}{earlier} so far. The last:", *last, *notes[-_SHOWN:]]


def _said(picture: Picture, message: MessageId) -> str:
    known = picture.messages.get(message)
    return f"> {short(known.message.text, _LONGEST)}" if known else ">"


def _ending(head: TurnHead) -> str:
    if not head.outcome:
        return "(cut off)"
    if head.rollback:
        return "(taken back)"
    return "" if head.outcome == Outcome.COMPLETED else f"({head.outcome})"
