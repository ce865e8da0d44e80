"""What the tests of the file have in common."""

import os
import sqlite3
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from lastword.core.entries import Entry, Text
from lastword.core.model import Generation, RunId, SessionId
from lastword.errors import OwnedElsewhere
from lastword.stores.contract import StoredSession, Write
from lastword.stores.sqlite import SqliteStore

S = SessionId("s")


@asynccontextmanager
async def opened(path: Path, **settings: Any) -> AsyncGenerator[SqliteStore]:
    store = SqliteStore(path, **settings)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def filled(path: Path) -> None:
    """Not a byte is left."""
    with path.open("wb") as file:
        while True:
            try:
                os.write(file.fileno(), bytes(4096))
            except OSError:
                return


def text(number: int) -> Text:
    return Text(RunId("s#1"), str(number))


def write(number: int, *, session: str = S, generation: int = 1, size: int = 0) -> Write:
    entry = Text(RunId("s#1"), str(number) + " " * size)
    return Write(
        session=SessionId(session),
        generation=Generation(generation),
        serial=number,
        entries=(entry,),
    )


def numbers(entries: tuple[Entry, ...]) -> list[int]:
    return [int(entry.text) for entry in entries if isinstance(entry, Text)]


def seems_dead(path: Path, *epochs: int) -> None:
    """Let owners be forgotten, as whoever found them silent for too long does."""
    with by_hand(path) as db:
        for epoch in epochs:
            db.execute("DELETE FROM owners WHERE epoch = ?", (epoch,))


class Heir(SqliteStore):
    """To whom everybody who opened the file before seems to have died."""

    async def open(self) -> None:
        await super().open()
        self._forget()

    async def load(self, session: SessionId) -> StoredSession | None:
        while True:
            self._forget()
            with suppress(OwnedElsewhere):  # it was heard of again in between
                return await super().load(session)

    def _forget(self) -> None:
        with by_hand(self.path) as db:
            db.execute("DELETE FROM owners WHERE epoch < (SELECT max(epoch) FROM owners)")


@contextmanager
def by_hand(path: Path) -> Generator[sqlite3.Connection]:
    """The file as another program sees it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        yield db


def known_to(path: Path) -> list[int]:
    """The owners that the file knows."""
    with by_hand(path) as db:
        return [epoch for (epoch,) in db.execute("SELECT epoch FROM owners ORDER BY epoch")]


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Another program is in the middle of writing."""
    with by_hand(path) as db:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("ROLLBACK")


def content(path: Path) -> bytes:
    return path.read_bytes()


def put(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def names_in(path: Path) -> list[str]:
    return sorted(file.name for file in path.iterdir())


def move(path: Path, to: Path) -> None:
    path.rename(to)


def allow(path: Path, mode: int) -> None:
    path.chmod(mode)
