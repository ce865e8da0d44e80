"""A program that gets itself into one situation, says so, and waits to be killed in it.

python victim_at.py DATABASE in_tool | accepted | stopping
"""

import asyncio
import os
import sys
from contextlib import suppress

from lastword import Run, Runtime

in_tool = asyncio.Event()


async def for_ever() -> None:
    in_tool.set()
    say("in_tool")
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)


def say(word: str) -> None:
    os.write(1, f"{word}\n".encode())


async def engine(run: Run) -> None:
    await run.emit("Working.")
    await run.call(for_ever)


async def main(database: str, situation: str) -> None:
    async with Runtime(engine, store=f"sqlite:{database}", on_message="queue") as runtime:
        session = runtime.session("s")
        await session.send("first", id="first")
        if situation == "accepted":
            await session.send("second", id="second")
            say("accepted")
        elif situation == "stopping":
            await in_tool.wait()
            stopping = session.stop()  # its run will not unwind
            await session.log()
            say("stopping")
            await stopping
        await asyncio.sleep(3600)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
