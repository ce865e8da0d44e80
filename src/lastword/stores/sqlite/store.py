"""The store as the runtime sees it: what is asked goes to one of two threads.

Writes, and the claims that loading makes, go to the writer; whatever only reads goes beside it
and never waits for a sync.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TypeVar

from lastword.core.cell import Values
from lastword.core.entries import Entry, Unshown
from lastword.core.model import MessageId, RunId, SessionId
from lastword.core.receipt import Receipt
from lastword.errors import OwnedElsewhere, StoreError
from lastword.stores.codec import is_large
from lastword.stores.contract import (
    EVERY,
    Label,
    LogPart,
    Overview,
    Place,
    SessionFilter,
    StoredCell,
    StoredMessage,
    StoredSession,
    StoreSize,
    UnusedSession,
    Write,
)
from lastword.stores.lease import LENGTH, Claim, Tenure, boottime
from lastword.stores.reach import Reach
from lastword.stores.sqlite import cells, parts, retention, tables
from lastword.stores.sqlite.file import PATIENCE, DatabaseFile, transaction
from lastword.stores.sqlite.health import wrong
from lastword.stores.sqlite.line import Line, StoreJob
from lastword.stores.sqlite.owners import Owner
from lastword.stores.sqlite.tables import Encoded, Tables
from lastword.stores.sqlite.writer import AT_ONCE, Writer

T = TypeVar("T")
ENDING = 2.0  # seconds that a load waits for what a dead owner started to be ended
_AGAIN = 0.02
CLOSING = 5.0  # seconds that a close waits for what is under way


class _Opened:
    """What there is while the store is open. Connections are made, and closed, by the threads."""

    def __init__(self, file: DatabaseFile, tenure: Tenure) -> None:
        self.owner = Owner(tenure)
        self.tables = Tables(self.owner, tenure)
        self.reading = Line("lastword reads", self._read, self._close_reader)
        self.writing: Line | None = None
        self.writer: Writer | None = None
        self._reader: sqlite3.Connection | None = None
        self.file = file
        self._tenure = tenure

    async def open(self) -> None:
        try:
            writer = await self.reading.ask(self._open)
        except BaseException:
            self.reading.ask(self._close_writer)  # if all went well, and only nobody waited for it
            self.reading.end()
            raise
        self.writing = Line(
            "lastword writes",
            writer.serve,
            writer.close,
            at_once=AT_ONCE,
            idle=writer.idle,
            every=self._tenure.terms.beat,
        )
        self._tenure.nudge = self.writing.nudge

    def _open(self, _: object) -> Writer:
        durable = self.file.open()
        try:
            with self.file.putting_in_words("it was not opened"):
                asked = boottime()
                with transaction(durable):
                    self.owner.enter(durable)
                self._tenure.answered(asked)
                self._reader = self.file.connect("FULL")
                self._reader.execute("PRAGMA query_only = ON")
                self.writer = Writer(self.file, self.owner, self.tables, durable, self._tenure)
        except BaseException:
            durable.close()
            raise
        return self.writer

    def _read(self, jobs: list[StoreJob]) -> None:
        for job in jobs:
            try:
                with self.file.putting_in_words("nothing was read"):
                    job.result = job.work(self._reader)
            except StoreError as error:
                job.error = error

    def _close_reader(self) -> None:
        if self._reader:
            self._reader.close()

    def _close_writer(self, _: object) -> None:
        if self.writer:
            self.writer.close()


class SqliteStore:
    """Everything in one file, and two more beside it that SQLite keeps while it is open."""

    shared = True
    durable = True
    reach: Reach | None = None

    def __init__(
        self,
        path: str | Path,
        *,
        lease: float = LENGTH,
        patience: float = PATIENCE,
    ) -> None:
        self.path = Path(path).expanduser().absolute()
        self.tenure: Tenure | None = Tenure(lease)
        self._patience = patience
        self._opened: _Opened | None = None

    def __repr__(self) -> str:
        return f"<SqliteStore {self.path} {'opened' if self._opened else 'not open yet'}>"

    @property
    def transactions(self) -> int:
        """How often the disk was waited for."""
        writer = self._opened and self._opened.writer
        return writer.transactions if writer else 0

    @property
    def trouble(self) -> StoreError | None:
        writer = self._opened and self._opened.writer
        return writer.trouble if writer else None

    async def open(self) -> None:
        """Be ready, or say what is wrong with the file. After an error it may be tried again."""
        if self._opened:
            raise StoreError(f"{self.path}: this store was opened before; make another one")
        file = DatabaseFile(self.path, patience=self._patience)
        self._opened = opened = _Opened(file, self.tenure or Tenure())
        try:
            await opened.open()
        except BaseException:
            self._opened = None
            raise

    async def load(self, session: SessionId) -> StoredSession | None:
        own = self._own()
        until = boottime() + ENDING
        while True:
            try:
                return await self._write(lambda db: own.load(db, session), durable=False)
            except OwnedElsewhere as error:
                if not error.ending or boottime() > until:
                    raise
            await asyncio.sleep(_AGAIN)

    def claim(self, session: SessionId) -> Claim:
        return self._own().claim(session)

    async def peek(self, session: SessionId) -> StoredSession | None:
        own = self._own()
        return await self._read(lambda db: own.peek(db, session))

    async def kept_by(self, process: int) -> None:
        owner = self._ready()[0].owner
        await self._write(lambda db: owner.kept_by(db, process), durable=False)

    async def release(self, session: SessionId) -> None:
        own = self._own()
        await self._write(lambda db: own.release(db, session), durable=False)

    async def commit(self, write: Write) -> None:
        own = self._own()
        if any(map(is_large, write.entries)):  # beside the event loop, which is not to wait for it
            encoded = await self._read(lambda _: Encoded.of(write))
        else:
            encoded = Encoded.of(write)
        await self._write(lambda db: own.commit(db, encoded))

    async def entries(self, session: SessionId, after: int = 0) -> tuple[Entry, ...]:
        return await self._read(lambda db: tables.entries(db, session, after))

    async def part(
        self, session: SessionId, before: int | None = None, *, most: int, size: int | None = None
    ) -> LogPart:
        return await self._read(lambda db: parts.part(db, session, before, most, size))

    async def receipts(self, session: SessionId, skip: int, most: int) -> tuple[Receipt, ...]:
        return await self._read(lambda db: parts.receipts(db, session, skip, most))

    async def cuts(
        self, session: SessionId, runs: Collection[RunId], after: int
    ) -> tuple[tuple[int, Unshown], ...]:
        return await self._read(lambda db: parts.cuts(db, session, runs, after))

    async def lost(self, among: Collection[SessionId]) -> tuple[SessionId, ...]:
        own = self._own()
        return await self._read(lambda db: own.lost(db, among))

    async def unfinished(self) -> tuple[SessionId, ...]:
        return await self._read(self._own().unfinished)

    async def message(self, session: SessionId, id: MessageId) -> StoredMessage | None:
        return await self._read(lambda db: tables.message(db, session, id))

    async def sessions(self) -> tuple[SessionId, ...]:
        return await self._read(parts.sessions)

    async def size(self) -> StoreSize:
        file = self._ready()[0].file
        return await self._read(lambda db: StoreSize(parts.count(db), file.sizes()))

    async def cells(self, session: SessionId | None = None) -> tuple[StoredCell, ...]:
        return await self._read(lambda db: cells.cells(db, session))

    async def values(self, session: SessionId) -> Values:
        return await self._read(lambda db: cells.values(db, session))

    async def overview(self, session: SessionId) -> Overview | None:
        own = self._own()
        return await self._read(lambda db: own.overview(db, session))

    async def recent(
        self, space: str, limit: int, before: Place | None = None, wanted: SessionFilter = EVERY
    ) -> tuple[Overview, ...]:
        own = self._own()
        return await self._read(lambda db: own.recent(db, space, limit, before, wanted))

    async def label(self, session: SessionId, label: Label) -> bool:
        return await self._write(lambda db: parts.label(db, session, label))

    async def delete(self, session: SessionId) -> None:
        own = self._own()
        await self._write(lambda db: own.delete(db, session))

    async def unused(self, since: float) -> tuple[UnusedSession, ...]:
        """The sessions last used before a time, in seconds since 1970; the oldest first."""
        return await self._read(lambda db: retention.unused(db, since))

    async def prune(self, session: SessionId, since: float) -> bool:
        """Delete it, if it is still one of those and nothing in it waits; whether it was."""
        own = self._own()
        return await self._write(lambda db: own.prune(db, session, since))

    async def check(self) -> list[str]:
        """What is wrong with the file, a line each; it is read from end to end."""
        return await self._read(wrong)

    async def close(self) -> None:
        """Let go of the sessions and the file, once what was asked for is done.

        It waits a few seconds at most; a disk that does not answer is left to the threads.
        """
        opened = self._opened
        lines = (opened.writing, opened.reading) if opened else ()
        ends = [line.end() for line in lines if line and not line.closed]
        if ends:
            await asyncio.wait(ends, timeout=CLOSING)

    def _ready(self) -> tuple[_Opened, Line]:
        if self._opened is None or self._opened.writing is None:
            raise StoreError(f"{self.path}: the store is not open yet")
        return self._opened, self._opened.writing

    def _own(self) -> Tables:
        return self._ready()[0].tables

    async def _write(self, work: Callable[[sqlite3.Connection], T], *, durable: bool = True) -> T:
        _, writing = self._ready()
        return await writing.ask(work, durable=durable)

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        opened, _ = self._ready()
        return await opened.reading.ask(work)
