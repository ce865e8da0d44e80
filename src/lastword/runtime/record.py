"""What happened in a session, some of it at a time.

A page costs what it holds, however long the log is. Only where something of it was taken back later
is what lies between read too: what nobody saw is told by counting back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from lastword.core.model import Generation, Message, MessageId, RunId
from lastword.core.receipt import Receipt
from lastword.core.seen import seen
from lastword.core.transcript import Entry, Said, Text, Thinking, Unshown
from lastword.core.value import value
from lastword.runtime.conversation import Conversation
from lastword.runtime.driver import Driver
from lastword.runtime.journal import ask
from lastword.runtime.view import moment, standing
from lastword.stores.contract import Part

_TRIES = 3  # to read receipts while others are written; then those wait for one reading


@value
class Page:
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


class Record:
    """One session's. To read it takes nothing, so another process may have the session."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    async def page(self, before: int | None, most: int, size: int) -> Page:
        """Of the entries before a number, or of all, the newest: so many, or about so many bytes.
        What it gives is of the step in which it returns."""
        self._conversation.must_be_open()
        with self._conversation.held() as driver:
            return await _page(driver, before, most, size)

    async def receipts(self, skip: int, most: int) -> tuple[Receipt, ...]:
        """Those of the stops and takeovers, newest first, less so many."""
        self._conversation.must_be_open()
        with self._conversation.held() as driver:
            return await _receipts(driver, skip, most)

    async def said(self, ids: Collection[MessageId]) -> tuple[Message, ...]:
        """Those messages, as far as they were accepted."""
        with self._conversation.held() as driver:
            return await _said(driver, ids)


async def _page(driver: Driver, before: int | None, most: int, size: int) -> Page:
    store, journal = driver.shared.store, driver.journal
    found = await standing(driver)
    async with journal.reading() as reading:
        ends = reading.stored + 1 if before is None else min(before, reading.stored + 1)
        part = await ask(store.part(driver.id, ends, most=most, size=size))
        length = min(reading.stored, part.length)
        runs = {e.run for e in part.entries if isinstance(e, Text | Thinking)}
        last = await _last_cut(driver, part, length, runs)
        while True:
            between = await _between(driver, part.last, last)
            number, generation, typing, held = moment(driver, found)
            tail = journal.after(reading)
            if last >= length or not _takes_back((*tail, *held), runs):
                break
            last = length  # something new does, and counts back through all that lies between
    read = (*part.entries, *between, *tail, *held)
    if part.last < length:
        return Page(number, generation, typing, part.before, len(part.entries), read)
    more = len(tail) if before is None else max(min(before - 1 - length, len(tail)), 0)
    many = min(len(part.entries) + more, most)
    over = len(part.entries) + more - many
    return Page(number, generation, typing, part.before + over, many, read[over:])


async def _receipts(driver: Driver, skip: int, most: int) -> tuple[Receipt, ...]:
    journal = driver.journal
    await standing(driver)
    for _ in range(_TRIES):
        async with journal.reading() as reading:
            found = await _receipts_now(driver, skip, most)
            if not any(isinstance(e, Receipt) for e in reading.since):
                return found
    async with journal.still():
        return await _receipts_now(driver, skip, most)


async def _receipts_now(driver: Driver, skip: int, most: int) -> tuple[Receipt, ...]:
    fresh = [e for e in reversed(driver.journal.unstored) if isinstance(e, Receipt)]
    left = max(skip - len(fresh), 0)
    stored = await ask(driver.shared.store.receipts(driver.id, left, most))
    return (*fresh[skip:], *stored)[:most]


async def _said(driver: Driver, ids: Collection[MessageId]) -> tuple[Message, ...]:
    fresh = [e.message for e in driver.journal.unstored if isinstance(e, Said)]
    found = {message.id: message for message in fresh if message.id in ids}
    for id_ in ids:
        if id_ not in found and (told := await ask(driver.shared.store.message(driver.id, id_))):
            found[id_] = told.message
    return tuple(found.values())


async def _last_cut(driver: Driver, part: Part, length: int, runs: Collection[RunId]) -> int:
    """Of what takes back something that runs said in a part of the log, the last; or its end."""
    if not runs or part.last >= length:
        return part.last
    cuts = await ask(driver.shared.store.cuts(driver.id, runs, part.last))
    return max((number for number, _ in cuts if number <= length), default=part.last)


async def _between(driver: Driver, first: int, last: int) -> tuple[Entry, ...]:
    """The entries after one, up to another."""
    if last <= first:
        return ()
    return (await ask(driver.shared.store.part(driver.id, last + 1, most=last - first))).entries


def _takes_back(entries: Iterable[Entry], runs: Collection[RunId]) -> bool:
    return any(isinstance(entry, Unshown) and entry.run in runs for entry in entries)
