"""A message's way in: accepted and placed in one step, acknowledged when it is durable."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from lastword.core.events import Accepted, Stored, StoreFailed
from lastword.core.model import Attachment, Message, MessageId, Origin, Policy, RunId
from lastword.core.orders import Refuse
from lastword.errors import Busy, QueueFull, StoreError, Undurable
from lastword.runtime.driver import Driver
from lastword.runtime.ticket import Ticket


async def load(driver: Driver) -> None:
    """Learn from the store where the session stands."""
    try:
        stored = await driver.shared.store.load(driver.id)
    except StoreError:
        raise
    except Exception as error:
        raise StoreError(f"the store failed: {error!r}") from error
    if stored:
        driver.machine.generation = stored.generation
        driver.journal.serial = stored.serial


async def known(driver: Driver, id: MessageId) -> Ticket | None:
    """The ticket of a message that was accepted before: the same request is the same message."""
    if id in driver.tickets:
        return driver.tickets[id]
    stored = await driver.shared.store.message(driver.id, id)
    if id in driver.tickets:  # it came while we looked
        return driver.tickets[id]
    if stored is None:
        return None
    ticket = Ticket(stored.message, stored.run, lambda: None)
    ticket.tell_started(stored.run)
    if stored.outcome:
        ticket.tell_outcome(stored.outcome)
    return ticket


def accept(
    driver: Driver,
    text: str,
    *,
    id: MessageId | None = None,
    by: str = "",
    origin: Origin = "person",
    attachments: tuple[Attachment, ...] = (),
    on_message: Policy | None = None,
) -> tuple[Ticket, Awaitable[None]]:
    """Place a message, or raise `Refused`. Not acknowledged until what is returned was awaited."""
    driver.journal.serial += 1
    run = RunId(f"{driver.id}#{driver.journal.serial}")
    name = id or MessageId(f"m{driver.journal.serial}")
    message = Message(name, text, by, origin, attachments)
    ticket = Ticket(message, run, lambda: driver.tickets.pop(name, None))
    driver.tickets[name] = ticket
    step = driver.tell(Accepted(message, run, on_message, driver.loop.time()))
    for order in step.orders:
        if isinstance(order, Refuse):
            del driver.tickets[name]
            raise _refusal(driver, order)
    # in a task of the session's: whoever sent it may be cancelled, what was accepted goes on
    stored = driver.tasks.start(_store(driver, name), name=f"store {name}")
    return ticket, asyncio.shield(stored)


async def _store(driver: Driver, id: MessageId) -> None:
    try:
        await driver.journal.commit()
    except StoreError as error:
        driver.journal.forget(id)
        driver.tickets.pop(id, None)
        driver.tell(StoreFailed(id))
        raise Undurable(
            f"message {id} could not be stored in session {driver.id}, so it was not accepted: "
            f"{error}"
        ) from error
    driver.tell(Stored(id))


def _refusal(driver: Driver, order: Refuse) -> Busy | QueueFull:
    match order.why:
        case "busy":
            return Busy(f"session {driver.id} is busy and refuses messages until it is not")
        case "full":
            limit = driver.shared.settings.queue_limit
            return QueueFull(
                f"session {driver.id} has {limit} messages waiting, which is its limit; "
                f"message {order.message.id} was not accepted"
            )
