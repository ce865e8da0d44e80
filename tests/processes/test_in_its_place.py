"""What is said to a host in a warden's place, over its own socket, while its processes live."""

import array
import asyncio
import fcntl
import os
import select
import socket
import subprocess
import termios
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import cast

import pytest

from lastword.processes import Level, Warden
from lastword.processes.inside import wire
from lastword.processes.zygote import Zygote
from tests.promise.workshop import until

P12 = pytest.mark.scenario("P12", part="processes")
LONG = 3600.0
FORGED: dict[str, wire.Message] = {
    "an account": {"stopped": True, "processes": []},
    "an account with one": {"stopped": True, "processes": [[1, 1, "sleep", "killed", 0]]},
    "that it is empty": {"empty": True},
    "that it ended": {"ended": 1, "code": 0},
    "that nobody was there": {"found": []},
}


class Silent:
    """A zygote that forks nobody, and never says that somebody has gone."""

    retired, may_act, heard = False, True, 0.0

    def __init__(self) -> None:
        self.end: socket.socket | None = None

    def fork(self, order: object, end: socket.socket, group: object, kept: object) -> int:
        self.end = end.dup()
        return 1

    def wake(self) -> None: ...

    def struck(self, warden: int) -> None: ...


@asynccontextmanager
async def in_its_place(level: Level) -> AsyncGenerator[tuple[Warden, socket.socket]]:
    """A host's warden, its end of the socket, and for its pidfd that of a process that lives."""
    zygote = Silent()
    warden = Warden(cast("Zygote", zygote), level, most=10, scan=False)
    assert zygote.end is not None
    with subprocess.Popen(["/bin/sleep", "3600"]) as lives, zygote.end as end:  # noqa: ASYNC220
        pidfd = os.pidfd_open(lives.pid)
        wire.send(end, {"ready": True, "capped": True}, (pidfd,))
        os.close(pidfd)
        await warden.ready()
        try:
            yield warden, end
        finally:
            lives.kill()
            lives.wait()
            warden.looked_for(())
            await asyncio.wait([warden.stop(0)])


async def says(end: socket.socket, message: wire.Message, *fds: int) -> None:
    """Say it, and return when the host has heard."""
    wire.send(end, message, fds)
    await until(lambda: unread(end) == 0)


def unread(end: socket.socket) -> int:
    count = array.array("i", [0])
    fcntl.ioctl(end, termios.TIOCOUTQ, count)
    return count[0]


def is_readable(fd: int) -> bool:
    return bool(select.select([fd], [], [], 0)[0])


@P12
@pytest.mark.parametrize("said", FORGED)
@pytest.mark.parametrize("level", ["sealed", "tree"])
async def test_no_words_end_a_stop_while_the_kernel_has_not(level: Level, said: str) -> None:
    async with in_its_place(level) as (warden, end):
        stop = warden.stop(LONG)
        await says(end, FORGED[said])
        assert not stop.done()


@P12
async def test_a_warden_is_ready_once_and_no_other_descriptor_stands_for_it() -> None:
    async with in_its_place("sealed") as (warden, end):
        with subprocess.Popen(["/bin/true"]) as gone:  # noqa: ASYNC220
            pidfd = os.pidfd_open(gone.pid)
        stop = warden.stop(LONG)
        await says(end, {"ready": True, "capped": True}, pidfd)
        await says(end, FORGED["an account"])
        await until(lambda: is_readable(pidfd))  # as the loop would have seen, too
        assert not stop.done()
        os.close(pidfd)
