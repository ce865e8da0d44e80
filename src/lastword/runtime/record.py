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
from lastword.runtime.view import moment, settled
from lastword.stores.contract import Part


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
    store, journal, through = driver.shared.store, driver.journal, False
    while True:
        writes, found = await settled(driver)
        part = await ask(store.part(driver.id, before, most=most, size=size))
        runs = {e.run for e in part.entries if isinstance(e, Text | Thinking)}
        last = part.length if through else await _last_cut(driver, part, runs)
        between = ()
        if last > part.last:
            rest = await ask(store.part(driver.id, last + 1, most=last - part.last))
            between = rest.entries
        if writes != journal.writes:
            continue
        number, generation, typing, held = moment(driver, found)
        tail = journal.unwritten
        if last < part.length and any(e.run in runs for e in _cuts((*tail, *held))):
            through = True
            continue
        read = (*part.entries, *between, *tail, *held)
        if part.last < part.length:
            return Page(number, generation, typing, part.before, len(part.entries), read)
        ends = len(tail) if before is None else max(min(before - 1 - part.length, len(tail)), 0)
        many = min(len(part.entries) + ends, most)
        over = len(part.entries) + ends - many
        return Page(number, generation, typing, part.before + over, many, read[over:])


async def _receipts(driver: Driver, skip: int, most: int) -> tuple[Receipt, ...]:
    while True:
        writes, _ = await settled(driver)
        fresh = [e for e in reversed(driver.journal.unwritten) if isinstance(e, Receipt)]
        left = max(skip - len(fresh), 0)
        stored = await ask(driver.shared.store.receipts(driver.id, left, most))
        if writes == driver.journal.writes:
            return (*fresh[skip:], *stored)[:most]


async def _said(driver: Driver, ids: Collection[MessageId]) -> tuple[Message, ...]:
    fresh = [e.message for e in driver.journal.unwritten if isinstance(e, Said)]
    found = {message.id: message for message in fresh if message.id in ids}
    for id_ in ids:
        if id_ not in found and (told := await ask(driver.shared.store.message(driver.id, id_))):
            found[id_] = told.message
    return tuple(found.values())


async def _last_cut(driver: Driver, part: Part, runs: Collection[RunId]) -> int:
    """Of what takes back something that runs said in a part of the log, the last; or its end."""
    if not runs or part.last >= part.length:
        return part.last
    cuts = await ask(driver.shared.store.cuts(driver.id, runs, part.last))
    return cuts[-1][0] if cuts else part.last


def _cuts(entries: Iterable[Entry]) -> list[Unshown]:
    return [entry for entry in entries if isinstance(entry, Unshown)]
