"""A process that is killed in the middle of a command of its agent's: `FOLDER STORE CALLS`. The
command says when, by making a file `now` beside the folder."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from tests.agent.to_the_letter import Model, talking
from tests.promise.workshop import until


async def main(folder: Path, store: str, calls: list[tuple[str, str]]) -> None:
    async with talking(folder, "allow *", model=Model(*calls), store=store) as talk:
        await talk.session.send("go")
        await until((folder.parent / "now").exists)
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    asyncio.run(
        main(Path(sys.argv[1]), sys.argv[2], [tuple(one) for one in json.loads(sys.argv[3])])
    )
