"""Whether a level holds here: found out with an escape artist, not by reading version numbers."""

from __future__ import annotations

import asyncio
import os

from lastword.errors import ProcessError
from lastword.processes.warden import Warden

_SECONDS = 5.0


async def holds(warden: Warden) -> bool:
    """Whether somebody who left session, group and parent, and ignores TERM, is ended with it."""
    canary, held = os.pipe()
    try:
        try:
            await warden.begin({"start": "artist"}, (held,))  # who lives as long as the canary
        finally:
            os.close(held)
        os.set_blocking(canary, False)
        async with asyncio.timeout(_SECONDS):
            await _readable(canary)  # it has left
            if os.read(canary, 1) != b"!":
                raise ProcessError("the escape artist of the self-test could not be let loose")
            await asyncio.shield(warden.stop(0))
        try:
            return os.read(canary, 1) == b""
        except BlockingIOError:  # somebody still holds it
            return False
    finally:
        os.close(canary)


async def _readable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(fd, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(fd)
