"""What a session is about to make durable, in order.

Entries are added in the same step as what they tell of; a commit takes all that are there, so
several callers share one transaction, and order is kept. What a failed commit left is tried
again with the next one, except messages that were not acknowledged: their senders are told that
they were not accepted, so nothing of them may be stored later.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Protocol, TypeVar

from lastword.core.cell import CellId, StoredCell, Values
from lastword.core.entries import (
    Answered,
    Asked,
    Began,
    Called,
    Entry,
    Finished,
    Result,
    Said,
    Text,
    Thinking,
    Withdrawn,
)
from lastword.core.model import MessageId, SessionId
from lastword.core.queue import AT_REST, Standing, standing
from lastword.core.session import SessionMachine
from lastword.errors import OwnedElsewhere, StoreError
from lastword.runtime.clock import Clock, time_of_day
from lastword.runtime.tasks import Tasks
from lastword.stores.contract import State, Store, Write
from lastword.stores.lease import Claim

T = TypeVar("T")
AGAIN = 1.0  # seconds until what could not be stored is tried again
_TIMED = (Said, Began, Called, Result, Asked, Answered, Withdrawn, Finished)


async def ask(store: Awaitable[T]) -> T:
    """What a store answers; whatever else it raises is a `StoreError` from here on."""
    try:
        return await store
    except StoreError:
        raise
    except asyncio.CancelledError as error:
        here = asyncio.current_task()
        if here and here.cancelling():
            raise  # it is we who are being cancelled
        raise StoreError("the store gave up") from error
    except Exception as error:
        raise StoreError(f"the store failed: {error!r}") from error


class EntryLog(Protocol):
    """Where entries are put that are to be durable."""

    def add(self, *entries: Entry) -> None: ...
    async def committed(self) -> None: ...


class Reading:
    """Of a log that is added to meanwhile, and in which nothing changes."""

    def __init__(self, stored: int) -> None:
        self.stored = stored  # how many entries were, when it began
        self.since: list[Entry] = []  # what was since


class Journal:
    """One session's way to its store."""

    def __init__(
        self,
        session: SessionId,
        store: Store,
        machine: SessionMachine,
        refuse: Callable[[MessageId], None],
        lost: Callable[[], None],
        parent: SessionId | None = None,
        clock: Clock = time_of_day,
    ) -> None:
        self.serial = 0
        self.claim: Claim | None = None  # of the load that all this goes on from
        self.on_cells: Callable[[tuple[StoredCell, ...]], object] = bool  # who tells of them
        self._clock = clock
        self._machine = machine
        self._refuse = refuse  # called in the step in which a message was not stored
        self._lost = lost  # called when the session turns out to be another process's by now
        self._parent = parent
        self._session = session
        self._store = store
        self._pending: list[Entry | _Speech] = []
        self._cells: dict[CellId, StoredCell] = {}  # as each stands now
        self._values: dict[CellId, Values] = {}  # what each wants remembered
        self.going: dict[str, str] = {}  # what its model knows to outlive its run, by its id
        self._fresh: set[MessageId] = set()  # those whose senders wait for the next commit
        self._turn = asyncio.Lock()
        self._tasks = Tasks()
        self._next: asyncio.Task[None] | None = None  # a commit that has not begun
        self._under_way: asyncio.Task[None] | None = None
        self.closed = False
        self._standing = AT_REST  # as the store has it
        self._waits = False
        self._given_up = False
        self._stored: int | None = None  # how many entries the store has; None: it was not asked
        self._writing: tuple[Entry, ...] = ()  # what the write under way has taken
        self._readings: list[Reading] = []
        self._gone: OwnedElsewhere | None = None

    def add(self, *entries: Entry) -> None:
        """To be committed next."""
        if self.closed:
            return
        for entry in entries:
            if isinstance(entry, (Text, Thinking)):  # it tells no time, and may be a token
                self._add_speech(entry)
            else:
                self._pending.extend(stamped((entry,), self._clock()))

    def _add_speech(self, said: Text | Thinking) -> None:
        last = self._pending[-1] if self._pending else None
        if not (isinstance(last, _Speech) and last.goes_on_with(said)):
            self._pending.append(_Speech(said))

    def add_message(self, said: Said) -> None:
        """To be committed next, or not at all: its sender waits for that one commit."""
        self._fresh.add(said.message.id)
        self.add(said)

    def keep(self, cell: StoredCell, values: Values = ()) -> None:
        """How a cell stands, to be committed next, with what it wants remembered."""
        if not self.closed:
            self._cells[cell.id] = cell.lean
            self._values[cell.id] = values  # of a completion that was not stored, none is left

    async def values(self) -> Values:
        """What cells of the session have remembered."""
        await self.committed()
        return await ask(self._store.values(self._session))

    @property
    def unstored(self) -> tuple[Entry, ...]:
        """What is not known to be stored yet."""
        return (*self._writing, *_written(self._pending))

    @property
    def behind(self) -> bool:
        """Whether something is not durable yet."""
        return self._news or self._turn.locked()

    @property
    def _news(self) -> bool:
        news = self._pending or self._cells or self._standing != self._stands
        return not self.closed and bool(news)

    @property
    def _stands(self) -> Standing:
        machine = self._machine
        first = machine.steering
        if machine.active and not machine.started:
            first = (machine.active, *first)
        lifted = bool(machine.speaking)
        now = standing(first, machine.waiting, hushed=machine.hushed, lifted=lifted)
        if self.going:
            now = replace(now, going=tuple(self.going.items()))
        self._waits = self._waits and now.hushed
        if self._waits:  # nobody asked for that; the next process may do otherwise
            return replace(now, hushed=self._standing.hushed, held=self._standing.held)
        return now

    @property
    def _state(self) -> State:
        if self._machine.active:
            return "running"
        return "waiting" if self._machine.waiting else "idle"

    def found(self, stood: Standing, *, waits: bool) -> None:
        """The store has this; and what was found waits for a person, though nobody stopped it."""
        self._standing, self._waits = stood, waits and not stood.hushed
        self._stored = None  # others may have written since somebody last looked

    def stopped(self) -> None:
        """A person did say stop."""
        self._waits = False

    def commit(self) -> asyncio.Future[None]:
        """The commit that makes everything added so far durable. Shield it if you await it."""
        if self._news and self._next is None:
            self._next = self._tasks.start(self._commit(), name=f"commit {self._session}")
        return self._next or self._under_way or _done(self._gone)

    async def committed(self) -> None:
        """Return once everything added so far is durable. Whoever waits may give up; it goes on."""
        commit = self.commit()
        try:
            await asyncio.shield(commit)
        except asyncio.CancelledError:
            here = asyncio.current_task()
            if commit.cancelled() and not (here and here.cancelling()):
                raise StoreError("the runtime was closed before the store answered") from None
            raise

    async def committed_at_last(self, wanted: Callable[[], bool]) -> None:
        """The same, but a store in trouble only delays it, for as long as anybody wants it."""
        while wanted():
            try:
                await self.committed()
            except StoreError:
                await asyncio.sleep(AGAIN)
            else:
                return

    async def _commit(self) -> None:
        async with self._turn:
            self._under_way, self._next = self._next, None  # what is added now is for the next
            entries, self._pending = _written(self._pending), []
            fresh, self._fresh = self._fresh, set()
            cells, self._cells = self._cells, {}
            values, self._values = self._values, {}
            stands = self._stands
            write = Write(
                session=self._session,
                generation=self._machine.generation,
                serial=self.serial,
                entries=tuple(entries),
                standing=stands,
                parent=self._parent,
                at=self._clock(),
                cells=tuple(cells.values()),
                values=tuple(pair for of in values.values() for pair in of),
                state=self._state,
                claim=self.claim,
            )
            self._writing = write.entries
            try:
                await ask(self._store.commit(write))
                self._have_stored(write.entries)
                self._standing = stands
                if write.cells:
                    self.on_cells(write.cells)
            except BaseException as error:
                self._pending = [*_without(fresh, [*entries, *_written(self._pending)])]
                # what a cell wanted remembered is stored with its completion, or never: whoever
                # waits for that is told that it failed, and says so next
                self._cells = {i: c for i, c in cells.items() if not values.get(i)} | self._cells
                for message in sorted(fresh):
                    self._refuse(message)
                if isinstance(error, OwnedElsewhere):
                    self.lose(error)
                raise
            finally:
                self._under_way, self._writing = None, ()
                self._given_up = False

    def _have_stored(self, entries: tuple[Entry, ...]) -> None:
        self._writing = ()
        if self._stored is not None:
            self._stored += len(entries)
        for reading in self._readings:
            reading.since += entries

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[Reading]:
        """Read the log as it stands, while it goes on.

        How many entries are stored is known of a session that is ours, once the store was asked for
        it; of any other it is asked each time. Nothing is written while it is.
        """
        ours = self.claim is not None and not self.closed
        if self._stored is None or not ours:
            async with self._turn:
                part = await ask(self._store.part(self._session, None, most=1, size=1))
                self._stored = part.length
        reading = Reading(self._stored)
        self._readings.append(reading)
        try:
            yield reading
        finally:
            self._readings.remove(reading)

    @asynccontextmanager
    async def still(self) -> AsyncGenerator[None]:
        """Nothing is written meanwhile, so it is to be short."""
        async with self._turn:
            yield

    def after(self, reading: Reading) -> tuple[Entry, ...]:
        """What comes after the entries that were stored when it began, up to this step."""
        return (*reading.since, *self.unstored)

    def lose(self, error: OwnedElsewhere | None = None) -> None:
        """The session is another process's by now."""
        if not self.closed:
            self.close()
            self._gone = error or OwnedElsewhere(self._session, "another process by now")
            self._lost()

    def now(self) -> float:
        """The time of day, as entries tell it."""
        return self._clock()

    def give_up(self) -> None:
        """A stop cannot wait any longer for the commit under way."""
        self._given_up = self._turn.locked()

    @property
    def stuck(self) -> bool:
        """Whether the store has not answered since a stop gave up on it."""
        return self._given_up and self._turn.locked()

    def abandon(self) -> None:
        """Wait for the store no longer: the runtime ends."""
        self._tasks.cancel()

    def close(self) -> None:
        """Take nothing more: the session is no longer this one's to write."""
        self.closed = True
        self._pending = []


