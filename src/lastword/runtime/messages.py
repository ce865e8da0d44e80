"""A session's messages, from their way in to their outcome.

One is accepted and placed in one step, and acknowledged when it is durable. What becomes of it goes
into the log and to whoever watches as it happens; its sender's ticket learns of an outcome when it
is durable, and not before.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from lastword.core.entries import Began, Finished, Said
from lastword.core.events import Accepted, Event, Instead, Stored, StoreFailed
from lastword.core.model import Generation, Message, MessageId, Outcome, Policy, RunId, Turn
from lastword.core.orders import Accept, End, Refuse
from lastword.errors import Busy, Named, OwnedElsewhere, QueueFull, StoreError, Undurable
from lastword.runtime.journal import Journal, ask
from lastword.runtime.protocol import Sent
from lastword.runtime.seat import Move, Seat
from lastword.runtime.shared import Shared
from lastword.runtime.tasks import Tasks, unless_closed
from lastword.runtime.ticket import Ticket
from lastword.runtime.trace import AskedIn
from lastword.stores.contract import StoredMessage

log = logging.getLogger("lastword")


class Messages:
    """One session's, as far as somebody waits for them."""

    def __init__(
        self, seat: Seat, shared: Shared, journal: Journal, tell: Callable[[Event], Move]
    ) -> None:
        self.duties = Tasks()  # what has to be done to the end, whoever sent it
        self._seat = seat
        self._shared = shared
        self._journal = journal
        self._tell = tell
        self._tickets: dict[MessageId, list[Ticket]] = {}
        self._storing: dict[MessageId, asyncio.Task[None]] = {}
        self._asked_in: dict[MessageId, AskedIn] = {}  # those that wait, if they are traced
        self._ended_during: dict[object, set[MessageId]] = {}  # each time that the store is asked

    @property
    def awaited(self) -> bool:
        """Whether somebody is still to be told of one."""
        return bool(self._tickets or self._storing or self.duties.living)

    # the way in

    async def known(self, sent: Iterable[Sent]) -> dict[MessageId | None, Ticket]:
        """The tickets of those that were accepted before: the same request is the same message.
        It is acknowledged as any other, when it is no longer `storing`."""
        ids = [one.id for one in sent if one.id is not None]
        before: dict[MessageId, StoredMessage] = {}
        if any(id_ not in self._tickets for id_ in ids):
            before = await self._stored(ids)
        # from what the store says to what is accepted is one step
        found = {id_: self._before(id_, before.get(id_)) for id_ in ids}
        return {id_: ticket for id_, ticket in found.items() if ticket}

    async def _stored(self, ids: Sequence[MessageId]) -> dict[MessageId, StoredMessage]:
        """What the store has of these. Asked again if one ended meanwhile: then it has no ticket
        any more, and what the store said of it was too early."""
        of, session = self._shared.store.message, self._seat.id
        while True:
            ended = self._ended_during[key := object()] = set[MessageId]()
            try:
                await self._journal.committed()  # an outcome may be on its way to the store
                stored = await asyncio.gather(*(ask(of(session, id_)) for id_ in ids))
            finally:
                del self._ended_during[key]
            if ended.isdisjoint(ids):
                return {one.message.id: one for one in stored if one}

    def _before(self, id: MessageId, stored: StoredMessage | None) -> Ticket | None:
        if tickets := self._tickets.get(id):  # also if it came while we looked
            if tickets[0].closed:
                tickets.insert(0, tickets[0].again())
            return tickets[0]
        if stored is None:
            return None
        ticket = Ticket(stored.message, stored.run)
        if stored.began:
            ticket.tell_started(stored.run)
        ticket.tell_outcome(stored.outcome or Outcome.LOST)  # else whoever had it has died with it
        return ticket

    def accept(
        self, sent: tuple[Sent, ...], on_message: Policy | None, instead: Instead | None = None
    ) -> list[Ticket]:
        """Place messages, as one turn, or raise `Refused`. Each is acknowledged once it is not
        `storing`."""
        journal, id_ = self._journal, self._seat.id
        if journal.stuck:
            raise Undurable(f"the store of session {id_} has not answered since a stop")
        run = RunId(f"{id_}#{journal.serial + 1}")
        messages = [self._numbered(one) for one in sent]
        tickets = [Ticket(message, run) for message in messages]
        self._tickets |= {ticket.message.id: [ticket] for ticket in tickets}
        try:
            first, *more = messages
            at = self._shared.loop.time()
            move = self._tell(Accepted(first, run, on_message, at, tuple(more), instead))
            self._must_not_be_refused(move)
        except BaseException:
            for message in messages:
                del self._tickets[message.id]
            raise
        # a duty of the session's: whoever sent it may be cancelled, what was accepted goes on
        commit = journal.commit()  # in the same step: the one that has these messages in it
        for message in messages:
            stored = self.duties.start(self._store(message.id, commit), name=f"store {message.id}")
            self._storing[message.id] = stored
            stored.add_done_callback(partial(self._forget, message.id))
        return tickets

    def _numbered(self, sent: Sent) -> Message:
        self._journal.serial += 1
        name = sent.id or MessageId(f"m{self._journal.serial}")
        return Message(name, sent.text, sent.by, sent.origin, sent.attachments)

    def storing(self, ticket: Ticket) -> asyncio.Task[None] | None:
        """What ends well when an accepted message is durable; None if it is."""
        return self._storing.get(ticket.message.id)

    async def acknowledged(
        self, sent: Sequence[Sent], known: Mapping[MessageId | None, Ticket], new: Iterable[Ticket]
    ) -> tuple[Ticket, ...]:
        """All tickets, when what was sent is durable; who has given theirs an id can ask again."""
        placed = iter(new)
        told = tuple(known.get(one.id) or next(placed) for one in sent)
        for one, ticket in zip(sent, told, strict=True):
            if storing := self.storing(ticket):
                id_ = ticket.message.id
                doubt = f"the runtime was closed before it was known that {id_} is stored"
                remedy = "; send it again, with its id, to find out" if one.id else ""
                await unless_closed(storing, StoreError(doubt + remedy))
        return told

    def _forget(self, id: MessageId, stored: asyncio.Task[None]) -> None:
        if self._storing.get(id) is stored:  # and not that of a second try
            del self._storing[id]

    async def _store(self, id: MessageId, commit: asyncio.Future[None]) -> None:
        try:
            await asyncio.shield(commit)
        except OwnedElsewhere:
            raise
        except StoreError as error:
            raise Undurable(
                f"message {id} could not be stored in session {self._seat.id}, so it was not "
                f"accepted: {error}"
            ) from error
        self._tell(Stored(id))

    def _must_not_be_refused(self, move: Move) -> None:
        id_ = Named(self._seat.id)
        for order in move.orders:
            match order:
                case Refuse(message, "busy"):
                    raise Busy(
                        "session ",
                        id_,
                        " is busy and refuses messages until it is not; "
                        f"message {message.id} was not accepted",
                    )
                case Refuse(message, "full"):
                    limit = self._shared.settings.queue_limit
                    raise QueueFull(
                        "session ",
                        id_,
                        f" has {limit} messages waiting, which is its limit; "
                        f"message {message.id} was not accepted",
                    )
                case _:
                    pass

    # what becomes of them

    def found(self, waiting: Iterable[Turn]) -> None:
        """An earlier process left these."""
        for turn in waiting:
            for message in turn.messages:
                self._tickets[message.id] = [Ticket(message, turn.run)]
                self._seat.asks.said(message)

    def accepted(self, order: Accept, move: Move) -> None:
        """One has its place."""
        message = order.message
        anew = move.event.instead if isinstance(move.event, Accepted) else None
        said = Said(message, order.run, anew.turn.run if anew else None)
        self._journal.add_message(said)
        self._seat.publish(said)
        if message.attachments:
            self._seat.asks.said(message)  # it may answer what a program waits on
            with self._seat.lock:
                self._seat.feed.shed()
        self._shared.counters.accepted += 1
        if move.asked_in is not None and isinstance(move.event, Accepted):
            policy = move.event.on_message or self._shared.settings.on_message
            self._asked_in[message.id] = AskedIn(move.asked_in, policy)
        [ticket] = self._tickets[message.id]
        ticket.run, ticket.placed = order.run, order.placement
        if move.settlement:
            ticket.tell_takeover(move.settlement.answer)
        log.info("accepted session=%s run=%s as=%s", self._seat.id, order.run, order.placement)

    def refuse(self, message: MessageId) -> None:
        """One could not be stored: it was never accepted."""
        self._tell(StoreFailed(message))
        self._seat.asks.ended(RunId(""), (message,))
        for ticket in self._taken((message,)):
            ticket.tell_outcome(Outcome.REFUSED)

    def asked_in(self, messages: Iterable[Message]) -> tuple[AskedIn, ...]:
        """Where those were sent that a run takes up now, as far as that is known."""
        found = (self._asked_in.pop(message.id, None) for message in messages)
        return tuple(one for one in found if one)

    def began(self, run: RunId, generation: Generation, messages: Iterable[Message]) -> None:
        """A run has taken these up."""
        ids = tuple(message.id for message in messages)
        began = Began(run, generation, ids)
        self._journal.add(began)
        self._seat.publish(began)
        for ticket in [ticket for id_ in ids for ticket in self._tickets.get(id_, [])]:
            ticket.tell_started(run)

    def ended(self, order: End, move: Move, error: str, kind: str) -> list[Ticket]:
        """A turn is over; the tickets that are to learn its outcome."""
        turn, outcome = order.turn, order.outcome
        ids = tuple(message.id for message in turn.messages)
        held = order.held and not order.started
        finished = Finished(
            turn.run, outcome, ids, order.started, order.rollback, error, held, kind=kind
        )
        for fact in (*move.notes(order), finished):
            self._journal.add(fact)
            self._seat.publish(fact)
        self._shared.counters.runs[outcome] += order.started
        log.info("ended session=%s run=%s outcome=%s", self._seat.id, turn.run, outcome)
        return self._taken(ids)

    def _taken(self, ids: Iterable[MessageId]) -> list[Ticket]:
        for ended in self._ended_during.values():
            ended.update(ids)
        for id_ in ids:
            self._asked_in.pop(id_, None)
        return [ticket for id_ in ids for ticket in self._tickets.pop(id_, [])]
