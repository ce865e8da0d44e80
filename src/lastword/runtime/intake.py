"""A message's way in: accepted and placed in one step, acknowledged when it is durable."""

from __future__ import annotations

import asyncio
import logging
import re
from functools import partial

from lastword.core.events import Accepted, Found, Stored
from lastword.core.model import (
    Attachment,
    Generation,
    Message,
    MessageId,
    Origin,
    Outcome,
    Policy,
    RunId,
)
from lastword.core.orders import Refuse
from lastword.core.queue import Standing, Waiting
from lastword.core.recovery import Recovery, recover
from lastword.errors import Busy, OwnedElsewhere, QueueFull, StoreError, Undurable
from lastword.runtime.checks import must_be_name
from lastword.runtime.driver import Driver
from lastword.runtime.journal import ask, stamped
from lastword.runtime.step import Step
from lastword.runtime.ticket import Ticket
from lastword.stores.contract import StoredSession, Write

log_ = logging.getLogger("lastword")
_OURS = re.compile(r"m\d+")  # what a message is called if its sender does not say


async def load(driver: Driver) -> None:
    """Learn from the store where the session stands."""
    try:
        stored = await ask(driver.shared.store.load(driver.id))
        if stored and stored.parent and not driver.ancestors:
            driver.ancestors = (stored.parent,)
        driver.feed.claim = driver.journal.claim = driver.shared.store.claim(driver.id)
        recovered = await _recovered(driver, stored) if stored and stored.unfinished else None
    except BaseException:
        driver.moves.not_known()
        raise
    found = None
    if stored:
        if stored.generation > driver.machine.generation:
            driver.feed.begin_anew()  # another process had it in between
        driver.moves.loaded(stored.generation)
        driver.journal.serial = stored.serial
        driver.cells.found(stored.cells)
        found = _found(driver, stored.standing, recovered)
        driver.news.lost(stored.standing.going)
    driver.moves.now_known(found)
    driver.carry_out()


def _found(driver: Driver, standing: Standing, recovered: Recovery | None) -> Found | None:
    waits = recovered is not None and driver.shared.on_restart == "wait"
    driver.journal.found(standing, waits=waits)
    if recovered is None:
        return Found((), hushed=True) if standing.hushed else None
    for turn in recovered.waiting:
        for message in turn.messages:
            driver.tickets[message.id] = [Ticket(message, turn.run)]
    driver.moves.lost = recovered
    driver.publish(recovered)
    # what the standing does not know of was being stopped when the process died
    free = set(standing.order) - set(standing.held)
    queue = [
        Waiting(turn, held=waits or not all(message.id in free for message in turn.messages))
        for turn in recovered.waiting
    ]
    return Found(tuple(queue), standing.hushed or (waits and bool(queue)))


async def _recovered(driver: Driver, stored: StoredSession) -> Recovery:
    """Settle what an earlier process left, in one transaction, before anything else is done."""
    log = await ask(driver.shared.store.entries(driver.id, stored.since))
    found, settled = recover(log, stored.standing.order, child=bool(driver.ancestors))
    generation = Generation(stored.generation + 1)
    now = driver.shared.clock()
    write = Write(
        session=driver.id,
        generation=generation,
        serial=stored.serial,
        entries=tuple(stamped(settled, now)),
        standing=stored.standing,
        at=now,
        state="waiting" if found.waiting else "idle",
        claim=driver.journal.claim,
    )
    await ask(driver.shared.store.commit(write))
    lost, waiting = len(found.lost), len(found.waiting)
    log_.warning("recovered session=%s lost=%d waiting=%d", driver.id, lost, waiting)
    return found


def check_id(id: str | None) -> MessageId | None:
    """A sender's own id for a message."""
    if id is None:
        return None
    must_be_name(id, "a message's id")
    if not id or _OURS.fullmatch(id):
        raise ValueError(f"a message's id must not be empty, nor like m1, m2, …; it is {id!r}")
    return MessageId(id)


async def known(driver: Driver, id: MessageId) -> tuple[Ticket, asyncio.Task[None] | None] | None:
    """The ticket of a message that was accepted before: the same request is the same message.

    It is acknowledged when the task, if there is one, has ended well.
    """
    stored = None
    if id not in driver.tickets:
        await driver.journal.committed()  # its outcome may be on its way to the store
        stored = await ask(driver.shared.store.message(driver.id, id))
    if tickets := driver.tickets.get(id):  # also if it came while we looked
        if tickets[0].closed:
            tickets.insert(0, tickets[0].again())
        return tickets[0], driver.storing.get(id)
    if stored is None:
        return None
    ticket = Ticket(stored.message, stored.run)
    if stored.began:
        ticket.tell_started(stored.run)
    ticket.tell_outcome(stored.outcome or Outcome.LOST)  # else whoever had it has died with it
    return ticket, None


def accept(
    driver: Driver,
    text: str,
    *,
    id: MessageId | None = None,
    by: str = "",
    origin: Origin = "person",
    attachments: tuple[Attachment, ...] = (),
    on_message: Policy | None = None,
) -> tuple[Ticket, asyncio.Task[None]]:
    """Place a message, or raise `Refused`. It is acknowledged when the task has ended well."""
    if driver.journal.stuck:
        raise Undurable(f"the store of session {driver.id} has not answered since a stop")
    driver.journal.serial += 1
    run = RunId(f"{driver.id}#{driver.journal.serial}")
    name = id or MessageId(f"m{driver.journal.serial}")
    message = Message(name, text, by, origin, attachments)
    ticket = Ticket(message, run)
    driver.tickets[name] = [ticket]
    try:
        step = driver.tell(Accepted(message, run, on_message, driver.loop.time()))
        _must_not_be_refused(driver, step)
    except BaseException:
        del driver.tickets[name]
        raise
    # a duty of the session's: whoever sent it may be cancelled, what was accepted goes on
    commit = driver.journal.commit()  # in the same step: the one that has this message in it
    stored = driver.duties.start(_store(driver, name, commit), name=f"store {name}")
    driver.storing[name] = stored
    stored.add_done_callback(partial(_forget, driver.storing, name))
    return ticket, stored


def _forget(
    storing: dict[MessageId, asyncio.Task[None]], id: MessageId, stored: asyncio.Task[None]
) -> None:
    if storing.get(id) is stored:  # and not that of a second try
        del storing[id]


async def _store(driver: Driver, id: MessageId, commit: asyncio.Future[None]) -> None:
    try:
        await asyncio.shield(commit)
    except OwnedElsewhere:
        raise
    except StoreError as error:
        raise Undurable(
            f"message {id} could not be stored in session {driver.id}, so it was not accepted: "
            f"{error}"
        ) from error
    driver.tell(Stored(id))


def _must_not_be_refused(driver: Driver, step: Step) -> None:
    for order in step.orders:
        match order:
            case Refuse(message, "busy"):
                raise Busy(
                    f"session {driver.id} is busy and refuses messages until it is not; "
                    f"message {message.id} was not accepted"
                )
            case Refuse(message, "full"):
                limit = driver.shared.settings.queue_limit
                raise QueueFull(
                    f"session {driver.id} has {limit} messages waiting, which is its limit; "
                    f"message {message.id} was not accepted"
                )
            case _:
                pass
