"""The one connection on which the lease is renewed, and what others ask is heard.

It is the store's own thread's, so that a stalled event loop of the program neither loses the lease
at once nor keeps a stop out. But who cannot act is not to own: when that loop has not turned for as
long as a lease is good, it is not renewed, until the loop turns again. A loop that stands still
because it waits for that very renewal, as whoever begins something may, is not stalled.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import suppress

from lastword.errors import Named, StoreError
from lastword.stores.lease import Tenure, boottime
from lastword.stores.postgres import schema
from lastword.stores.postgres.claims import Claims
from lastword.stores.postgres.errands import Errands
from lastword.stores.postgres.nodes import Node
from lastword.stores.postgres.wire import Database, PostgresConnection

log = logging.getLogger("lastword")
_AGAIN = 0.1  # seconds until a database that does not answer is tried again
_SWIFT = 0.02  # the least that lies between two renewals, however often they are asked for
_SETTLING = 600.0  # seconds for what is no renewal: new tables, or every row after a failover


class Control:
    """One opened store's."""

    def __init__(
        self,
        database: Database,
        node: Node,
        claims: Claims,
        errands: Errands,
        tenure: Tenure,
        program: asyncio.AbstractEventLoop,
        thread: int,
    ) -> None:
        self._database = database
        self._node = node
        self._claims = claims
        self._errands = errands
        self._tenure = tenure
        self._program = program  # the event loop in whose name all this is owned
        self._thread = thread  # and the thread that it is in
        self._turned = boottime()
        self._loop = asyncio.get_running_loop()
        self._poked = asyncio.Event()
        self._timeline = ""
        self._prepared = False  # only then is a newer schema a reason to be refused
        self._renewed = boottime()
        self.trouble: StoreError | None = None  # why nothing may be written
        self._db: PostgresConnection | None = None
        self._turn_of = asyncio.Lock()  # one at a time is on it

    async def open(self) -> None:
        """Have the tables, a row, and a lease; or say what is wrong."""
        try:
            await self._beat()
        except BaseException as error:
            self._hang_up()
            raise self._database.trouble(error, "it was not opened") from error

    def nudge(self) -> None:
        """Renew the lease now. Any thread may ask."""
        if threading.get_ident() == self._thread:
            self._turned = boottime()
        with suppress(RuntimeError):  # it was closed
            self._loop.call_soon_threadsafe(self._poked.set)

    async def live(self) -> None:
        """Renew it, until it has ended."""
        while not self._tenure.ended:
            pause = self._tenure.terms.beat
            try:
                await self._beat()
            except Exception as error:  # noqa: BLE001 - the driver has errors of no family
                self._not_renewed(error)
                self._hang_up()
                pause = _AGAIN
            await asyncio.sleep(_SWIFT)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._poked.wait()
            self._poked.clear()

    async def _beat(self) -> None:
        self._ask_program()
        length = self._tenure.terms.length
        async with self._turn_of:
            if self._db is None or self._db.is_closed():
                self._db = await self._database.connect(length)
                async with asyncio.timeout(_SETTLING):
                    await self._found(self._db)
            if not self._node.epoch:
                async with asyncio.timeout(_SETTLING):
                    await self._enter(self._db)
            async with asyncio.timeout(length):
                await self._renew(self._db)

    async def _renew(self, db: PostgresConnection) -> None:
        asked, length = boottime(), self._tenure.terms.length
        may = asked - self._turned < length
        renewal = await self._node.renew(db, beat=may)
        # on another timeline, a standby took over, which may not know all that was written
        if not renewal.alive or renewal.timeline != self._timeline:
            self._die()
            return
        self._errands.heard(renewal.asked)  # a stop is made before anything goes on
        if may:
            self._tenure.answered(asked)
            self._renewed = asked
            if self.trouble:
                self.trouble = None
                log.warning("the lease is renewed again")
            await self._node.look(db)

    def _not_renewed(self, error: Exception) -> None:
        """Said once, and while something can still be done about it."""
        why = type(error).__name__
        log.debug("not renewed error=%s", why)
        if not self.trouble and boottime() - self._renewed > self._tenure.terms.length / 2:
            shown = Named(self._database.shown)
            self.trouble = StoreError(shown, ": the lease could not be renewed; nothing is stored")
            log.warning("the lease could not be renewed for half its length error=%s", why)

    async def _found(self, db: PostgresConnection) -> None:
        """The tables are there. Who had them open goes on beside a newer lastword, which adds to
        them; only to open them takes knowing all of them."""
        if self._prepared:
            await schema.must_be_primary(db, self._database)
        else:
            await schema.prepare(db, self._database)
            self._prepared = True
        if self._node.epoch:
            await self._listen(db)

    async def _enter(self, db: PostgresConnection) -> None:
        self._timeline = await schema.settle_in(db)
        await self._node.enter(db)
        await self._listen(db)

    async def _listen(self, db: PostgresConnection) -> None:
        await db.add_listener(f"lastword_{self._node.epoch}", self._heard)

    def _heard(self, *_: object) -> None:
        self._errands.poke()
        self._poked.set()

    def _die(self) -> None:
        """Others have found this one dead: all that it had is lost, and it begins as another."""
        log.error("the lease was lost; this process begins anew")
        self._node.epoch = 0
        self._hang_up()  # and with it, what was listened for
        self._tenure.taken(self._claims.lose_all())
        self._poked.set()

    def _hang_up(self) -> None:
        if self._db:
            self._db.terminate()
            self._db = None

    def _ask_program(self) -> None:
        with suppress(RuntimeError):  # it was closed: nobody acts there any more
            self._program.call_soon_threadsafe(self._turn)

    def _turn(self) -> None:
        self._turned = boottime()

    async def close(self) -> None:
        """Own nothing any more."""
        try:
            async with asyncio.timeout(1.0), self._turn_of:
                if self._db and self._node.epoch:
                    await self._node.leave(self._db)
        except Exception as error:  # noqa: BLE001 - then its lease will run out
            log.debug("not left error=%s", type(error).__name__)
        self._hang_up()
