"""Start programs that become another user, stop them together, and tell what each stop found: JSON.

    another_user.py PROGRAM ARTIST BYTES RUNS

As tree holds them, whose wardens may not end them. BYTES are written when one is all in place.
"""

import asyncio
import json
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from lastword.processes import Processes, command
from tests.processes.artists import Canary
from tests.processes.household import children, state


async def main(program: str, artist: str, ready: int, runs: int) -> None:
    with tempfile.TemporaryDirectory() as name, ExitStack() as canaries:
        os.chmod(name, 0o755)  # noqa: PTH101, S103 - the other user is to find it
        async with Processes("tree") as processes:
            wardens = [await processes.warden() for _ in range(runs)]
            pids: list[int] = []
            for warden in wardens:
                canary = canaries.enter_context(Canary(Path(name)))
                pids.append((await warden.spawn(command(program, artist, canary.path))).pid)
                await canary.ready(ready)
            before = [family(pid) for pid in pids]
            endings = await asyncio.gather(*(warden.stop(grace=0.1) for warden in wardens))
            told = [
                {
                    "pid": pid,
                    "proven": ending.proven,
                    "why": ending.why,
                    "told": [[p.pid, p.command, p.fate] for p in ending.processes],
                    "alive": [pid for pid in theirs if state(pid) not in ("", "Z")],
                    "were": theirs,
                }
                for pid, theirs, ending in zip(pids, before, endings, strict=True)
            ]
    print(json.dumps(told))  # noqa: T201 - its answer


def family(pid: int) -> list[int]:
    return [pid, *(one for child in children(pid) for one in family(child))]


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
