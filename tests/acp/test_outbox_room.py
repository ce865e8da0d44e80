"""Who speaks waits for who reads; what never leaves takes no room."""

import asyncio
import os
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import pytest

from lastword.acp.outbox import Outbox

LONG = "x" * 100_000
SOME = 40  # of which are more than may wait


@dataclass
class Pipe:
    """An outbox, and the end at which it is read."""

    outbox: Outbox
    reading: int
    writing: int

    def read(self) -> int:
        try:
            return len(os.read(self.reading, 1 << 20))
        except BlockingIOError:
            return 0

    async def read_until(self, done: asyncio.Future[None]) -> int:
        """How much was read until something else had ended, and nothing was left."""
        amount = 0
        while (size := self.read()) or not done.done():
            amount += size
            await asyncio.sleep(0 if size else 0.02)
        return amount


@pytest.fixture
async def pipe() -> AsyncGenerator[Pipe]:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    yield Pipe(Outbox(writing), reading, writing)
    os.close(reading)
    os.close(writing)


async def test_who_speaks_waits_until_who_reads_has_read(pipe: Pipe) -> None:
    await pipe.outbox.room()
    for _ in range(SOME):
        pipe.outbox.send({"text": LONG})
    waiting = asyncio.ensure_future(pipe.outbox.room())
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done()

    amount = await pipe.read_until(waiting)

    assert amount > SOME * len(LONG) // 2
    pipe.outbox.close()


async def test_an_answer_has_room_where_words_have_to_wait(pipe: Pipe) -> None:
    for _ in range(SOME):
        pipe.outbox.send({"text": LONG})

    await pipe.outbox.some_room()
    for _ in range(4 * SOME):
        pipe.outbox.send({"text": LONG})
    waiting = asyncio.ensure_future(pipe.outbox.some_room())
    for _ in range(10):
        await asyncio.sleep(0)

    assert not waiting.done()
    pipe.outbox.close()
    await waiting


async def test_what_was_dropped_takes_no_room(pipe: Pipe) -> None:
    current = True
    for _ in range(SOME):
        pipe.outbox.send({"text": LONG}, lambda: current)
    current = False
    waiting = asyncio.ensure_future(pipe.outbox.room())

    amount = await pipe.read_until(waiting)

    assert amount < 3 * len(LONG)
    assert pipe.outbox.dropped >= SOME - 2
    pipe.outbox.close()


async def test_the_end_waits_until_all_has_left(pipe: Pipe) -> None:
    for _ in range(SOME):
        pipe.outbox.send({"text": LONG})
    ending = asyncio.ensure_future(pipe.outbox.empty(3600))

    amount = await pipe.read_until(ending)

    assert amount > SOME * len(LONG)
    pipe.outbox.close()


async def test_when_it_is_over_the_descriptor_is_as_it_was_given(pipe: Pipe) -> None:
    for _ in range(SOME):
        pipe.outbox.send({"text": LONG})

    pipe.outbox.close()

    loop = asyncio.get_running_loop()
    assert os.get_blocking(pipe.writing)
    assert (loop.remove_reader(pipe.writing), loop.remove_writer(pipe.writing)) == (False, False)
    assert pipe.outbox.gone
