"""The values the rest of the house speaks in.

An id is a name: what it is of (a call's run, a session's parent) is said beside it, and no rule is
read out of it.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Literal, NewType, TypeAlias

from lastword.core.value import value

SessionId = NewType("SessionId", str)
RunId = NewType("RunId", str)
MessageId = NewType("MessageId", str)
CallId = NewType("CallId", str)
Generation = NewType("Generation", int)

Policy: TypeAlias = Literal["takeover", "queue", "collect", "steer", "refuse", "rollback"]
QueueOnStop: TypeAlias = Literal["drop", "keep"]
Origin: TypeAlias = Literal["person", "timer", "child", "run"]
Placement: TypeAlias = Literal["starting", "queued", "collecting", "steering"]
_TITLE = 80  # characters


class Outcome(StrEnum):
    """How a message, and the run that answered it, ended. Stored, never inferred."""

    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"
    REFUSED = "refused"
    SHUTDOWN = "shutdown"
    PARENT = "parent"
    LOST = "lost"


class Reason(StrEnum):
    """Why a run lost its session. Each is the outcome of the same name."""

    STOPPED = "stopped"
    SUPERSEDED = "superseded"
    SHUTDOWN = "shutdown"
    PARENT = "parent"
    LOST = "lost"  # another process has the session now

    @property
    def outcome(self) -> Outcome:
        return Outcome(self.value)

    @property
    def freezes(self) -> bool:
        """Whether programs go no further: they outlive the process, but not a stop or a takeover"""
        return self not in {Reason.SHUTDOWN, Reason.LOST}


class Status(StrEnum):
    """What became of a tool call."""

    INTENDED = "intended"
    BEGUN = "begun"
    COMPLETED = "completed"
    NOT_STARTED = "not started"
    MAY_HAVE_EXECUTED = "may have executed"


@value
class Attachment:
    """Something that came with a message: a text, or base64 data, or only an address."""

    media_type: str
    data: str = ""
    uri: str = ""
    name: str = ""


@value
class Message:
    """What somebody sent: a person, or on nobody's word a timer, a child run, or a run."""

    id: MessageId
    text: str
    by: str = ""
    origin: Origin = "person"
    attachments: tuple[Attachment, ...] = ()

    @property
    def title(self) -> str:
        """How it begins, for a list that names a session by its first message."""
        return " ".join(self.text[:1000].split())[:_TITLE]


def is_ours(id: str) -> bool:
    """Whether it is what a message is called if its sender does not say."""
    return id[:1] == "m" and id[1:].isdecimal()


@value
class Turn:
    """Messages that one run answers together, in the order they were accepted.

    What arrived or was collected as one begins it; what was sent to steer joins it.
    """

    run: RunId
    messages: tuple[Message, ...]
    also: tuple[RunId, ...] = ()  # of each that joined, the run it was to be; it means this one now

    @property
    def by(self) -> str:
        """Whose it is: theirs who began it. What joins later makes it nobody else's."""
        return self.leading.by

    @property
    def leading(self) -> Message:
        """Of what began it, the first that is a person's; the first of all, if none is."""
        began = self.messages[: max(len(self.messages) - len(self.also), 1)]
        return next((one for one in began if one.origin == "person"), began[0])

    @property
    def message(self) -> Message:
        """All of them as one, which is theirs whose the turn is."""
        first, *others = self.messages
        if not others:
            return first
        text = "\n\n".join(message.text for message in self.messages)
        attached = tuple(one for message in self.messages for one in message.attachments)
        return replace(self.leading, id=first.id, text=text, attachments=attached)

    def named(self, run: RunId) -> bool:
        """Whether a run's id means this turn."""
        return run == self.run or run in self.also


@value
class Token:
    """A fencing token: what an outside resource needs to refuse an older run.

    Keep the highest generation seen for each session, and refuse what is lower.
    """

    session: SessionId
    generation: Generation


@value
class Settings:
    """What a team can set for its sessions; see `docs/promise.md`."""

    on_message: Policy = "takeover"
    queue_on_stop: QueueOnStop = "drop"
    queue_limit: int = 100
    quiet_window: float = 1.0
    longest_window: float = 10.0
    stoppers: frozenset[str] | None = None  # who may stop what others asked for; None: anyone


DEFAULTS = Settings()
