"""A process that takes back what an answer changed, and is killed in the middle: `FOLDER STORE N`,
as it is about to put the N-th file in its place."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from lastword.agent.undo.undo import undo
from tests.agent.to_the_letter import talking


async def main(folder: Path, store: str, number: int) -> None:
    async with talking(folder, store=store) as talk:
        left = number

        def heard(event: str, told: tuple[object, ...]) -> None:
            nonlocal left
            if event == "os.rename" and str(told[0]).startswith(".lastword-"):
                left -= 1
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(heard)
        await undo(talk.session)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
