"""D6. Each call of a store fails once, then it works again: nothing is lost, nothing doubled."""

import asyncio
from contextlib import suppress
from typing import Any

from lastword import LastwordError, Outcome, Refused, Run, Session
from lastword.core.entries import Entry, Said
from lastword.core.model import MessageId, SessionId
from lastword.errors import StoreError
from lastword.stores.contract import StoredMessage, StoredSession, Write
from lastword.testing.seeded import explore
from tests.promise.disk import Disk
from tests.promise.stories import answer, check_log, runtime


class Faulty(Disk):
    """A disk that fails once, at the so-manieth call of it."""

    def __init__(self, fails_at: int) -> None:
        super().__init__()
        self.calls: list[str] = []
        self._fails_at = fails_at

    def _called(self, what: str) -> None:
        self.calls.append(what)
        if len(self.calls) == self._fails_at:
            raise StoreError(f"{what} failed")

    async def open(self) -> None:
        self._called("open")

    async def load(self, session: SessionId) -> StoredSession | None:
        self._called("load")
        return await super().load(session)

    async def commit(self, write: Write) -> None:
        self._called("commit")
        await super().commit(write)

    async def entries(self, session: SessionId, after: int = 0) -> tuple[Entry, ...]:
        self._called("entries")
        return await super().entries(session, after)

    async def unfinished(self) -> tuple[SessionId, ...]:
        self._called("unfinished")
        return await super().unfinished()

    async def message(self, session: SessionId, id: MessageId) -> StoredMessage | None:
        self._called("message")
        return await super().message(session, id)

    async def sessions(self) -> tuple[SessionId, ...]:
        self._called("sessions")
        return await super().sessions()

    async def delete(self, session: SessionId) -> None:
        self._called("delete")
        await super().delete(session)

    async def close(self) -> None:
        self._called("close")


async def life(disk: Faulty, acknowledged: set[str], executed: list[str]) -> None:
    """Open, send, take over, steer, move, stop, ask again, delete, close; on after each error."""

    async def append(text: str) -> None:
        executed.append(text)
        await asyncio.sleep(0)

    async def engine(run: Run) -> None:
        await run.emit("Let me see. ")
        await run.call(append, f"{run.message.id}.0")
        with suppress(StoreError):
            await run.steering()
        await run.call(append, f"{run.message.id}.1")

    async def send(session: Session, id: str, **how: Any) -> None:
        with suppress(Refused):
            await session.send("go", id=id, **how)
            acknowledged.add(id)

    async with runtime(engine, store=disk) as r:
        session = r.session("s")
        await send(session, "a")
        await send(session, "b")
        await send(session, "c", on_message="queue")
        await send(session, "d", on_message="steer")
        await send(session, "e", on_message="queue")
        with suppress(LastwordError):
            await session.move("e", 0)
        await send(session, "a")  # the same again
        await session.stop()
        await send(session, "f")
        with suppress(StoreError):
            await session.log()
        with suppress(StoreError):
            await r.sessions()
        await send(r.session("other"), "z")
        with suppress(LastwordError):
            await r.delete("other")
        await asyncio.sleep(10)  # whatever was put off is tried again
        await check_log(session)


def test_each_call_of_a_store_may_fail_and_nothing_is_lost_or_done_twice() -> None:
    """And what a new process then finds is what the senders were told."""
    faults, kinds = 0, set[str]()

    async def story(fails_at: int) -> int:
        disk = Faulty(fails_at)
        acknowledged, executed = set[str](), list[str]()
        with suppress(StoreError):  # it could not be opened, or closed
            await life(disk, acknowledged, executed)
        kinds.update(disk.calls)
        assert len(executed) == len(set(executed))
        async with runtime(answer, store=disk.found()) as r:
            session = r.session("s")
            log = await session.log()
            said = {entry.message.id for entry in log if isinstance(entry, Said)}
            assert said == acknowledged - {"z"}
            for id_ in said:
                assert await (await session.send("", id=id_)).outcome() != Outcome.REFUSED
            await check_log(session)
        return len(disk.calls)

    async def count() -> None:
        nonlocal faults
        faults = await story(0)

    explore(count, 1)
    for fails_at in range(1, faults + 1):

        async def fails(at: int = fails_at) -> None:
            await story(at)

        explore(fails, 3)
    assert kinds >= {"open", "load", "commit", "entries", "unfinished", "message", "delete"}
