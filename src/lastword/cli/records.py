"""What a store holds, read by a person: sessions, what was said in them, receipts."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from lastword.core.model import SessionId
from lastword.core.receipt import Receipt
from lastword.core.seen import seen
from lastword.core.shown import Shown
from lastword.core.transcript import build
from lastword.errors import StoreError
from lastword.stores.contract import Store
from lastword.stores.opening import open_store
from lastword.stores.sqlite import SqliteStore
from lastword.surfaces.marking import in_line, marked
from lastword.surfaces.records import line

ABOUT = {
    "sessions": "List the sessions that a store holds.",
    "transcript": "Show what a model would be shown of a session.",
    "receipts": "Show the receipts of the stops and takeovers in a session.",
    "export": "Write everything that happened in a session to the output, as JSON lines.",
    "delete": "Forget everything that was said in a session, and in those below it.",
}
_MARKS = {"user": ">", "assistant": "<", "call": "·", "result": "=", "note": "#"}


def main(what: str, address: str, session: str | None) -> int:
    """Do one of them; 1 if it could not be done."""
    return asyncio.run(_main(what, address, session))


async def _main(what: str, address: str, session: str | None) -> int:
    try:
        store = await opened(address)
    except StoreError as error:
        print(f"lastword {what}: {error}", file=sys.stderr)
        return 1
    try:
        if session is None:
            for name in await store.sessions():
                print(in_line(name))
            return 0
        if session not in await store.sessions():
            why = f"there is no session {in_line(session)!r} there"
            print(f"lastword {what}: {why}", file=sys.stderr)
            return 1
        await _DO[what](store, SessionId(session))
    except StoreError as error:
        print(f"lastword {what}: {error}", file=sys.stderr)
        return 1
    finally:
        await store.close()
    return 0


async def opened(address: str) -> Store:
    """The store at an address. To look for something must not make a file."""
    store = open_store(address)
    if isinstance(store, SqliteStore) and not _anything_in(store.path):
        why = "is empty" if store.path.exists() else "does not exist"
        raise StoreError(f"{store.path} {why}; say which file with --store sqlite:PATH")
    await store.open()
    return store


def _anything_in(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


async def _transcript(store: Store, session: SessionId) -> None:
    for item in build(await store.entries(session)):
        print(_line(item))


def _line(item: Shown) -> str:
    name = f"{item.name} " if item.name else ""
    plain = "".join(c if c.isprintable() or c == "\n" else "?" for c in item.text)
    text = plain.replace("\n", "\n  ")  # what a model says must not steer the terminal
    return f"{_MARKS.get(item.role, '~')} {name}{text}"


async def _receipts(store: Store, session: SessionId) -> None:
    found = [entry for entry in await store.entries(session) if isinstance(entry, Receipt)]
    for receipt in found:
        print(marked(str(receipt)))
    if not found:
        print(f"Nothing was stopped in {in_line(session)}.")


async def _export(store: Store, session: SessionId) -> None:
    for entry in seen(await store.entries(session)):
        print(line(entry))


async def _delete(store: Store, session: SessionId) -> None:
    await store.load(session)  # or another process has it
    await store.delete(session)
    print(f"Deleted {in_line(session)}.")


_DO: dict[str, Callable[[Store, SessionId], Awaitable[None]]] = {
    "transcript": _transcript,
    "receipts": _receipts,
    "export": _export,
    "delete": _delete,
}
