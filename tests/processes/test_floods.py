"""Who writes without end is read fast, a little in each turn, and at nobody else's cost."""

import asyncio
import fcntl

import pytest

from lastword.processes import Process, command
from tests.processes.helping import a_warden, sh, until

MEGABYTE = 1 << 20


@pytest.mark.scenario("P26", part="processes")
async def test_while_one_process_writes_without_end_others_have_their_turn() -> None:
    async with a_warden() as warden:
        flood = await warden.spawn(command("cat", "/dev/zero"))
        largest, before = 0, flood.stdout.total
        while flood.stdout.total < 200 * MEGABYTE:
            await asyncio.sleep(0)
            largest, before = max(largest, flood.stdout.total - before), flood.stdout.total
        await flood.end(grace=0)

    assert largest <= 1 << 19  # in a turn of the loop


async def test_as_many_pipes_are_made_wide_as_leave_others_theirs() -> None:
    """What all pipes of a user hold is limited; so a program's own are wide by turns."""
    async with a_warden() as warden:
        writing = command(*sh("head -c 2000000 /dev/zero; exec sleep 1000"))
        many = [await warden.spawn(writing) for _ in range(12)]
        await until(lambda: all(process.stdout.total == 2_000_000 for process in many))
        holding = [size for process in many if (size := held_by(process)) > 1 << 16]

    assert 0 < len(holding) <= 8


def held_by(process: Process) -> int:
    """How much its pipe can hold."""
    sizes: list[int] = []
    process.stdout.control(lambda fd: sizes.append(fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ)))
    return sizes[0]
