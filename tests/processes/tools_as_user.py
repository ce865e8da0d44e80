"""Have isolated tools called many times, and stopped; print what came of it, as JSON.

    tools_as_user.py LEVEL

A program of its own, so that a test that runs as root can run it as somebody else.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from typing import cast

from lastword.errors import WorkerDied
from lastword.processes import Level, Processes, Warden, isolated
from tests.processes import tools_to_call


async def main(level: Level) -> None:
    async with Processes(level) as processes:
        parents = {await _called(processes, tools_to_call.parent) for _ in range(3)}
        warden, work = await _warden(processes, tools_to_call.stay)
        calling = asyncio.create_task(isolated.make(warden, work))
        while not warden.living():
            await asyncio.sleep(0.01)
        ending = await warden.stop(0)
        died = ""
        try:
            await calling
        except WorkerDied as error:
            died = str(error)
        told = {
            "user": os.geteuid(),
            "powers": int(str(await _called(processes, tools_to_call.powers)), 16),
            "wardens": len(parents),
            "unfit": list(processes.nurseries.unfit.values()),
            "fates": [report.fate for report in ending.processes],
            "proven": ending.proven,
            "died": died,
        }
        print(json.dumps(told))  # noqa: T201 - its answer


async def _called(processes: Processes, function: Callable[[], object]) -> object:
    warden, work = await _warden(processes, function)
    try:
        return await isolated.make(warden, work)
    finally:
        await warden.stop(0)


async def _warden(
    processes: Processes, function: Callable[[], object]
) -> tuple[Warden, isolated.Prepared]:
    work = await isolated.prepared(function, (), {}, "it")
    nursery = await processes.nursery(work.home, work.command.order, lambda _: lambda: None)
    assert nursery is not None, processes.nurseries.unfit
    return await processes.warden(nursery), work


if __name__ == "__main__":
    asyncio.run(main(cast("Level", sys.argv[1])))
