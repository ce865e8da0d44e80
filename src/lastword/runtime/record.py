"""What happened in a session, read while it goes on: all of it, or some of it at a time.

The log in the store, and what was added since the reading of it began, are one story: nothing of a
log is changed, so what was there is read once, however fast a run speaks meanwhile. What a run is
about to say is not part of it: who follows the feed from here is told.

A page costs what it holds, however long the log is. Only where something of it was taken back later
is what lies between read too: what nobody saw is told by counting back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple, Protocol, TypeVar

from lastword.core.cell import StoredCell
from lastword.core.entries import Entry, Said, Text, Thinking, Unshown
from lastword.core.model import Generation, Message, MessageId, RunId, SessionId
from lastword.core.queue import AT_REST, Queued, QueueNews
from lastword.core.receipt import Receipt
from lastword.core.seen import seen
from lastword.core.shown import Shown
from lastword.errors import Named, UnknownSession
from lastword.runtime.announcer import queue_of
from lastword.runtime.journal import Journal, ask
from lastword.runtime.protocol import LogPage, View
from lastword.runtime.seat import Seat
from lastword.runtime.shared import Shared
from lastword.runtime.work import Work
from lastword.stores.contract import Label, LogPart, Overview, Store, StoredSession

T = TypeVar("T")
_SHORT = 1000  # entries that are gone through at once; more are beside the loop
_TRIES = 3  # to read receipts while others are written; then those wait for one reading


class Readable(Protocol):
    """What reading needs of a conversation."""

    seat: Seat
    shared: Shared

    def held(self) -> AbstractContextManager[Work]: ...
    def must_be_open(self) -> None: ...


class Reader:
    """One session's record."""

    def __init__(self, of: Readable) -> None:
        self._of = of

    @contextmanager
    def _here(self) -> Generator[_Here]:
        with self._of.held() as work:
            yield _Here(self._of.seat, self._of.shared.store, work)

    async def log(self) -> tuple[Entry, ...]:
        with self._here() as here:
            await here.journal.committed()
            return seen(await ask(here.store.entries(here.id)))

    async def view(self) -> View:
        self._of.must_be_open()
        with self._here() as here:
            return await _in_one_hand(here, lambda: _view(here))

    async def page(self, before: int | None, most: int, size: int) -> LogPage:
        self._of.must_be_open()
        with self._here() as here:
            return await _in_one_hand(here, lambda: _page(here, before, most, size))

    async def receipts(self, skip: int, most: int) -> tuple[Receipt, ...]:
        self._of.must_be_open()
        with self._here() as here:
            return await _receipts(here, skip, most)

    async def said(self, ids: Collection[MessageId]) -> tuple[Message, ...]:
        with self._here() as here:
            return await _said(here, ids)

    async def cells(self) -> tuple[StoredCell, ...]:
        with self._here() as here:
            await here.journal.committed()
            return await ask(here.store.cells(here.id))

    async def overview(self) -> Overview | None:
        return await ask(self._of.shared.store.overview(self._of.seat.id))

    async def label(self, label: Label) -> None:
        if not await ask(self._of.shared.store.label(self._of.seat.id, label)):
            raise UnknownSession("nothing was ever said in session ", Named(self._of.seat.id))

    async def queued(self) -> QueueNews:
        with self._here() as here:
            if here.seat.inbox.known:
                return queue_of(here.seat.machine)
            return await _queued_elsewhere(here)

    async def history(self) -> tuple[Shown, ...]:
        with self._here() as here:
            return tuple(await here.work.runs.history.shown())


class _Here(NamedTuple):
    """Where it is read: while it is held at work."""

    seat: Seat
    store: Store
    work: Work

    @property
    def id(self) -> SessionId:
        return self.seat.id

    @property
    def journal(self) -> Journal:
        return self.work.journal


async def _in_one_hand(here: _Here, read: Callable[[], Awaitable[T]]) -> T:
    """What was read while this process came to have the session is read again: between its entries
    and its events there may be what another process wrote, and what was settled of that."""
    while True:
        known = here.seat.inbox.known
        found = await read()
        if here.seat.inbox.known is known:
            return found


async def _view(here: _Here) -> View:
    """All there is to see now. To look takes nothing, so another process may have the session."""
    journal = here.journal
    found = await _standing(here)
    async with journal.reading() as reading:
        stored = (await ask(here.store.entries(here.id)))[: reading.stored]
        number, generation, typing, held = _moment(here, found)
        every = (*stored, *journal.after(reading), *held)
    entries = seen(every) if len(every) <= _SHORT else await asyncio.to_thread(seen, every)
    return View(number, generation, typing, entries)


