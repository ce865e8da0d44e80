"""Let escape artists try, and print how many outlived their stop: one line of JSON for each.

    as_user.py LEVEL TRIES PROGRAM ARTIST...

A program of its own, so that a test that runs as root can run it as somebody else, or where
whatever does escape dies with it. It needs Python and lastword, and nothing that is installed.
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import cast

from lastword.processes import Level, Processes, command
from tests.processes.artists import ARTISTS, Canary


async def survivors(
    processes: Processes, artist: str, *, program: Path, tries: int, directory: Path
) -> int:
    """Of so many tries of one artist, those of which a process was left when the stop was over."""
    escaped = 0
    for _ in range(tries):
        with Canary(directory) as canary:
            warden = await processes.warden()
            await warden.spawn(command(program, artist, canary.path))
            await canary.ready(ARTISTS[artist])
            await warden.stop(grace=0.0)
            escaped += not await canary.dead(timeout=5.0)
    return escaped


async def main(level: Level, tries: int, program: Path, *artists: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        async with Processes(level=level) as processes:
            for artist in artists:
                escaped = await survivors(
                    processes, artist, program=program, tries=tries, directory=Path(name)
                )
                told = {"artist": artist, "tries": tries, "survivors": escaped}
                print(json.dumps(told), flush=True)  # noqa: T201 - its answer


if __name__ == "__main__":
    asyncio.run(
        main(cast("Level", sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])
    )
