"""P40. Who reads a process as soon as it is there misses nothing, however fast it writes."""

import asyncio
import os

import pytest

from lastword.processes import command
from lastword.processes.output import Output
from tests.processes.helping import a_warden, sh

MUCH = 1 << 20


@pytest.mark.scenario("P40")
async def test_who_begins_at_once_misses_nothing_that_was_written_before() -> None:
    async with a_warden() as warden:
        writes = command(*sh(f"head -c {MUCH} /dev/zero"), output_limit=1000)
        read = 0
        for _ in range(20):
            process = await warden.spawn(writes)
            read += sum([len(piece) async for piece in process.stdout])

    assert read == 20 * MUCH


@pytest.mark.scenario("P40")
async def test_who_does_something_else_first_is_waited_for_by_nobody() -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command(*sh(f"head -c {MUCH} /dev/zero"), output_limit=1000))

        assert await process.wait() == 0  # which it could not come to if it were kept waiting

        assert process.stdout.total == MUCH
        assert sum([len(piece) async for piece in process.stdout]) < MUCH


@pytest.mark.scenario("P40")
async def test_what_is_written_before_anybody_has_the_handle_is_kept_for_who_begins() -> None:
    reads, writes = os.pipe()
    output = Output(reads, 1000, lambda _: None)
    os.write(writes, bytes(60_000))
    while not output.total:
        await asyncio.sleep(0)
    os.write(writes, bytes(60_000))
    for _ in range(10):  # turns of the loop in which it could be read, and the rest forgotten
        await asyncio.sleep(0)

    me = output.begin()
    os.close(writes)

    got = bytearray()
    while data := await output.read(me):
        got += data
    assert len(got) == 120_000
    output.done(me)
