"""A store whose process can be said to have died, at any moment of its life."""

import asyncio
import copy

from lastword import Run
from lastword.core.entries import Called, Entry
from lastword.core.model import SessionId
from lastword.stores.contract import Write
from lastword.stores.memory import MemoryStore
from tests.promise.stories import Latch, runtime


class Disk(MemoryStore):
    """A memory that remembers each moment at which its process could have died."""

    durable = True

    def __init__(self) -> None:
        super().__init__()
        self.acknowledged: set[str] = set()
        self.moments: list[tuple[Disk, set[str]]] = []

    async def commit(self, write: Write) -> None:
        await asyncio.sleep(0)
        await super().commit(write)
        self.moments.append((self.found(), set(self.acknowledged)))
        await asyncio.sleep(0)

    def found(self, found: "Disk | None" = None) -> "Disk":
        """What is found after a death right now."""
        found = found or Disk()
        found._rows = copy.deepcopy(self._rows)
        found._below = copy.deepcopy(self._below)
        return found

    @property
    def names(self) -> list[str]:
        return [name for name, row in self._rows.items() if row.entries]

    def entries_of(self, session: SessionId) -> tuple[Entry, ...]:
        """What of a session would be found after a death right now."""
        row = self._rows.get(session)
        return tuple(row.entries) if row else ()

    @property
    def begun(self) -> set[str]:
        """The calls that had been written down, and so may have executed, by what they append."""
        entries = [entry for row in self._rows.values() for entry in row.entries]
        return {e.arguments.split('"')[3] for e in entries if isinstance(e, Called)}


async def left_waiting(*names: str) -> Disk:
    """What a process leaves that dies with a message waiting in each of these sessions."""
    latch = Latch()

    async def engine(run: Run) -> None:
        await latch.wait()

    disk = Disk()
    async with runtime(engine, store=disk, on_message="queue") as r:
        for name in names:
            for text in ("going", "waiting"):
                await r.session(name).send(text, id=text)
        found = disk.found()
        latch.open.set()
    return found
