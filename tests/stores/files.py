"""What the tests of the file have in common."""

import sqlite3
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

from lastword.core.entries import Entry, Text
from lastword.core.model import Generation, RunId, SessionId
from lastword.stores.contract import Write
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


def text(number: int) -> Text:
    return Text(RunId("s#1"), str(number))


def write(number: int, *, session: str = S, generation: int = 1, size: int = 0) -> Write:
    entry = Text(RunId("s#1"), str(number) + " " * size)
    return Write(SessionId(session), Generation(generation), number, (entry,))


def numbers(entries: tuple[Entry, ...]) -> list[int]:
    return [int(entry.text) for entry in entries if isinstance(entry, Text)]


@contextmanager
def by_hand(path: Path) -> Generator[sqlite3.Connection]:
    """The file as another program sees it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        yield db


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