def stamped(entries: Iterable[Entry], at: float) -> Iterator[Entry]:
    """The same, with the time for those that tell one and have none yet."""
    for entry in entries:
        yield replace(entry, at=at) if isinstance(entry, _TIMED) and not entry.at else entry


def _done(error: StoreError | None) -> asyncio.Future[None]:
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
        done.exception()  # whoever awaits it is told; nobody has to
    return done


class _Speech:
    """Text, or thinking, that comes a piece at a time, and need not be a row for each."""

    __slots__ = ("_last", "_pieces")

    def __init__(self, said: Text | Thinking) -> None:
        self._last = said
        self._pieces = [said.text]

    def goes_on_with(self, said: Text | Thinking) -> bool:
        """Take it, if it is more of the same."""
        last = self._last
        if type(said) is not type(last) or said.run != last.run or last.native:
            return False
        self._last = said
        self._pieces.append(said.text)
        return True

    @property
    def entry(self) -> Entry:
        return replace(self._last, text="".join(self._pieces))


def _written(pending: Iterable[Entry | _Speech]) -> list[Entry]:
    return [one.entry if isinstance(one, _Speech) else one for one in pending]


def _without(refused: set[MessageId], entries: list[Entry]) -> list[Entry]:
    """The entries less whatever tells of messages that were never accepted."""
    rest: list[Entry] = []
    for entry in entries:
        match entry:
            case Said(message) if message.id in refused:
                continue
            case Finished(messages=messages) if refused & set(messages):
                left = tuple(message for message in messages if message not in refused)
                rest += [replace(entry, messages=left)] if left else []
            case _:
                rest.append(entry)
    return rest
