"""The store in a file: SQLite, written by one thread, safe for several processes.

Whose a session is is asked in the very transaction that writes to it. All that waits goes into one,
and one sync.
"""

from lastword.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
