"""A store by its address. One that is not known is an error that lists those that are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lastword.errors import StoreError
from lastword.stores.contract import Store
from lastword.stores.lease import LENGTH
from lastword.stores.memory import MemoryStore

if TYPE_CHECKING:
    from lastword.stores.sqlite import SqliteStore


def open_store(url: str, *, lease: float = LENGTH) -> Store:
    """The store at an address, yet to be opened: `memory:`, or `sqlite:` and the path of a file.

    `lease` is for how many seconds a process that shows no sign of life keeps its sessions."""
    scheme, colon, where = url.partition(":")
    match scheme + colon:
        case "memory:" if not where:
            return MemoryStore()
        case "sqlite:":
            return _sqlite(url, where, lease)
        case _:
            raise StoreError(
                f"no store can be opened at {url!r}; the addresses known are 'memory:' and "
                "'sqlite:PATH'"
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
