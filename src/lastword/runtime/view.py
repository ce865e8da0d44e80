"""A session as whoever comes to watch it finds it: all that happened, and where to go on.

The log in the store, and what is on its way there, are one story only if nothing was written
between the reading and the look at the rest. So it is read again if it was.
What a run is about to say is not part of it: who follows the feed from here is told.
"""

from __future__ import annotations

from contextlib import suppress

from lastword.core.model import Generation
from lastword.core.seen import seen
from lastword.core.transcript import Entry
from lastword.core.value import value
from lastword.errors import StoreError
from lastword.runtime.driver import Driver
from lastword.runtime.journal import ask


@value
class View:
    """Everything up to an event; whoever follows the feed from there misses and repeats nothing."""

    number: int  # of the last event that is in it
    generation: Generation
    typing: bool
    entries: tuple[Entry, ...]


async def view(driver: Driver) -> View:
    """What there is to see now."""
    journal = driver.journal
    while True:
        with suppress(StoreError):  # what is not stored yet is seen all the same
            await journal.committed()
        if journal.writing:
            continue
        writes = journal.writes
        stored = await ask(driver.shared.store.entries(driver.id))
        if writes == journal.writes:
            with driver.lock:
                held = [e for going in driver.going.values() for e in going.speech.unshown]
                number, generation = driver.feed.last, driver.machine.generation
            typing = any(going.hold.typing for going in driver.going.values())
            entries = seen((*stored, *journal.unwritten, *held))
            return View(number, generation, typing, entries)
