"""A statement, until it is known what came of it.

Whoever is refused is refused alone. A write whose answer never came is in doubt: the very same
statement is tried again, and what it refuses is looked for; if it stands there, it had been stored.
Nobody is told anything before that is known, unless the session is another's by then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from lastword.core.model import SessionId
from lastword.errors import OwnedElsewhere, StaleWrite
from lastword.stores.lease import Tenure, boottime
from lastword.stores.postgres.claims import Claims, Held
from lastword.stores.postgres.commit import COMMIT, EncodedWrite, arguments
from lastword.stores.postgres.nodes import Node
from lastword.stores.postgres.owning import Owning
from lastword.stores.postgres.wire import (
    PATIENCE,
    Database,
    PostgresConnection,
    ended,
    is_held_up,
    is_lost,
)

_AGAIN = 0.05  # seconds until a database that does not answer is tried again
_LONGEST = 10.0  # seconds that a statement has, at least
NOTHING = "nothing of this was stored"
_STANDS = "SELECT writes, generation FROM lastword.sessions WHERE key = $1"


@dataclass(slots=True, eq=False)
class InLine:
    """A write, and who waits for it."""

    encoded: EncodedWrite
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[None]
    error: Exception | None = None

    @property
    def session(self) -> SessionId:
        return self.encoded.write.session

    def answer(self) -> None:
        """Tell who waits. On their own event loop."""
        if self.future.done():
            return  # nobody waits any more; it was done all the same
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(None)


class _Unreachable(Exception):
    """There is no connection to be had, so nothing was sent."""


class _Over(Exception):
    """The lease in whose name it was sent has ended: whoever recovers it finds what there is."""


class Commits:
    """One store's, on a connection of its own. For the store's event loop."""

    def __init__(
        self, database: Database, node: Node, claims: Claims, sessions: Owning, tenure: Tenure
    ) -> None:
        self.transactions = 0  # how many were synced
        self._database = database
        self._node = node
        self._claims = claims
        self._sessions = sessions
        self._longest = max(tenure.terms.length, _LONGEST)
        self._connection: PostgresConnection | None = None

    async def together(self, batch: list[InLine]) -> None:
        """Write them, each of another session; what raises is no fault of theirs."""
        rest = [one for one in batch if self._may_be_sent(one)]
        if rest:
            await self._together(rest)

    def _may_be_sent(self, one: InLine) -> bool:
        """Who loaded a session, and was let go, goes on with nothing that waited in line."""
        write, held = one.encoded.write, self._claims.get(one.session)
        if held is None or (write.claim is not None and write.claim is not held.claim):
            one.error = OwnedElsewhere(one.session, "whoever loaded it here since")
        elif held.claim.ended:
            one.error = self._sessions.of_nobody(one.session)
        return one.error is None

    async def _together(self, batch: list[InLine]) -> None:
        sent = [(cast("Held", self._claims.get(one.session)), one) for one in batch]
        try:
            stored, doubt = await self._until_known(sent)
        except _Over:
            _refuse(batch, lambda one: self._sessions.of_nobody(one.session))
        except _Unreachable as error:
            trouble = self._database.trouble(error.__cause__ or error, NOTHING)
            _refuse(batch, lambda _: trouble)
        except Exception as error:  # noqa: BLE001 - drivers have errors of no family
            await self._alone(batch, error)
        else:
            self.transactions += 1
            for held, one in sent:
                if held.key not in stored:
                    one.error = await self._why(held, one, doubt=doubt)
                held.writes += one.error is None

    async def _until_known(self, sent: list[tuple[Held, InLine]]) -> tuple[set[int], bool]:
        """The keys of the sessions that were written; whether others may have been, before."""
        epoch, doubt, until = self._node.epoch, False, boottime() + PATIENCE
        rows = [(held, self._claims.number(held.root), one.encoded) for held, one in sent]
        while True:
            try:
                return await self._send(arguments(epoch, rows)), doubt
            except _Unreachable:
                if not doubt and boottime() > until:
                    raise
            except Exception as error:
                if not is_lost(error) and not (doubt and is_held_up(error)):
                    raise
                doubt = True
            if self._node.epoch != epoch:
                raise _Over
            await asyncio.sleep(_AGAIN)

    async def _send(self, arguments: list[object]) -> set[int]:
        db = await self._connected()
        try:
            async with asyncio.timeout(self._longest):
                return {row[0] for row in await db.fetch(COMMIT, *arguments)}
        except BaseException as error:
            if is_lost(error) or not isinstance(error, Exception):
                self._hang_up()
            raise

    async def _connected(self) -> PostgresConnection:
        if self._connection is None or self._connection.is_closed():
            try:
                self._connection = await self._database.connect(self._longest)
            except Exception as error:
                raise _Unreachable from error
        return self._connection

    def _hang_up(self) -> None:
        if self._connection:
            self._connection.terminate()
            self._connection = None

    async def _alone(self, batch: list[InLine], error: Exception) -> None:
        """One among them cannot be written, or waits for somebody's lock: the others need not."""
        if len(batch) == 1:
            batch[0].error = self._database.trouble(error, NOTHING)
            return
        for one in batch:
            await self._together([one])

    async def _why(self, held: Held, one: InLine, *, doubt: bool) -> Exception | None:
        """Why it was refused; None if it had been stored, by an attempt whose answer was lost."""
        while not held.claim.ended:
            try:
                db = await self._connected()
                async with asyncio.timeout(self._longest):
                    return await self._reason(db, held, one, doubt=doubt)
            except Exception as error:
                if not is_lost(error) and not isinstance(error, _Unreachable):
                    raise
                self._hang_up()
            await asyncio.sleep(_AGAIN)
        return self._sessions.of_nobody(one.session)

    async def _reason(
        self, db: PostgresConnection, held: Held, one: InLine, *, doubt: bool
    ) -> Exception | None:
        row = await db.fetchrow(_STANDS, held.key)
        if row and await self._sessions.is_ours(db, held):
            writes, generation = row
            if doubt and writes == held.writes + 1:
                return None
            asked = one.encoded.write.generation
            if generation is not None and generation > asked:
                return StaleWrite(one.session, asked, generation)
        return await self._sessions.why_not(db, one.session)

    async def close(self) -> None:
        """Let go of the connection."""
        if self._connection:
            await ended(self._connection)


def _refuse(batch: list[InLine], error: Callable[[InLine], Exception]) -> None:
    for one in batch:
        one.error = error(one)
