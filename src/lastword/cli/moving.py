"""`lastword move-store`: a store goes from a file to a database, with all that is in it."""

from __future__ import annotations

import argparse
import asyncio
import sys

from lastword.errors import ExtraMissing, StoreError
from lastword.extras import need
from lastword.stores.opening import open_store, without_password
from lastword.stores.sqlite import SqliteStore

ABOUT = """\
Move a store from a file, sqlite:PATH, to a database,
postgresql://HOST/DATABASE.

End every server of it first. All of it is moved, or nothing: sessions, their
logs and receipts, what waits, and programs that stand at a frontier. The
database must have no sessions yet. The file is a backup from then on, and no
store, so that no server goes on with it by mistake: `lastword restore` makes a
store of it again."""


def options(parser: argparse.ArgumentParser) -> None:
    """From where, and to where."""
    parser.add_argument("source", metavar="FROM", help="sqlite:PATH")
    parser.add_argument("target", metavar="TO", help="postgresql://HOST/DATABASE")


def main(asked: argparse.Namespace) -> int:
    """Move it; 1 if that could not be done."""
    try:
        need("a store in PostgreSQL", "postgres")
        from lastword.stores.moving import move  # noqa: PLC0415 - needs an extra

        source, target = open_store(asked.source), open_store(asked.target)
        if not isinstance(source, SqliteStore) or not asked.target.startswith("postgres"):
            raise StoreError("it goes from sqlite:PATH to postgresql://HOST/DATABASE")  # noqa: TRY301
        del target
        moved = asyncio.run(move(source.path, asked.target))
    except (StoreError, ExtraMissing) as error:
        print(f"lastword move-store: {error}", file=sys.stderr)
        return 1
    many = "1 session" if moved.sessions == 1 else f"{moved.sessions} sessions"
    shown = without_password(asked.target)
    print(f"Moved {many}, with {moved.entries:,} entries, to {shown}.")
    print(f"{source.path} is a backup from now on, and no store.")
    return 0
