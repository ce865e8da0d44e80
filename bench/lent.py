"""Lends a run out of a real runtime to whoever wants to time what it does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from unittest.mock import patch

from lastword.core.entries import Began, Entry, Finished, Said, Text
from lastword.core.model import Generation, Message, MessageId, Outcome, RunId, SessionId
from lastword.core.story import Fact, FeedEvent, Typing
from lastword.runtime.hold import Effect, Hold
from lastword.runtime.run import Run, Sink
from lastword.runtime.runtime import Runtime
from lastword.stores.contract import Store, Write
from lastword.stores.memory import MemoryStore


class Unchecked(Hold):
    """A hold that lets everything through: the same deliveries without the check."""

    __slots__ = ()

    @property
    def current(self) -> bool:
        return True

    def begin(self, effect: Effect, fact: Fact | None = None) -> bool:
        with self.lock:
            if fact is not None:
                effect.event = self._let_through(fact)
            if effect.piece is not None:
                effect.piece.out = True
            effect.begun = True
            self._under_way[effect] = 1
            return True

    def _let_through(self, fact: Fact) -> FeedEvent | None:
        if type(fact) is Typing:
            self.typing = fact.on
        return self._feed.append(fact, self.generation)


@asynccontextmanager
async def lent_run(
    *, sink: Sink | None = None, store: Store | None = None, hold: type[Hold] = Hold
) -> AsyncGenerator[Run]:
    """A run that is going, until the block ends; its engine itself does nothing."""
    lent: asyncio.Future[Run] = asyncio.get_running_loop().create_future()
    over = asyncio.Event()

    async def lend(run: Run) -> None:
        lent.set_result(run)
        await over.wait()

    async with Runtime(lend, sink=sink, store=store or MemoryStore()) as runtime:
        with patch("lastword.runtime.runs.Hold", hold):
            ticket = await runtime.session("bench").send("go")
            run = await lent
        try:
            yield run
        finally:
            over.set()
            await ticket.outcome()


async def store_with(turns: int) -> Store:
    """A store in which the session has had so many turns."""
    entries: list[Entry] = []
    for serial in range(1, turns + 1):
        run, message = RunId(f"bench#{serial}"), MessageId(f"m{serial}")
        entries += [
            Said(Message(message, "What is the weather like?"), run),
            Began(run, Generation(serial), (message,)),
            Text(run, "It rains, as it did yesterday."),
            Finished(run, Outcome.COMPLETED, (message,), started=True),
        ]
    store = MemoryStore()
    await store.commit(
        Write(
            session=SessionId("bench"),
            generation=Generation(2 * turns),
            serial=turns,
            entries=tuple(entries),
        )
    )
    return store
