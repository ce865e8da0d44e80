"""N6. What leaves by another process is a delivery: a stop waits for it, and names it at last."""

import asyncio

import pytest

from lastword import Run
from tests.promise.stories import runtime


async def waits(run: Run) -> None:
    await run.emit("working on it")
    await asyncio.Event().wait()


class Elsewhere:
    """Watchers at another server."""

    name = "to watchers at B"

    def __init__(self) -> None:
        self.asked, self.gone = asyncio.Event(), asyncio.Event()

    async def left(self) -> None:
        self.asked.set()
        await self.gone.wait()


@pytest.mark.scenario("N6")
async def test_a_stop_waits_for_what_is_leaving_elsewhere() -> None:
    there = Elsewhere()
    async with runtime(waits) as mine:
        session = mine.session("s")
        await (await session.send("go")).started()
        session.feed.relays.add(there)
        stopping = session.stop()
        await there.asked.wait()
        there.gone.set()
        assert (await stopping).quiet


@pytest.mark.scenario("N6")
async def test_what_has_not_left_elsewhere_by_the_deadline_is_named_and_settles() -> None:
    there = Elsewhere()
    async with runtime(waits, grace=0.1, deadline=0.2) as mine:
        session = mine.session("s")
        await (await session.send("go")).started()
        session.feed.relays.add(there)
        receipt = await session.stop()
        assert [str(one) for one in receipt.unconfirmed] == ["delivery to watchers at B"]
        there.gone.set()
        assert (await receipt.settled()).quiet
