"""Let a storm of forks loose, stop it at its height, and print what was seen: one line of JSON.

    storm_to_stop.py LEVEL KIND PROGRAM

A program of its own, so that a test that runs as root can run it as somebody else.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from lastword.processes import Level, Processes, command
from tests.processes.artists import Canary

MOST = 400  # processes of the run, where a limit can be set
LIFETIME = 6  # seconds, of a storm that nobody stops
_FORKS = {"bomb": 6000, "comets": 500000}  # of a storm that nobody limits


@dataclass(frozen=True, slots=True)
class Storm:
    """What was seen."""

    capped: bool  # somebody said that there is a limit
    height: int  # processes at its height
    others_may_fork: bool  # meanwhile
    numbers: int  # that the machine has for processes, afterwards
    seconds: float  # that the stop took
    proven: bool
    left: bool  # somebody outlived the stop


def numbers() -> int:
    """How many numbers the machine has for processes."""
    return int(Path("/proc/sys/kernel/pid_max").read_text(encoding="ascii"))


async def weather(level: Level, kind: str, program: Path, directory: Path) -> Storm:
    async with Processes(level, most=MOST) as processes:
        with Canary(directory) as canary:
            warden = await processes.warden()
            arguments = (str(LIFETIME), str(_FORKS[kind]))
            await warden.spawn(command(program, kind, canary.path, *arguments))
            await canary.ready(1)
            height = len(warden.living())
            other = subprocess.run(["/bin/true"], check=False)  # noqa: ASYNC221 - a plain fork
            stopped = time.monotonic()
            ending = await warden.stop(grace=0.0)
            return Storm(
                capped=warden.capped,
                height=height,
                others_may_fork=other.returncode == 0,
                numbers=numbers(),
                seconds=time.monotonic() - stopped,
                proven=ending.proven,
                left=not await canary.dead(timeout=5.0),
            )


async def main(level: Level, kind: str, program: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        seen = await weather(level, kind, program, Path(name))
    print(json.dumps(asdict(seen)), flush=True)  # noqa: T201 - its answer


if __name__ == "__main__":
    os.umask(0o022)
    asyncio.run(main(cast("Level", sys.argv[1]), sys.argv[2], Path(sys.argv[3])))
