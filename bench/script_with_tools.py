"""A script as people write them, with a tool in it; it takes a while to run."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from statistics import median

from lastword import Run, Runtime

RUNS = Path(sys.argv[1])
with RUNS.open("a", encoding="utf-8") as runs:
    runs.write("run\n")
time.sleep(0.5)  # what it imports

TURNS, CALLS = 4, 5


def double(n: int) -> int:
    return 2 * n


async def main() -> None:
    took: list[float] = []

    async def engine(run: Run) -> None:
        tool = run.gate(double, isolated=True)
        for n in range(CALLS):
            began = time.perf_counter()
            await tool(n)
            took.append(time.perf_counter() - began)

    async with Runtime(engine) as runtime:
        for _ in range(TURNS):
            await (await runtime.session("s").send("go")).outcome()
    answer = {"calls": len(took), "first": took[0], "others": median(took[1:])}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    asyncio.run(main())
