"""Nothing a stopped run does can be heard."""

import asyncio

from lastword import Run, Runtime
from lastword.testing.recorder import Recorder


async def test_a_run_that_swallows_cancellation_is_silent_after_a_stop() -> None:
    heard, started = Recorder(), asyncio.Event()

    async def stubborn(run: Run) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await run.emit("one more thing")

    async with Runtime(stubborn, sink=heard) as runtime:
        await runtime.session("s").send("go")
        await started.wait()
        receipt = await runtime.session("s").stop()

    assert heard == []
    assert receipt.dropped == 1
