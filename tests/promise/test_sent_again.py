"""Clauses 6, 11: a message that is sent again while it ends is the same, and has one outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import cycle

import pytest

from lastword import Message, Outcome, Run, Ticket
from lastword.core.entries import Finished, Said
from lastword.core.model import MessageId, SessionId
from lastword.stores.contract import StoredMessage
from lastword.testing.seeded import explore
from tests.promise.disk import Disk
from tests.promise.stories import a_while, check_log, runtime

pytestmark = pytest.mark.scenario("W67")


class Slow(Disk):
    """What it says takes a while on its way, and not always as long."""

    def __init__(self, *delays: float) -> None:
        super().__init__()
        self.delays: Iterator[float] = cycle(delays)

    async def message(self, session: SessionId, id: MessageId) -> StoredMessage | None:
        found = await super().message(session, id)
        await asyncio.sleep(next(self.delays))
        return found


async def work(run: Run) -> None:
    await asyncio.sleep(1000 if run.messages[0].id == "a" else 0)


def test_what_ends_while_the_store_is_asked_for_it_has_the_outcome_that_the_log_has(
    schedules: int,
) -> None:
    async def story() -> None:
        async with runtime(work, store=Slow(1)) as r:
            session = r.session("s")
            first = await session.send("a", id="a")
            await first.started()

            async def again() -> tuple[Ticket, ...]:
                backlog = [Message(MessageId(name), name) for name in "ab"]
                return await session.send(backlog, on_message="queue")

            sending = asyncio.create_task(again())
            await asyncio.sleep(0.5)
            await session.stop()
            a, b = await sending

            assert (await first.outcome(), await a.outcome()) == (Outcome.STOPPED, Outcome.STOPPED)
            assert await b.outcome() == Outcome.COMPLETED
            await check_log(session)

    explore(story, schedules)


def test_a_retry_whose_answer_comes_late_brings_nothing_back_that_was_stopped(
    schedules: int,
) -> None:
    async def story() -> None:
        async with runtime(work, store=Slow(5, 0)) as r:
            session = r.session("s")
            await session.loaded()

            async def send() -> Ticket:
                return await session.send("a", id="a")

            sending = [asyncio.create_task(send()) for _ in range(2)]
            await asyncio.wait(sending, return_when=asyncio.FIRST_COMPLETED)
            await session.stop()
            await a_while()
            outcomes = [await (await one).outcome() for one in sending]
            log = await session.log()

            assert outcomes == [Outcome.STOPPED] * 2
            assert len([entry for entry in log if isinstance(entry, Said)]) == 1
            assert len([entry for entry in log if isinstance(entry, Finished)]) == 1

    explore(story, schedules)
