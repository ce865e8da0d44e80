"""What somebody gets back: a ticket who sends, an answer who stops.

An outcome is told when it is durable, not before: after a crash the log has the last word.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Generator, Iterable
from functools import partial
from typing import Any, TypeAlias, TypeVar

from lastword.core.model import Message, Outcome, Placement, RunId, SessionId
from lastword.core.receipt import Receipt
from lastword.errors import LastwordError, StoreError, TicketClosed
from lastword.runtime.asking import may_act
from lastword.runtime.journal import AGAIN, Journal

log = logging.getLogger("lastword")
T = TypeVar("T")


class Ticket:
    """A message was accepted; this is how to learn what becomes of it.

    A ticket needs no care: it may be kept, closed, closed twice or dropped.
    """

    def __init__(self, message: Message, run: RunId) -> None:
        loop = asyncio.get_running_loop()
        self.message = message
        self.run = run  # the run that answers it; another one once it was collected or taken up
        self.placed: Placement = "starting"
        self.closed = False
        self._done: asyncio.Future[Outcome] = loop.create_future()
        self._started: asyncio.Future[RunId | None] = loop.create_future()
        self._taken_up: RunId | None = None
        self._error = ""
        self._takeover: asyncio.Future[Receipt] | None = None

    def __repr__(self) -> str:
        now = self._done.result() if self.done else "closed" if self.closed else self.placed
        return f"<Ticket message={self.message.id} run={self.run} {now}>"

    @property
    def done(self) -> bool:
        """Whether the outcome is known."""
        return self._done.done() and not self._done.cancelled() and not self._done.exception()

    @property
    def known_outcome(self) -> Outcome | None:
        """The outcome, if it is known."""
        return self._done.result() if self.done else None

    @property
    def error(self) -> str:
        """Why it failed, if it did."""
        return self._error

    async def outcome(self) -> Outcome:
        """Wait for the message's outcome. It has exactly one."""
        return await self._wait(self._done)

    async def started(self) -> RunId | None:
        """Wait until a run has taken the message up; None if none ever will."""
        return await self._wait(self._started)

    async def receipt(self) -> Receipt | None:
        """The receipt of what this message took over; None if it took nothing over."""
        return await asyncio.shield(self._takeover) if self._takeover else None

    def close(self) -> None:
        """Give the ticket up. The message goes on; who waits here gets `TicketClosed`."""
        may_act("closing of this ticket")  # the same message sent again is the same ticket
        self.closed = True
        for future in (self._done, self._started):
            future.cancel()

    def again(self) -> Ticket:
        """Another ticket for the same message, for who asks again after closing this one."""
        ticket = Ticket(self.message, self.run)
        ticket.placed, ticket._takeover = self.placed, self._takeover
        if self._taken_up:
            ticket.tell_started(self._taken_up)
        return ticket

    # told by the session

    def tell_started(self, run: RunId | None) -> None:
        self.run = run or self.run
        self._taken_up = run or self._taken_up
        if not self._started.done():
            self._started.set_result(run)

    def tell_outcome(self, outcome: Outcome, error: str = "") -> None:
        self.tell_started(None)
        if not self._done.done():
            self._error = error
            self._done.set_result(outcome)

    def tell_unknown(self, error: LastwordError) -> None:
        """What becomes of it is not for this process to say."""
        if not self._done.done():
            for future in (self._done, self._started):
                if not future.done():
                    future.set_exception(error)
                    future.exception()  # whoever asks is told; nobody has to

    @property
    def begun(self) -> bool:
        """Whether a run took it up."""
        return self._taken_up is not None

    def tell_takeover(self, receipt: asyncio.Future[Receipt]) -> None:
        self._takeover = receipt

    async def _wait(self, future: asyncio.Future[T]) -> T:
        await asyncio.wait([future])  # not the future itself: a cancelled wait must not cancel it
        if future.cancelled():
            raise TicketClosed(f"the ticket for message {self.message.id} was closed")
        return future.result()


Told: TypeAlias = list[tuple[Ticket, Outcome, str]]


class Outcomes:
    """One session's."""

    def __init__(self, session: SessionId, journal: Journal) -> None:
        self._session = session
        self._journal = journal
        self._late: Told = []  # those whose commit failed
        self._again: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def late(self) -> bool:
        """Whether somebody is still to be told."""
        return bool(self._late or self._again)

    def when_durable(self, told: Told) -> None:
        """Commit what is in the journal, and tell these once that has succeeded."""
        self._journal.commit().add_done_callback(partial(self._committed, told))

    def _committed(self, told: Told, commit: asyncio.Future[None]) -> None:
        error = asyncio.CancelledError() if commit.cancelled() else commit.exception()
        late, self._late = [*self._late, *told], []
        if error is None:
            tell(late)
            return
        why = type(error.__cause__ or error).__name__  # its text may quote what was said
        log.error("not durable session=%s error=%s", self._session, why)
        if self._closed or self._journal.closed:
            self._give_up(late)
            return
        self._late = late
        if self._again is None:
            self._again = asyncio.get_running_loop().call_later(AGAIN, self._try_again)

    def _try_again(self) -> None:
        self._again = None
        self.when_durable([])

    def close(self) -> None:
        """Nothing becomes durable from here on."""
        self._closed = True
        if self._again:
            self._again.cancel()
        late, self._late = self._late, []
        self._give_up(late)

    def _give_up(self, told: Told) -> None:
        """Say what whoever has the log says of it: what had begun is lost; the rest may yet run."""
        for ticket, outcome, _ in told:
            why = f"that message {ticket.message.id} was {outcome} could not be stored"
            if outcome is Outcome.LOST:
                why = f"another process has session {self._session} by now"
            if ticket.begun:
                ticket.tell_outcome(Outcome.LOST, why)
            else:
                ticket.tell_unknown(StoreError(f"{why}; it still waits in session {self._session}"))


def tell(told: Told) -> None:
    """Those who wait for an outcome learn it."""
    for ticket, outcome, why in told:
        ticket.tell_outcome(outcome, why)


def given(receipt: Receipt) -> asyncio.Future[Receipt]:
    """A receipt that is there already, for who waits for one."""
    now: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
    now.set_result(receipt)
    return now


def tell_taken_over(tickets: Iterable[Ticket], receipt: Receipt | None) -> None:
    """These took over what another process had, if that was anything."""
    for ticket in tickets:
        if receipt:
            ticket.tell_takeover(given(receipt))


class Stopping(Coroutine[Any, Any, Receipt]):
    """The receipt of a stop, when it comes: to be awaited, handed to a task, or left alone.

    A coroutine would warn if it were not awaited, and a future cannot be made a task of; a stop
    that nobody waits for is as good as any other.
    """

    __slots__ = ("_future", "_steps", "fenced")

    def __init__(
        self,
        future: asyncio.Future[Receipt],
        fenced: Callable[[], Coroutine[Any, Any, Receipt]],
    ) -> None:
        self._future = future
        self.fenced = fenced  # what can be said as soon as the fence itself is durable
        self._steps = asyncio.shield(future).__await__()  # whoever gives up cancels only this

    def __await__(self) -> Generator[Any, Any, Receipt]:
        return asyncio.shield(self._future).__await__()  # as often as anyone likes

    def send(self, value: Any) -> Any:  # noqa: ANN401 - as Coroutine has it
        return self._steps.send(value)

    def throw(self, *error: Any) -> Any:  # noqa: ANN401 - as Coroutine has it
        return self._steps.throw(*error)

    def close(self) -> None:
        self._steps.close()
