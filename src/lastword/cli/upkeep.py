"""`lastword backup`, `restore`, `prune` and `vacuum`: what whoever runs a server does to its store.

Each says what it did and to which file, or what is wrong and that nothing was done.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lastword.agent.trust import Stamp, trust
from lastword.cli.records import opened
from lastword.errors import LastwordError, OwnedElsewhere, StoreError
from lastword.runtime.clock import time_of_day
from lastword.stores.contract import PrunableStore, Store, UnusedSession
from lastword.stores.opening import open_store, without_password
from lastword.stores.sqlite import SqliteStore
from lastword.stores.sqlite.backup import Progress, back_up, restore
from lastword.stores.sqlite.retention import vacuum
from lastword.surfaces.marking import in_line

USAGE = {
    "backup": "[--store ADDRESS] FILE",
    "restore": "[--store ADDRESS] FILE",
    "prune": "[--store ADDRESS] --older-than AGE [--dry-run]",
    "vacuum": "[--store ADDRESS]",
}
ABOUT = {
    "backup": """\
Copy a store to FILE, as it is at this moment. Servers that have it open go on
meanwhile.

The copy is checked before this says that it is done. FILE must not be there
yet. It is a backup, and no store: `lastword restore` makes one of it.""",
    "restore": """\
Make a store of the backup FILE, at a place where there is none.

End every server of the old store first, and move its files away. What was said
or done since the backup is not in it. What waited for its turn then waits for a
person now, and no number of a message, a run or a generation is given out a
second time.""",
    "prune": """\
Delete the sessions in which nothing was said or done for as long as AGE, with
those of their agents. Servers that have the store open go on meanwhile.

Kept are sessions that a server has in use, and those in which a message or a
program waits.""",
    "vacuum": """\
Rewrite a store without the space that deleted sessions took. New sessions
would use it, too. End every server of the store first; free disk space
twice as large as the store is needed.""",
}
_AGE = re.compile(r"([1-9][0-9]{0,5})([smhdw])")
_GONE = "{} ends with its process; this is for sqlite:PATH"
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def options(what: str, parser: argparse.ArgumentParser) -> None:
    """What can be said behind each of them."""
    if what in {"backup", "restore"}:
        told = "where to copy it" if what == "backup" else "what `lastword backup` made"
        parser.add_argument("file", metavar="FILE", type=Path, help=told)
    if what == "prune":
        parser.add_argument(
            "--older-than",
            required=True,
            type=_age,
            metavar="AGE",
            help="as 90d: a number and s, m, h, d or w",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="only list them, with when each was last used"
        )


def _age(told: str) -> timedelta:
    if not (found := _AGE.fullmatch(told)):
        raise argparse.ArgumentTypeError(
            f"an age is a number and s, m, h, d or w, such as 90d, and {told!r} is not"
        )
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def main(what: str, asked: argparse.Namespace) -> int:
    """Do one of them; 1 if it could not be done."""
    try:
        store = open_store(asked.store)
        if what != "prune":
            _DO[what](_file(store, asked.store), asked)
        else:
            _must_be_prunable(store, asked.store)
            _prune(asked)
    except StoreError as error:
        print(f"lastword {what}: {error}", file=sys.stderr)
        return 1
    return 0


def _file(store: Store, address: str) -> Path:
    if isinstance(store, SqliteStore):
        return store.path
    if store.durable:
        shown = without_password(address)
        raise StoreError(f"{shown} is a database, which its own tools look after: pg_dump, VACUUM")
    raise StoreError(_GONE.format(address))


def _must_be_prunable(store: Store, address: str) -> None:
    if not isinstance(store, PrunableStore):
        raise StoreError(_GONE.format(address))


def _backup(path: Path, asked: argparse.Namespace) -> None:
    target: Path = asked.file.absolute()
    made = back_up(path, target, _progress())
    print(f"Copied {_many(made.sessions)}, {_size(made.size)}, to {target}. The copy is whole.")


def _restore(path: Path, asked: argparse.Namespace) -> None:
    backup: Path = asked.file.absolute()
    made = restore(backup, path, _progress(), time_of_day())
    with suppress(LastwordError):  # else it is asked about when it is first opened
        trust(Stamp.of_file(path, path.stat()))
    print(f"Restored {_many(made.sessions)}, {_size(made.size)}, to {path}.")


def _prune(asked: argparse.Namespace) -> None:
    since = time_of_day() - asked.older_than.total_seconds()
    asyncio.run(_pruned(asked.store, since, dry=asked.dry_run))


async def _pruned(address: str, since: float, *, dry: bool) -> None:
    store = await opened(address)
    assert isinstance(store, PrunableStore)  # noqa: S101 - by its address
    try:
        found = await store.unused(since)
        gone = [one for one in found if not one.waits]
        if dry:
            for one in gone:
                print(f"{_day(one.at)}  {in_line(one.session)}")
        else:
            gone = [one for one in gone if await _deleted(store, one, since)]
    finally:
        await store.close()
    which = f"{_many(len(gone))}, last used before {_day(since)}"
    print(f"{'Would delete' if dry else 'Deleted'} {which}.")
    for one in found:
        if one.waits:
            print(f"Kept {in_line(one.session)}: something in it waits for an answer.")


async def _deleted(store: PrunableStore, one: UnusedSession, since: float) -> bool:
    try:
        return await store.prune(one.session, since)
    except OwnedElsewhere as error:
        print(f"Kept {in_line(one.session)}: {error}.")
        return False


def _vacuum(path: Path, _: argparse.Namespace) -> None:
    if not path.is_file() or not path.stat().st_size:
        why = "is empty" if path.is_file() else "does not exist"
        raise StoreError(f"{path} {why}; say which file with --store sqlite:PATH")
    before, after = vacuum(path)
    print(f"{path} had {_size(before)}, and has {_size(after)}.")


_DO: dict[str, Callable[[Path, argparse.Namespace], None]] = {
    "backup": _backup,
    "restore": _restore,
    "vacuum": _vacuum,
}


def _progress() -> Progress:
    """A line that is written over, for whoever watches."""
    if not sys.stderr.isatty():
        return lambda _, __: None

    def tell(copied: int, all_: int) -> None:
        share = 100 * copied // all_ if all_ else 100
        end = "\r\033[K" if copied == all_ else ""
        print(f"\r{share} % copied{end}", end="", file=sys.stderr, flush=True)

    return tell


def _many(sessions: int) -> str:
    return "1 session" if sessions == 1 else f"{sessions} sessions"


def _size(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"


def _day(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
