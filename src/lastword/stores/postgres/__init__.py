"""The store in a PostgreSQL database, which processes on several machines may share.

Whose a session is is decided in the very statement that writes to it.
"""

from lastword.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
