"""Say which level is chosen here and why no stricter one, and whether it holds: a line of JSON.

levels_to_try.py PROGRAM ARTIST...
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

from lastword.errors import ProcessError
from lastword.processes import Processes
from tests.processes.as_user import survivors
from tests.processes.household import zygotes


async def main(program: Path, *artists: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        async with Processes() as processes:
            escaped = [
                await survivors(processes, artist, program=program, tries=1, directory=Path(name))
                for artist in artists
            ]
    told = {"level": processes.level, "why_not": processes.why_not, "survivors": sum(escaped)}
    try:
        async with Processes("sealed"):
            pass
    except ProcessError as error:
        told |= {"refused": str(error), "left_by_the_refused": len(zygotes(os.getpid()))}
    print(json.dumps(told))  # noqa: T201 - its answer


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
