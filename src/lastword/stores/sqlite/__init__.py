"""The store in a file: SQLite, written by one thread, safe for several processes."""

from lastword.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
