"""Start a program that becomes another user, stop it, and tell what the stop found: JSON.

    another_user.py PROGRAM

As tree holds it, whose warden may not end it.
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

from lastword.processes import Processes, command
from tests.processes.artists import Canary


async def main(program: str) -> None:
    with tempfile.TemporaryDirectory() as name, Canary(Path(name)) as canary:
        os.chmod(name, 0o755)  # noqa: PTH101, S103 - the other user is to find it
        async with Processes("tree") as processes:
            warden = await processes.warden()
            process = await warden.spawn(command(program, "another_user", canary.path))
            await canary.ready(1)
            ending = await warden.stop(grace=0.1)
    left = [[p.pid, p.command, p.fate] for p in ending.processes if p.fate == "unconfirmed"]
    told = {"pid": process.pid, "proven": ending.proven, "left": left, "why": ending.why}
    print(json.dumps(told))  # noqa: T201 - its answer


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
