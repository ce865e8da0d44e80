"""One conversation, as a program sees it.

It checks what is said, in whose name, and says it to its counterpart by the verbs of `protocol`; it
knows no lock, machine or task, so the other side may be in another process.
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import get_args, overload

from lastword.core.asks import AnswerSent, Ask
from lastword.core.cell import StoredCell
from lastword.core.entries import Entry
from lastword.core.events import EditAsked, MoveAsked, RemoveAsked, ResumeAsked, StopAsked
from lastword.core.model import (
    Attachment,
    CallId,
    Generation,
    Message,
    MessageId,
    Origin,
    Policy,
    Reason,
    RunId,
    SessionId,
)
from lastword.core.question import Question
from lastword.core.queue import QueueNews
from lastword.core.receipt import Receipt, Unconfirmed
from lastword.core.scene import Span
from lastword.core.shown import Shown
from lastword.core.story import FeedEvent
from lastword.runtime.anew import ask_anew
from lastword.runtime.asking import act, may_act, origin_of
from lastword.runtime.checks import (
    encodable,
    must_be_count,
    must_be_name,
    must_be_names,
    must_be_one_of,
    must_be_text,
    run_of,
)
from lastword.runtime.feed import Feed
from lastword.runtime.jobs import Job
from lastword.runtime.protocol import Counterpart, Over, Record, View
from lastword.runtime.sending import sendable, to_send
from lastword.runtime.session_cells import SessionCells
from lastword.runtime.ticket import Stopping, Ticket
from lastword.stores.contract import Label, Overview

_TITLE = 200  # characters
_TEXTS = str, bytes, bytearray  # one text, or what was taken for one: no backlog


class Session:
    """One conversation. At most one run is active in it."""

    def __init__(self, counterpart: Counterpart) -> None:
        self._counterpart = counterpart

    def __repr__(self) -> str:
        return f"<Session {self.id} generation={self.generation} busy={self.busy}>"

    @property
    def id(self) -> SessionId:
        return self._counterpart.id

    @property
    def above(self) -> SessionId | None:
        """If it is a child run's: the session of the run that started it."""
        return self._counterpart.now().above

    @property
    def generation(self) -> Generation:
        """Moves whenever the right to act changes hands."""
        return self._counterpart.now().generation

    @property
    def fenced(self) -> Generation:
        """The generation to which the last stop or takeover moved it. What a run let out at an
        older one, and has not left yet, must not leave any more."""
        return self._counterpart.feed.fenced

    @property
    def busy(self) -> bool:
        """Whether a run is active, or will start without another message from a person."""
        return self._counterpart.now().busy

    @property
    def active(self) -> RunId | None:
        """The run that holds the session."""
        return self._counterpart.now().active

    @property
    def known(self) -> bool:
        """Whether this process has the session. If not, its state is read from the store."""
        return self._counterpart.now().known

    @property
    def over(self) -> Over | None:
        """Whether it was deleted, or another process has it now."""
        return self._counterpart.now().over

    @property
    def queue(self) -> tuple[Message, ...]:
        """The messages that wait for their turn, in order."""
        return tuple(q.message for q in self.waiting.messages if q.placed != "steering")

    @property
    def waiting(self) -> QueueNews:
        """The queue, with messages that steer and are not taken up yet, and how each waits."""
        return self._counterpart.doings().queue

    @property
    def processes(self) -> tuple[Job, ...]:
        """The processes that have an id: those declared `keep`, and those that a model named."""
        return self._counterpart.doings().processes

    def process(self, id: str, *, by: str | None = None) -> Job:
        """The process with this id, also if it ended lately, for `by` to act on. Raises `NoSuchJob`
        if there is none, `NotAllowed` if `by` has no right to stop the run that started it."""
        return self._counterpart.here.jobs.whose(id, by)

    @property
    def asks(self) -> tuple[Ask, ...]:
        """What waits for a person and can be answered now: questions of runs, here and below, and
        calls that programs wait on."""
        return self._counterpart.doings().asks

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions of runs, here and below, as they are shown."""
        return self._counterpart.doings().questions

    @property
    def spans(self) -> tuple[Span, ...]:
        """The processes that runs of it have started; of those that ended, the last hundred."""
        return self._counterpart.doings().spans

    @property
    def begun(self) -> Mapping[CallId, float]:
        """The calls of tools that are being made now, and since when, in seconds since 1970."""
        return self._counterpart.doings().begun

    @property
    def ending(self) -> tuple[Unconfirmed, ...]:
        """What was stopped and has not ended yet."""
        return self._counterpart.doings().ending

    @property
    def programs(self) -> tuple[StoredCell, ...]:
        """The cells that have not ended."""
        return self._counterpart.doings().programs

    @property
    def shelf(self) -> SessionCells:
        """The same, for code that runs them."""
        return self._counterpart.here.cells()

    def held(self) -> AbstractContextManager[object]:
        """Keep the session in memory meanwhile, for several calls that belong together."""
        return self._counterpart.held()

    async def loaded(self) -> None:
        """Load the session: return when what the store knows of it is known here.

        From then on, until it has been idle for long, a message is accepted in the very step in
        which it is sent.
        """
        await self._counterpart.have()

    @overload
    async def send(
        self,
        text: str,
        *,
        id: str | None = None,
        by: str = "",
        origin: Origin | None = None,
        attachments: Sequence[Attachment] = (),
        on_message: Policy | None = None,
    ) -> Ticket: ...
    @overload
    async def send(
        self, text: Sequence[Message], *, on_message: Policy | None = None
    ) -> tuple[Ticket, ...]: ...
    @act
    async def send(
        self,
        text: str | Sequence[Message],
        *,
        id: str | None = None,
        by: str = "",
        origin: Origin | None = None,
        attachments: Sequence[Attachment] = (),
        on_message: Policy | None = None,
    ) -> Ticket | tuple[Ticket, ...]:
        """Send a message. It is accepted when this returns, and can be stopped from then on.

        The same `id` again is the same message, whatever it says. What is sent from inside a run
        is not a person's, unless `by` says whose it is: it takes over from nobody, and waits where
        a person said stop. Raises `Refused` if it was not accepted.

        Several messages, as a backlog has them, are one turn: all are accepted, or none, and one
        run answers them. They take over if one of them is a person's who may.
        """
        must_be_one_of(on_message, (None, *get_args(Policy)), "on_message")
        if isinstance(text, _TEXTS) or not isinstance(text, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            said = to_send(text, id, by, origin, attachments)
            [ticket] = await self._counterpart.send((said,), on_message)
            return ticket
        if id is not None or by or origin is not None or attachments:
            raise TypeError("each of several messages has its own id, by, origin and attachments")
        return await self._counterpart.send(sendable(text), on_message)

    @act
    async def again(
        self,
        text: str | None = None,
        *,
        run: str | None = None,
        id: str | None = None,
        by: str = "",
        attachments: Sequence[Attachment] | None = None,
    ) -> Ticket:
        """Ask the last turn anew: with other words, or without any, the same as before.

        The model is not shown that turn from then on, but for a note of what it called; the log
        keeps both. A turn that is going is stopped, with a receipt, as by a takeover. Raises
        `StaleTurn` if the turn of `run` is not the last any more, `NotAllowed` if `by` has no
        right to stop it; then nothing was touched.
        """
        must_be_names(run)
        may_act("this asking anew")
        said = to_send("" if text is None else text, id, by, None, attachments or ())
        same = text is None
        return await ask_anew(
            self._counterpart, said, run_of(run), same=same, attachments=attachments
        )

    def stop(self, *, run: str | None = None, by: str | None = None, said: str = "") -> Stopping:
        """Stop everything that was accepted, or one run. Nothing of it acts after this call.

        Await the receipt. The stop itself does not depend on that: it has happened when this
        returns. The model is told what is `said` of it. Raises `StaleRun` if `run` is neither
        active nor waiting, `NotAllowed` if `by` has no right to it; then nothing was touched.
        """
        must_be_text(said, "said, why something was stopped,")
        must_be_names(run, by)
        return self._counterpart.stop(StopAsked(Reason.STOPPED, run_of(run), by, encodable(said)))

    def stop_soon(
        self, *, run: str | None = None, by: str | None = None
    ) -> concurrent.futures.Future[Receipt]:
        """Stop from any thread. Nothing acts after this call; the receipt comes when it can.

        If the event loop is stalled, the receipt comes at the deadline all the same and says so;
        that is the watchdog's doing, so not with `stall_after=None`. Do not wait for it on the
        loop's own thread, and not in a signal handler: there, use
        `loop.add_signal_handler(signal, session.stop)`.
        """
        must_be_names(run, by)
        return self._counterpart.stop_soon(StopAsked(Reason.STOPPED, run_of(run), by))

    # what waits for a person

    @act
    async def answer(
        self,
        question: str,
        allow: bool,
        generation: int,
        *,
        always: bool = False,
        scope: str = "",
        by: str = "",
    ) -> None:
        """Answer a question of a run's, here or below, as it was seen at that generation.

        The first answer holds. `always` allows, or forbids, for the rest of the session what the
        scope of that id means, one of those that the question offers, or the narrowest. `by` is who
        said so. Raises `AnswerRefused` if the answer is not taken; then nothing was done.
        """
        must_be_name(question, "the id of a question")
        must_be_names(by)
        said = AnswerSent(question, bool(allow), generation, bool(always), scope, by)
        await self._counterpart.answer(said)

    # how a list shows it

    @act
    async def rename(self, title: str) -> None:
        """Call it something; an empty title has it go by how its first message begins."""
        must_be_text(title, "a session's title")
        may_act("this renaming")
        short = " ".join(encodable(title)[:1000].split())[:_TITLE]
        await self._counterpart.record.label(Label(title=short))

    @act
    async def pin(self, *, on: bool = True) -> None:
        """Have it listed before the others, or no longer."""
        may_act("this pinning")
        await self._counterpart.record.label(Label(pinned=bool(on)))

    # the queue

    @act
    async def edit(self, message: str, text: str, *, by: str | None = None) -> None:
        """Change a message that waits. Raises `NotWaiting` if its turn has come."""
        must_be_text(text, "a message's text")
        must_be_names(message, by)
        await self._counterpart.change(EditAsked(MessageId(message), encodable(text), by))

    @act
    async def remove(self, message: str, *, by: str | None = None) -> None:
        """Take a message that waits out of the queue. Raises `NotWaiting` if its turn has come."""
        must_be_names(message, by)
        await self._counterpart.change(RemoveAsked(MessageId(message), by))

    @act
    async def move(self, message: str, to: int, *, by: str | None = None) -> None:
        """Give a message that waits another place in the queue, counted from 0."""
        must_be_count(to, "the place in the queue", least=0)
        must_be_names(message, by)
        await self._counterpart.change(MoveAsked(MessageId(message), to, by))

    @act
    async def resume(self, *, by: str | None = None) -> None:
        """Let the messages that a stop left waiting go on.

        A run may ask for that only if it says `by` whom it was asked: else `NotAllowed`.
        """
        must_be_names(by)
        await self._counterpart.change(ResumeAsked(origin_of(None, by or "")))

    # what happened

    @property
    def feed(self) -> Feed:
        """The events, for a reader that wants more than one at a time."""
        return self._counterpart.feed

    @property
    def last_event(self) -> int:
        """The number of the last event."""
        return self._counterpart.feed.last

    def events(self, after: int | None = None) -> AsyncIterator[FeedEvent]:
        """What happens here, numbered: everything after a number, or, with None, from now on.

        A watcher that falls too far behind gets `SlowWatcher`, and no run waits for it. What a run
        did and was stopped before a watcher came to it is not handed out: the numbers have a gap
        there, and the log has what was said.
        """
        feed = self._counterpart.feed
        if after is not None:
            must_be_count(after, "the number after which to watch", least=0)
            if after > feed.last:
                raise ValueError(f"session {self.id} has no event {after} yet, only {feed.last}")
        return feed.follow(after)

    @property
    def record(self) -> Record:
        """The log, to be read in parts."""
        return self._counterpart.record

    async def log(self) -> tuple[Entry, ...]:
        """Everything that happened here, as it was seen, in order, receipts included."""
        return await self._counterpart.record.log()

    async def view(self) -> View:
        """All that happened, and the number of the event after which to go on."""
        return await self._counterpart.record.view()

    async def history(self) -> tuple[Shown, ...]:
        """What a model would be shown of it."""
        return await self._counterpart.record.history()

    async def cells(self) -> tuple[StoredCell, ...]:
        """All cells that its runs have begun, in order, as they are stored."""
        return await self._counterpart.record.cells()

    async def overview(self) -> Overview | None:
        """The session as a list shows it; None if nothing was ever said in it."""
        return await self._counterpart.record.overview()

    async def queued(self) -> QueueNews:
        """What waits, also where this process does not have the session: as the store has it."""
        return await self._counterpart.record.queued()