async def _standing(here: _Here) -> StoredSession | None:
    """Of a session that another process may have, where it stands."""
    await here.seat.feed.claim.known()  # what was not shown yet waits for that
    return None if here.seat.inbox.known else await ask(here.store.peek(here.id))


def _moment(here: _Here, found: StoredSession | None) -> tuple[int, Generation, bool, list[Entry]]:
    """The last event, the generation, whether somebody types, and what is not out."""
    with here.seat.lock:
        held = here.work.runs.unshown
        number, generation = here.seat.feed.last, here.seat.machine.generation
    generation = max(generation, found.generation) if found else generation
    typing = here.work.runs.typing
    return number, generation, typing, held


async def _page(here: _Here, before: int | None, most: int, size: int) -> LogPage:
    store, journal = here.store, here.journal
    found = await _standing(here)
    async with journal.reading() as reading:
        ends = reading.stored + 1 if before is None else min(before, reading.stored + 1)
        part = await ask(store.part(here.id, ends, most=most, size=size))
        length = min(reading.stored, part.length)
        runs = {e.run for e in part.entries if isinstance(e, Text | Thinking)}
        last = await _last_cut(here, part, length, runs)
        while True:
            between = await _between(here, part.last, last)
            number, generation, typing, held = _moment(here, found)
            tail = journal.after(reading)
            if last >= length or not _takes_back((*tail, *held), runs):
                break
            last = length  # something new does, and counts back through all that lies between
    read = (*part.entries, *between, *tail, *held)
    if part.last < length:
        return LogPage(number, generation, typing, part.before, len(part.entries), read)
    more = len(tail) if before is None else max(min(before - 1 - length, len(tail)), 0)
    many = min(len(part.entries) + more, most)
    over = len(part.entries) + more - many
    return LogPage(number, generation, typing, part.before + over, many, read[over:])


async def _receipts(here: _Here, skip: int, most: int) -> tuple[Receipt, ...]:
    journal = here.journal
    await _standing(here)
    for _ in range(_TRIES):
        async with journal.reading() as reading:
            found = await _receipts_now(here, skip, most)
            if not any(isinstance(e, Receipt) for e in reading.since):
                return found
    async with journal.still():
        return await _receipts_now(here, skip, most)


async def _receipts_now(here: _Here, skip: int, most: int) -> tuple[Receipt, ...]:
    fresh = [e for e in reversed(here.journal.unstored) if isinstance(e, Receipt)]
    left = max(skip - len(fresh), 0)
    stored = await ask(here.store.receipts(here.id, left, most))
    return (*fresh[skip:], *stored)[:most]


async def _said(here: _Here, ids: Collection[MessageId]) -> tuple[Message, ...]:
    fresh = [e.message for e in here.journal.unstored if isinstance(e, Said)]
    found = {message.id: message for message in fresh if message.id in ids}
    for id_ in ids:
        if id_ not in found and (told := await ask(here.store.message(here.id, id_))):
            found[id_] = told.message
    return tuple(found.values())


async def _last_cut(here: _Here, part: LogPart, length: int, runs: Collection[RunId]) -> int:
    """Of what takes back something that runs said in a part of the log, the last; or its end."""
    if not runs or part.last >= length:
        return part.last
    cuts = await ask(here.store.cuts(here.id, runs, part.last))
    return max((number for number, _ in cuts if number <= length), default=part.last)


async def _between(here: _Here, first: int, last: int) -> tuple[Entry, ...]:
    """The entries after one, up to another."""
    if last <= first:
        return ()
    return (await ask(here.store.part(here.id, last + 1, most=last - first))).entries


def _takes_back(entries: Iterable[Entry], runs: Collection[RunId]) -> bool:
    return any(isinstance(entry, Unshown) and entry.run in runs for entry in entries)


async def _queued_elsewhere(here: _Here) -> QueueNews:
    """What waits in a session that this process does not have, in the order that is stored."""
    store = here.store
    found = await ask(store.peek(here.id))
    standing = found.standing if found else AT_REST
    told = [await ask(store.message(here.id, id_)) for id_ in standing.order]
    waiting = [
        Queued(one.message, one.run, "queued", held=one.message.id in standing.held)
        for one in told
        if one and not one.began and one.outcome is None
    ]
    return QueueNews(tuple(waiting), standing.hushed)
