"""A store by its address. One that is not known is an error that lists those that are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lastword.errors import ExtraMissing, StoreError
from lastword.extras import need
from lastword.stores.contract import Store
from lastword.stores.lease import LENGTH
from lastword.stores.memory import MemoryStore

if TYPE_CHECKING:
    from lastword.stores.postgres import PostgresStore
    from lastword.stores.sqlite import SqliteStore

_PASSWORD = re.compile(r"(?<=//)([^:@/]*):.*(?=@)")


def open_store(url: str, *, lease: float = LENGTH) -> Store:
    """The store at an address, yet to be opened: `memory:`, `sqlite:` and the path of a file, or
    `postgresql://` and where a database is.

    `lease` is for how many seconds a process that shows no sign of life keeps its sessions."""
    scheme, colon, where = url.partition(":")
    match scheme + colon:
        case "memory:" if not where:
            return MemoryStore()
        case "sqlite:":
            return _sqlite(url, where, lease)
        case "postgres:" | "postgresql:":
            return _postgres(url, where, lease)
        case _:
            raise StoreError(
                f"no store can be opened at {without_password(url)!r}; the addresses known are "
                "'memory:', 'sqlite:PATH' and 'postgresql://HOST/DATABASE'"
            )


def _sqlite(url: str, path: str, lease: float) -> SqliteStore:
    from lastword.stores.sqlite import SqliteStore  # noqa: PLC0415 - for whoever has a file

    if not path.strip():
        raise StoreError(f"{url!r} names no file; write 'sqlite:PATH'")
    if path.startswith(":"):
        raise StoreError(
            f"{url!r} is a database that nobody else can open and that ends with the process; "
            "write 'memory:' for that"
        )
    if path.startswith("//"):
        raise StoreError(f"{url!r} is not how a file is named here; write 'sqlite:PATH'")
    if "\0" in path:
        raise StoreError(f"{url!r} has a zero byte in it, which no path can have")
    try:
        return SqliteStore(path, lease=lease)
    except RuntimeError as error:  # ~somebody, who has no home here
        raise StoreError(f"{url!r} cannot be found: {error}") from error


def _postgres(url: str, where: str, lease: float) -> PostgresStore:
    try:
        need("a store in PostgreSQL", "postgres")
    except ExtraMissing as error:
        raise StoreError(str(error)) from error
    from lastword.stores.postgres import PostgresStore  # noqa: PLC0415 - needs an extra

    if not where.startswith("//"):
        known = without_password(url)
        raise StoreError(f"{known!r} names no database; write 'postgresql://HOST/DATABASE'")
    return PostgresStore(url, lease=lease)


def without_password(url: str) -> str:
    """An address as it may be shown."""
    return _PASSWORD.sub(r"\1", url)
