"""How far it is from what somebody asks to what they get: a walk to be read in one sitting.

The server is one with a function for an engine and a store in memory, and nobody watches; who does
is told by another walk, from the feed to the wire. What each goes through is printed (`-rA`).
"""

from __future__ import annotations

import asyncio
import sys

from lastword import Run
from tests.promise.workshop import until
from tests.server.client import serving_engine
from tests.server.engines import Talker
from tests.walk import walking

OF_A_STOP = 34  # files; the goal is 25
OF_A_MESSAGE = 37  # files; the goal is 30


async def test_a_stop_goes_no_longer_way_from_the_request_to_the_receipt() -> None:
    talker = Talker()
    async with serving_engine(talker) as client:
        await client.send("s", "hello")
        await until(lambda: bool(talker.runs))
        with walking() as walk:
            receipt = await client.stop("s")

    sys.stdout.write(f"\na stop: {walk}\n")
    assert receipt["runs"] == ["s#1"]
    assert len(walk.files) <= OF_A_STOP, walk


async def test_a_message_goes_no_longer_way_from_the_request_to_its_first_word() -> None:
    said = asyncio.Event()

    async def answer(run: Run) -> None:
        await run.emit("hello")
        said.set()
        await asyncio.Event().wait()

    async with serving_engine(answer) as client:
        await client.stop("s")  # the session is known by then, as most are
        with walking() as walk:
            await client.send("s", "hello")
            await said.wait()

    sys.stdout.write(f"\na message: {walk}\n")
    assert len(walk.files) <= OF_A_MESSAGE, walk
