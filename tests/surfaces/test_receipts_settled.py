"""W70. A receipt of which more has ended since has one wording, live and for who comes later."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lastword import FeedEvent, Receipt, Run, Runtime, Session
from lastword.core.picture import Picture
from lastword.core.scene import Change, ItemIs, ReceiptItem
from lastword.surfaces.following import Following, whole
from tests.core.picture_laws import lasting
from tests.promise.workshop import until

pytestmark = pytest.mark.scenario("W70", part="surfaces")


class Deaf:
    """An engine whose tool's thread ends when it is told to, and not before."""

    def __init__(self) -> None:
        self.ends = threading.Event()
        self.called = asyncio.Event()

    async def __call__(self, run: Run) -> None:
        loop = asyncio.get_running_loop()

        def deaf() -> None:
            loop.call_soon_threadsafe(self.called.set)
            self.ends.wait()

        await run.call(deaf)


@asynccontextmanager
async def stopped(engine: Deaf, store: str) -> AsyncGenerator[tuple[Session, Following, Receipt]]:
    """A session whose stop was answered while the tool goes on; who watched it; the receipt."""
    async with Runtime(engine, deadline=0.1, grace=0.05, store=store, clock=lambda: 7.0) as runtime:
        session = runtime.session("s")
        live = Following(session, await whole(session))
        await session.send("go")
        await engine.called.wait()
        receipt = await session.stop()
        try:
            yield session, live, receipt
        finally:
            engine.ends.set()


def heard(live: Following) -> list[Change]:
    return [change for _, changes in live.at_once() for change in changes]


def worded(picture: Picture) -> list[str]:
    items = [item for item in picture.items if isinstance(item, ReceiptItem)]
    told = [item.receipt.rows(ids=False, settled=item.settled) for item in items]
    return [", ".join(f"{row.label} {row.words}".strip() for row in rows[1:3]) for rows in told]


async def test_who_watched_has_the_receipt_as_it_was_written_and_marked(tmp_path: Path) -> None:
    engine, store = Deaf(), f"sqlite:{tmp_path / 'it.db'}"
    async with stopped(engine, store) as (session, live, receipt):
        heard(live)
        before = worded(live.picture), worded(await whole(session))
        engine.ends.set()
        await receipt.settled()  # in whose step it is told; nothing is ending a little earlier
        changes, anew = heard(live), await whole(session)
        last_words = [one.item for one in changes if isinstance(one, ItemIs)]
    async with Runtime(engine, store=store) as runtime:
        reloaded = await whole(runtime.session("s"))

    assert before == (["not all quiet yet, still ending tool deaf"],) * 2
    for picture in (live.picture, anew, reloaded):
        assert worded(picture) == ["quiet by now, ended only later tool deaf"]
        assert lasting(picture)["items"] == lasting(reloaded)["items"]
    assert [one.receipt.unconfirmed for one in last_words if isinstance(one, ReceiptItem)] == [
        receipt.unconfirmed
    ]


async def test_a_later_receipt_stands_nowhere_where_the_first_does_not(tmp_path: Path) -> None:
    engine = Deaf()
    async with stopped(engine, f"sqlite:{tmp_path / 'it.db'}") as (session, _, receipt):
        late = Following(session)
        late.begin_after(session.last_event)
        engine.ends.set()
        await receipt.settled()
        heard(late)

    assert worded(late.picture) == []


async def test_a_delivery_that_was_given_up_is_in_doubt_for_good_wherever_it_is_told() -> None:
    under_way = asyncio.Event()

    async def black_hole(event: FeedEvent) -> None:
        under_way.set()
        await asyncio.Event().wait()

    async def engine(run: Run) -> None:
        await run.emit(f"re: {run.message.text}")

    async with Runtime(engine, sink=black_hole, deadline=0.1, grace=0.05) as runtime:
        session = runtime.session("s")
        live = Following(session, await whole(session))
        await session.send("go")
        await under_way.wait()
        receipt = await session.stop()
        later = await receipt.settled()
        await until(lambda: not session.ending)
        heard(live)
        anew = await whole(session)

    assert not later.quiet
    doubt = "delivery black_hole, which may have arrived"
    assert [str(one) for one in later.unconfirmed] == [doubt]
    for picture in (live.picture, anew):
        assert worded(picture) == [f"quiet by now, ended only later {doubt}"]
        assert picture.phase.ending == ()
