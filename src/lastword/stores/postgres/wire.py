"""Connections to the database: made, trusted for as long as they answer, and given up as a whole.

There is one timeout, from outside. A connection that did anything unexpected is not asked again:
what it was asked may or may not have been done, and whoever asked has to know what to do then.
Errors name the database, and never a password.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeAlias, TypeVar, cast
from urllib.parse import parse_qs, unquote, urlsplit

import asyncpg  # pyright: ignore[reportMissingTypeStubs] - it has none; what is used is below

from lastword.errors import StoreError
from lastword.stores.lease import boottime

T = TypeVar("T")
Row: TypeAlias = Sequence[Any]
Heard: TypeAlias = Callable[[Any, int, str, str], object]
CONNECTING = 5.0  # seconds
PATIENCE = 5.0  # seconds for which a database that does not answer is tried again
_READERS = 4
_AGAIN = 0.05  # seconds until it is tried again
_LONGEST = 0.5
_LOCK = "2s"  # for which somebody's psql may hold a row that is wanted
_TRANSIENT = {"08", "57", "53"}  # connections, an operator's word, resources
_READ_ONLY = "25006"  # it became a standby; another is the primary now
_CANCELLED = "57014"  # by a timeout of its own: the connection is as good as before


class PostgresConnection(Protocol):
    """As much of asyncpg's as is used here."""

    async def fetch(self, query: str, *args: object) -> list[Row]: ...
    async def fetchrow(self, query: str, *args: object) -> Row | None: ...
    async def fetchval(self, query: str, *args: object) -> Any: ...  # noqa: ANN401 - a column's
    async def execute(self, query: str, *args: object) -> str: ...
    async def copy_records_to_table(
        self, table: str, *, schema_name: str, columns: list[str], records: list[tuple[Any, ...]]
    ) -> str: ...
    async def add_listener(self, channel: str, callback: Heard) -> None: ...
    def transaction(self) -> Any: ...  # noqa: ANN401 - a context
    def is_closed(self) -> bool: ...
    def terminate(self) -> None: ...
    async def close(self, *, timeout: float | None = None) -> None: ...


_connect = cast("Callable[..., Awaitable[PostgresConnection]]", asyncpg.connect)  # pyright: ignore[reportUnknownMemberType]


class Database:
    """Where a store lives."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.shown = _shown(address)

    async def connect(self, longest: float) -> PostgresConnection:
        """A connection on which no statement takes longer than so many seconds."""
        settings = {
            "application_name": "lastword",
            "synchronous_commit": "on",  # whatever the database, or the role, is set to
            "lock_timeout": _LOCK,
            "statement_timeout": f"{int(longest * 1000)}",
            "idle_in_transaction_session_timeout": f"{int(longest * 1000)}",
            "tcp_user_timeout": f"{int(longest * 1000)}",  # nobody's locks outlive their machine
            "jit": "off",  # which costs more than it could save here
        }
        async with asyncio.timeout(CONNECTING):
            return await _connect(self.address, server_settings=settings, timeout=None)

    def trouble(self, error: BaseException, outcome: str) -> StoreError:
        """The same, in words that name the database and what came of it."""
        if isinstance(error, StoreError):
            return error
        return StoreError(f"{self.shown}: {_why(error)}; {outcome}")


def is_lost(error: BaseException) -> bool:
    """Whether another connection may do better."""
    if isinstance(error, asyncpg.PostgresError):
        state = str(getattr(error, "sqlstate", "") or "")
        return state == _READ_ONLY or (state[:2] in _TRANSIENT and state != _CANCELLED)
    ours = isinstance(error, ValueError)  # an argument that cannot be sent
    known = OSError | TimeoutError | asyncpg.InterfaceError | asyncpg.InternalClientError
    return isinstance(error, known) and not ours


def is_held_up(error: BaseException) -> bool:
    """Whether it failed by something that passes: a lock, a deadlock, a timeout."""
    return str(getattr(error, "sqlstate", "") or "") in {"55P03", "40P01", _CANCELLED}


class Connections:
    """At most so many, made as they are wanted. For one event loop."""

    def __init__(self, database: Database, longest: float) -> None:
        self.database = database
        self._longest = longest
        self._idle: list[PostgresConnection] = []
        self._turns = asyncio.Semaphore(_READERS)

    async def ask(
        self,
        work: Callable[[PostgresConnection], Awaitable[T]],
        outcome: str,
        longest: float | None = None,
    ) -> T:
        """Do something that does no harm if it is done twice; it is, if the connection fails. It
        takes no longer than so many seconds."""
        until, pause = boottime() + PATIENCE, _AGAIN
        while True:
            try:
                async with self._one() as connection, asyncio.timeout(longest or self._longest):
                    return await work(connection)
            except StoreError:
                raise
            except Exception as error:
                if not is_lost(error) or boottime() > until:
                    raise self.database.trouble(error, outcome) from error
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST)

    @asynccontextmanager
    async def _one(self) -> AsyncGenerator[PostgresConnection]:
        async with self._turns:
            while self._idle and self._idle[-1].is_closed():
                self._idle.pop()
            found = self._idle.pop() if self._idle else await self.database.connect(self._longest)
            try:
                yield found
            except BaseException as error:
                if isinstance(error, StoreError):
                    self._idle.append(found)
                else:
                    found.terminate()
                if is_lost(error):
                    self._hang_up()  # the others have waited longer, and will not do better
                raise
            self._idle.append(found)

    def _hang_up(self) -> None:
        idle, self._idle = self._idle, []
        for one in idle:
            one.terminate()

    async def close(self) -> None:
        """Let go of those that nobody uses."""
        idle, self._idle = self._idle, []
        for one in idle:
            await ended(one)


async def ended(connection: PostgresConnection) -> None:
    """Say goodbye, if that takes no time."""
    try:
        async with asyncio.timeout(1.0):
            await connection.close()
    except Exception:  # noqa: BLE001 - it is gone, one way or the other
        connection.terminate()


def must_be_storable(name: str) -> None:
    """Raise if it is not a text to PostgreSQL, though it is one to everybody else."""
    if "\0" in name:
        raise StoreError(f"{name!r} has a zero byte in it, which PostgreSQL cannot store")


def _shown(address: str) -> str:
    """An address without its password."""
    try:
        parts = urlsplit(address)
        more = parse_qs(parts.query)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "postgresql:"
    host = host or ",".join(more.get("host", [])) or "localhost"
    user = unquote(parts.username or "") or "".join(more.get("user", []))
    whom = f"{user}@" if user else ""
    where = f"{host}:{port}" if port else host
    return f"postgresql://{whom}{where}/{unquote(parts.path).lstrip('/')}".rstrip("/")


def _why(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "the database does not answer"
    said = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, OSError):
        return f"the database cannot be reached ({said})"
    if "unsupported startup parameter" in said:
        said += "; a pooler is in between, so name the database's own port"
    return f"the database says: {said}"
