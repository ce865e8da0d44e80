"""A store by its address."""

from __future__ import annotations

from lastword.errors import StoreError
from lastword.stores.contract import Store
from lastword.stores.memory import MemoryStore


def open_store(url: str) -> Store:
    """The store at an address. `memory:` is the only kind there is so far."""
    if url == "memory:":
        return MemoryStore()
    raise StoreError(f"no store can be opened at {url!r}; the only address known is 'memory:'")
