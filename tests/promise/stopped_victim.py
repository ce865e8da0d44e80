"""A process that dies in the instant in which its stop is answered: `FILE WAY`."""

import asyncio
import os
import signal
import sys

from lastword import Receipt, Run, Runtime


async def engine(run: Run) -> None:
    try:
        while True:
            await run.emit("word ")
            await asyncio.sleep(0)
    finally:
        if sys.argv[2] == "slow":
            await asyncio.sleep(0.3)


async def main(file: str, way: str) -> None:
    async with Runtime(engine, store=f"sqlite:{file}") as runtime:
        session = runtime.session("s")
        await (await session.send("go")).started()
        await session.send("queued", on_message="queue")
        receipt: Receipt | None
        match way:
            case "stop" | "slow":
                receipt = await session.stop()
            case "fence":
                receipt = await session.stop().fenced()
            case "run":
                await session.remove("m2")
                receipt = await session.stop(run=session.active)
            case "soon":
                receipt = await asyncio.wrap_future(session.stop_soon())
            case _:
                receipt = await (await session.send("no, this")).receipt()
        if receipt and receipt.durable:
            os.kill(os.getpid(), signal.SIGKILL)


asyncio.run(main(*sys.argv[1:]))
