"""W65. Each stop's receipt stands once, after what it ended, live and after a reload."""

import asyncio

import pytest

from lastword import Run, Runtime, Session
from lastword.core.picture import Picture
from lastword.core.scene import ReceiptItem
from lastword.surfaces.following import Following, whole
from tests.core.picture_laws import lasting

W65 = pytest.mark.scenario("W65", part="surfaces")


async def endless(run: Run) -> None:
    await run.emit("On it.")
    await asyncio.Event().wait()


async def briefly(run: Run) -> None:
    await run.emit(f"re: {run.message.text}")


async def followed(session: Session) -> Following:
    return Following(session, await whole(session))


async def both(live: Following) -> tuple[Picture, Picture]:
    """As who watched has it by now, and who comes anew."""
    for _ in live.at_once():
        pass
    return live.picture, (await followed(live.session)).picture


def dropped(picture: Picture) -> list[str]:
    receipts = [item.receipt for item in picture.items if isinstance(item, ReceiptItem)]
    return [one.message.text for receipt in receipts for one in receipt.messages]


@W65
@pytest.mark.parametrize("whose", ["by who may stop no more", "by its run"])
async def test_each_message_that_is_stopped_while_it_waits_has_a_receipt(whose: str) -> None:
    stoppers = ["ann"] if whose == "by who may stop no more" else None

    async with Runtime(endless, stoppers=stoppers, clock=lambda: 7.0) as runtime:
        session = runtime.session("s")
        live = await followed(session)
        await session.send("long", by="ann")
        for text in ("one", "two", "three"):
            ticket = await session.send(text, by="bob", on_message="queue")
            await session.stop(run=None if stoppers else ticket.run, by="bob")
        before, after = await both(live)

    assert dropped(before) == ["one", "two", "three"]
    assert dropped(after) == ["one", "two", "three"]
    assert lasting(before)["items"] == lasting(after)["items"]


@W65
async def test_what_is_taken_out_after_a_stop_leaves_that_stop_s_receipt() -> None:
    async with Runtime(endless, queue_on_stop="keep", clock=lambda: 7.0) as runtime:
        session = runtime.session("s")
        live = await followed(session)
        await session.send("long")
        waits = await session.send("waits", on_message="queue")
        await session.stop()
        await session.stop(run=waits.run)
        before, after = await both(live)

    receipts = [item.receipt for item in before.items if isinstance(item, ReceiptItem)]
    assert [len(receipt.runs) for receipt in receipts] == [1, 0]
    assert lasting(before)["items"] == lasting(after)["items"]


@W65
async def test_a_takeover_of_what_only_waits_is_told_above_what_it_began() -> None:
    async with Runtime(briefly, clock=lambda: 7.0) as runtime:
        session = runtime.session("s")
        live = await followed(session)
        first = await session.send("first")
        later = await session.send("later", on_message="collect")  # a window that stays open
        await first.outcome()
        await (await session.send("new")).outcome()
        await later.outcome()
        await session.stop()  # its answer comes after all that was told before
        before, after = await both(live)

    kinds = [item.key.kind for item in before.items]
    assert kinds == ["message", "run", "receipt", "message", "run"]
    assert lasting(before)["items"] == lasting(after)["items"]
