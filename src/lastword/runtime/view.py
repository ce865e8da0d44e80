"""A session as whoever comes to watch it finds it: what happened, and where to go on.

The log in the store, and what was added since the reading of it began, are one story: nothing of a
log is changed, so what was there is read once, however fast a run speaks meanwhile. What a run is
about to say is not part of it: who follows the feed from here is told.
"""

from __future__ import annotations

import asyncio

from lastword.core.model import Generation
from lastword.core.queue import AT_REST, Queued, QueueNews
from lastword.core.seen import seen
from lastword.core.transcript import Entry
from lastword.core.value import value
from lastword.runtime.driver import Driver
from lastword.runtime.journal import ask
from lastword.stores.contract import StoredSession

_SHORT = 1000  # entries that are gone through at once; more are beside the loop


@value
class View:
    """Everything up to an event; whoever follows the feed from there misses and repeats nothing."""

    number: int  # of the last event that is in it
    generation: Generation
    typing: bool
    entries: tuple[Entry, ...]


async def view(driver: Driver) -> View:
    """All there is to see now. To look takes nothing, so another process may have the session."""
    journal = driver.journal
    found = await standing(driver)
    async with journal.reading() as reading:
        stored = (await ask(driver.shared.store.entries(driver.id)))[: reading.stored]
        number, generation, typing, held = moment(driver, found)
        every = (*stored, *journal.after(reading), *held)
    entries = seen(every) if len(every) <= _SHORT else await asyncio.to_thread(seen, every)
    return View(number, generation, typing, entries)


async def standing(driver: Driver) -> StoredSession | None:
    """Of a session that another process may have, where it stands."""
    await driver.feed.claim.known()  # what was not shown yet waits for that
    return None if driver.moves.known else await ask(driver.shared.store.peek(driver.id))


def moment(
    driver: Driver, found: StoredSession | None
) -> tuple[int, Generation, bool, list[Entry]]:
    """The last event, the generation, whether somebody types, and what is not out."""
    with driver.lock:
        held = [e for going in driver.going.values() for e in going.speech.unshown]
        number, generation = driver.feed.last, driver.machine.generation
    generation = max(generation, found.generation) if found else generation
    typing = any(going.hold.typing for going in driver.going.values())
    return number, generation, typing, held


async def queued_elsewhere(driver: Driver) -> QueueNews:
    """What waits in a session that this process does not have, in the order that is stored."""
    store = driver.shared.store
    found = await ask(store.peek(driver.id))
    standing = found.standing if found else AT_REST
    told = [await ask(store.message(driver.id, id_)) for id_ in standing.order]
    waiting = [
        Queued(one.message, one.run, "queued", held=one.message.id in standing.held)
        for one in told
        if one and not one.began and one.outcome is None
    ]
    return QueueNews(tuple(waiting), standing.hushed)
