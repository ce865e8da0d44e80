"""What a `Session` speaks to: one conversation, wherever that is.

A handful of verbs, with values on both sides: what is sent, answered and asked for goes in, and a
ticket, a receipt or a picture of the moment comes out. No lock, no machine and no run passes here,
so the other side may be in this process, as `Conversation` is, or in another one, which is asked
over a wire, and whose feed is a buffer that is filled from there.

Two things have no verb and stay where the conversation is (`Here`): a process's pipes are held by
who started it, and so is a program's interpreter. Who is far away sees both in `Doings`, ends them
by a stop, and resumes a program by a message, as everybody does.

How it stands is read at once, without waiting: whoever is far away tells what they heard last. What
happened is read from the log. What acts is checked where the conversation is, in the step in which
it does.
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from typing import Literal, NamedTuple, Protocol, TypeAlias

from lastword.core.asks import AnswerSent, Ask
from lastword.core.cell import StoredCell
from lastword.core.entries import Entry
from lastword.core.events import EditAsked, Instead, MoveAsked, RemoveAsked, ResumeAsked, StopAsked
from lastword.core.model import (
    Attachment,
    CallId,
    Generation,
    Message,
    MessageId,
    Origin,
    Policy,
    RunId,
    SessionId,
)
from lastword.core.question import Question
from lastword.core.queue import QueueNews
from lastword.core.receipt import Receipt, Unconfirmed
from lastword.core.scene import Span
from lastword.core.seen import seen
from lastword.core.shown import Shown
from lastword.core.value import value
from lastword.runtime.feed import Feed
from lastword.runtime.jobs import Job, Jobs
from lastword.runtime.session_cells import SessionCells
from lastword.runtime.ticket import Stopping, Ticket
from lastword.stores.contract import Label, Overview

Changing: TypeAlias = EditAsked | RemoveAsked | MoveAsked | ResumeAsked
Over: TypeAlias = Literal["deleted", "lost"]


@value
class Sent:
    """A message, as somebody sends it: what was said is checked."""

    text: str
    id: MessageId | None
    by: str
    origin: Origin
    attachments: tuple[Attachment, ...]


class Now(NamedTuple):
    """Who holds a session at one moment."""

    generation: Generation
    active: RunId | None  # the run that holds it
    busy: bool  # whether something is going on, or will without another word from a person
    known: bool  # whether the process that answers has it; if not, the store knows more
    above: SessionId | None  # if it is a child run's: the session of the run that started it
    over: Over | None  # whether it was deleted, or another process has it now


class Doings(NamedTuple):
    """What goes on and what waits in a session at one moment."""

    queue: QueueNews
    ending: tuple[Unconfirmed, ...]  # what was stopped and has not ended yet
    spans: tuple[Span, ...]  # the processes that its runs have started
    processes: tuple[Job, ...]  # what goes on under an id
    programs: tuple[StoredCell, ...]  # those that have not ended, as they stand
    asks: tuple[Ask, ...]  # what can be answered now, here and below
    questions: tuple[Question, ...]  # what runs ask among that, as it is shown
    begun: Mapping[CallId, float]  # the calls that are being made, and since when


@value
class View:
    """Everything up to an event; whoever follows the feed from there misses and repeats nothing."""

    number: int  # of the last event that is in it
    generation: Generation
    typing: bool
    entries: tuple[Entry, ...]


@value
class LogPage:
    """Some of it, and the moment at which it was so."""

    number: int  # of the last event that is in it
    generation: Generation
    typing: bool
    before: int  # how many entries come before these
    many: int
    read: tuple[Entry, ...]  # these, and what of those after them tells what nobody saw of these

    def entries(self) -> tuple[Entry, ...]:
        """As they were seen. It takes as long as there is to read: a thread may ask."""
        return seen(self.read)[: self.many]


class Record(Protocol):
    """What happened in a session, and how it is listed. Neither takes it: another process may have
    it."""

    async def log(self) -> tuple[Entry, ...]:
        """Everything, as it was seen, in order, receipts included."""
        ...

    async def view(self) -> View:
        """All there is to see, and the number of the event after which to go on."""
        ...

    async def page(self, before: int | None, most: int, size: int) -> LogPage:
        """Of the entries before a number, or of all, the newest: so many, or about so many bytes.
        What it gives is of the step in which it returns."""
        ...

    async def receipts(self, skip: int, most: int) -> tuple[Receipt, ...]:
        """Those of the stops and takeovers, newest first, less so many."""
        ...

    async def said(self, ids: Collection[MessageId]) -> tuple[Message, ...]:
        """Those messages, as far as they were accepted."""
        ...

    async def cells(self) -> tuple[StoredCell, ...]:
        """All cells that its runs have begun, in order, as they are stored."""
        ...

    async def overview(self) -> Overview | None:
        """How a list shows it; None if nothing was ever said in it."""
        ...

    async def label(self, label: Label) -> None:
        """Have a list show it so. Raises `UnknownSession` if nothing was ever said in it."""
        ...

    async def queued(self) -> QueueNews:
        """What waits, also where the process that answers does not have the session."""
        ...

    async def history(self) -> tuple[Shown, ...]:
        """What a model would be shown of it."""
        ...


class Here(NamedTuple):
    """What of a conversation nobody far away can hold."""

    jobs: Jobs  # the processes that have an id, for somebody to act on
    cells: Callable[[], SessionCells]  # its programs themselves, for the floor that runs them


class Counterpart(Protocol):
    """One conversation, as its `Session` has it."""

    @property
    def id(self) -> SessionId: ...

    @property
    def feed(self) -> Feed:
        """Follow what happens."""
        ...

    @property
    def record(self) -> Record:
        """Read what happened."""
        ...

    def now(self) -> Now:
        """Who holds it. Any thread may ask."""
        ...

    def doings(self) -> Doings:
        """What goes on and what waits in it."""
        ...

    def held(self) -> AbstractContextManager[object]:
        """Keep it at hand meanwhile: for who asks several things that belong together."""
        ...

    async def have(self) -> None:
        """Return when what the store knows of it is known where it is asked."""
        ...

    async def send(
        self, sent: tuple[Sent, ...], on_message: Policy | None, instead: Instead | None = None
    ) -> tuple[Ticket, ...]:
        """Return once the messages are accepted, as one turn, and durable. Raises `Refused`, or,
        if they are to take the place of a turn that is not the last, `StaleTurn`."""
        ...

    def stop(self, asked: StopAsked) -> Stopping:
        """Nothing acts after this call; the receipt is what is awaited."""
        ...

    def stop_soon(self, asked: StopAsked) -> concurrent.futures.Future[Receipt]:
        """The same, from any thread."""
        ...

    async def change(self, asked: Changing) -> None:
        """Do to the queue what somebody asks for, durably."""
        ...

    async def answer(self, said: AnswerSent) -> None:
        """Answer what a run asks, there or below. The first answer holds: else `AnswerRefused`."""
        ...

    @property
    def here(self) -> Here:
        """What is only had where the conversation is. Raises `OwnedElsewhere` anywhere else."""
        ...
