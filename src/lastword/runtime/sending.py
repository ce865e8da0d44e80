"""What somebody sends, checked and put so that every store and wire takes it, before anything is
touched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from lastword.core.model import Attachment, Message, MessageId, Origin, is_ours
from lastword.runtime.asking import origin_of
from lastword.runtime.checks import (
    attachments_of,
    encodable,
    must_be_messages,
    must_be_name,
    must_be_one_of,
    must_be_text,
)
from lastword.runtime.protocol import Sent


def sendable(messages: Sequence[Message]) -> tuple[Sent, ...]:
    """Messages as `send` passes them on; raises as it does if they cannot be sent, whoever listens.
    For who has to know that before something else is done."""
    must_be_messages(messages)
    return tuple(to_send(m.text, m.id, m.by, m.origin, m.attachments) for m in messages)


def to_send(
    text: str, id: str | None, by: str, origin: Origin | None, attachments: Sequence[Attachment]
) -> Sent:
    """One message, of what a caller says of it."""
    must_be_text(text, "a message's text")
    must_be_name(by, "by, who sends a message,")
    name, attached = _own(id), attachments_of(attachments)
    must_be_one_of(origin, (None, *get_args(Origin)), "origin")
    return Sent(encodable(text), name, by, origin_of(origin, by), attached)


def _own(id: str | None) -> MessageId | None:
    """A sender's own id for a message."""
    if id is None:
        return None
    must_be_name(id, "a message's id")
    if not id or is_ours(id):
        raise ValueError(f"a message's id must not be empty, nor like m1, m2, …; it is {id!r}")
    return MessageId(id)
