"""A store that lives and dies with the process. The other stores do what this one does."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Collection
from dataclasses import dataclass, field

from lastword.core.cell import CellId, Values
from lastword.core.entries import Began, Entry, Finished, Said, Unshown
from lastword.core.model import Generation, MessageId, Outcome, RunId, SessionId
from lastword.core.queue import AT_REST, Standing
from lastword.core.receipt import Receipt
from lastword.errors import OwnedElsewhere, StaleWrite, StoreError
from lastword.stores.contract import (
    EVERY,
    Label,
    LogPart,
    Overview,
    Place,
    SessionFilter,
    State,
    StoredCell,
    StoredMessage,
    StoredSession,
    StoreSize,
    Write,
)
from lastword.stores.lease import Claim, Tenure
from lastword.stores.reach import Reach

_AT_ONCE = 1000  # sessions that are looked at in one step


@dataclass(slots=True)
class _Row:
    generation: Generation
    serial: int
    parent: SessionId | None = None
    standing: Standing = AT_REST
    at: float = 0.0
    title: str = ""
    name: str = ""
    pinned: bool = False
    state: State = "idle"
    entries: list[Entry] = field(default_factory=list[Entry])
    receipts: list[Receipt] = field(default_factory=list[Receipt])
    cuts: list[tuple[int, Unshown]] = field(default_factory=list[tuple[int, Unshown]])
    said: dict[MessageId, Said] = field(default_factory=dict[MessageId, Said])
    began: set[MessageId] = field(default_factory=set[MessageId])
    outcomes: dict[MessageId, Outcome] = field(default_factory=dict[MessageId, Outcome])
    open: dict[MessageId, int] = field(default_factory=dict[MessageId, int])  # and where it begins
    cells: dict[CellId, StoredCell] = field(default_factory=dict[CellId, StoredCell])
    values: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def unfinished(self) -> bool:
        return bool(self.open)


class MemoryStore:
    """Everything in dictionaries."""

    shared = False
    durable = False
    tenure: Tenure | None = None  # there is nobody else
    reach: Reach | None = None
    trouble: StoreError | None = None

    def __init__(self) -> None:
        self._claims: dict[SessionId, Claim] = {}
        self._rows: dict[SessionId, _Row] = {}
        self._below: dict[SessionId, set[SessionId]] = {}

    async def open(self) -> None:
        return

    def claim(self, session: SessionId) -> Claim:
        return self._claims.setdefault(session, Claim())

    async def kept_by(self, process: int) -> None:  # noqa: ARG002 - there is nobody to tell
        return

    async def release(self, session: SessionId) -> None:
        if claim := self._claims.pop(session, None):
            claim.end()

    async def load(self, session: SessionId) -> StoredSession | None:
        await MemoryStore.release(self, session)
        self._claims[session] = Claim()
        return await MemoryStore.peek(self, session)

    async def peek(self, session: SessionId) -> StoredSession | None:
        row = self._rows.get(session)
        if row is None:
            return None
        going = tuple(cell for cell in row.cells.values() if cell.record.ending is None)
        return StoredSession(
            row.generation,
            row.serial,
            row.unfinished,
            row.standing,
            going,
            row.parent,
            since=min(row.open.values(), default=0),
        )

    async def commit(self, write: Write) -> None:
        if write.claim is not None and write.claim is not self._claims.get(write.session):
            raise OwnedElsewhere(write.session, "whoever loaded it here since")
        row = self._rows.setdefault(write.session, _Row(Generation(0), 0))
        if write.generation < row.generation:
            raise StaleWrite(write.session, write.generation, row.generation)
        if write.parent is not None:
            self._below.setdefault(write.parent, set()).add(write.session)
            row.parent = write.parent
        row.generation, row.serial = write.generation, write.serial
        row.standing, row.state = write.standing, write.state
        row.at = max(row.at, write.at)
        first = len(row.entries)
        row.entries += write.entries
        row.cells |= {cell.id: cell for cell in write.cells}
        row.values |= dict(write.values)
        _keep_messages(row, write.entries, first)
        _keep_marks(row, write.entries, first)

    async def entries(self, session: SessionId, after: int = 0) -> tuple[Entry, ...]:
        row = self._rows.get(session)
        return tuple(row.entries[after:]) if row else ()

    async def part(
        self, session: SessionId, before: int | None = None, *, most: int, size: int | None = None
    ) -> LogPart:
        del size  # nothing has to be read
        row = self._rows.get(session)
        every = row.entries if row else []
        last = len(every) if before is None else min(before - 1, len(every))
        first = max(last - most, 0)
        return LogPart(tuple(every[first:last]), first, len(every))

    async def receipts(self, session: SessionId, skip: int, most: int) -> tuple[Receipt, ...]:
        row = self._rows.get(session)
        found = row.receipts if row else []
        last = max(len(found) - skip, 0)
        return tuple(reversed(found[max(last - most, 0) : last]))

    async def cuts(
        self, session: SessionId, runs: Collection[RunId], after: int
    ) -> tuple[tuple[int, Unshown], ...]:
        row = self._rows.get(session)
        every = row.cuts if row else []
        return tuple(one for one in every if one[0] > after and one[1].run in runs)

    async def lost(self, among: Collection[SessionId]) -> tuple[SessionId, ...]:  # noqa: ARG002
        return ()  # there is nobody else

    async def unfinished(self) -> tuple[SessionId, ...]:
        rows = self._rows.items()
        return tuple(session for session, row in rows if row.unfinished)

    async def message(self, session: SessionId, id: MessageId) -> StoredMessage | None:
        row = self._rows.get(session)
        if row is None or id not in row.said:
            return None
        said = row.said[id]
        return StoredMessage(said.message, said.run, row.outcomes.get(id), id in row.began)

    async def sessions(self) -> tuple[SessionId, ...]:
        return tuple(session for session, row in self._rows.items() if row.entries)

    async def size(self) -> StoreSize:
        return StoreSize(sum(bool(row.entries) for row in self._rows.values()))

    async def cells(self, session: SessionId | None = None) -> tuple[StoredCell, ...]:
        if session is not None:
            return tuple(self._rows[session].cells.values()) if session in self._rows else ()
        every = (cell for row in self._rows.values() for cell in row.cells.values())
        return tuple(cell for cell in every if cell.record.ending is None)

    async def values(self, session: SessionId) -> Values:
        row = self._rows.get(session)
        return tuple(row.values.items()) if row else ()

    async def overview(self, session: SessionId) -> Overview | None:
        row = self._rows.get(session)
        if row is None or not row.entries:
            return None
        shown = row.generation, row.name or row.title, row.at, row.state
        rest = None, row.parent, row.pinned, len(row.said)
        return Overview(session, *shown, *rest)

    async def label(self, session: SessionId, label: Label) -> bool:
        row = self._rows.get(session)
        if row is None or not row.entries:
            return False
        row.name = row.name if label.title is None else label.title
        row.pinned = row.pinned if label.pinned is None else label.pinned
        return True

    async def recent(
        self, space: str, limit: int, before: Place | None = None, wanted: SessionFilter = EVERY
    ) -> tuple[Overview, ...]:
        names, newest = tuple(self._rows), list[Place]()
        for start in range(0, len(names), _AT_ONCE):
            if start:
                await asyncio.sleep(0)  # nobody is to wait until thousands were looked at
            some = [(name, self._rows.get(name)) for name in names[start : start + _AT_ONCE]]
            fitting = [
                (row.at, name)
                for name, row in some
                if row and row.entries and name.startswith(space) and "/" not in name[len(space) :]
                if wanted.fits(row.name or row.title, pinned=row.pinned)
            ]
            earlier = [place for place in fitting if before is None or place < before]
            newest = heapq.nlargest(limit, (*newest, *earlier))
        found = list[Overview]()
        for count, (_, name) in enumerate(newest, 1):
            if count % _AT_ONCE == 0:
                await asyncio.sleep(0)
            if one := await MemoryStore.overview(self, name):
                found.append(one)
        return tuple(found)

    async def delete(self, session: SessionId) -> None:
        if row := self._rows.get(session):
            self._rows[session] = _Row(row.generation, row.serial)
        for below in self._below.pop(session, ()):
            await self.delete(below)
            del self._rows[below]

    async def close(self) -> None:
        return


def _keep_marks(row: _Row, entries: tuple[Entry, ...], first: int) -> None:
    """What a log is searched for is found without going through it."""
    for number, entry in enumerate(entries, first + 1):
        if isinstance(entry, Receipt):
            row.receipts.append(entry)
        elif isinstance(entry, Unshown):
            row.cuts.append((number, entry))


def _keep_messages(row: _Row, entries: tuple[Entry, ...], first: int) -> None:
    for number, entry in enumerate(entries, first):
        if isinstance(entry, Said):
            row.said[entry.message.id] = entry
            row.title = row.title or entry.message.title
            row.open[entry.message.id] = number
            row.began.discard(entry.message.id)  # edited, or given back: it waits
        elif isinstance(entry, Began):
            row.began.update(entry.messages)
        elif isinstance(entry, Finished):
            row.outcomes |= dict.fromkeys(entry.messages, entry.outcome)
            for message in entry.messages:
                row.open.pop(message, None)
