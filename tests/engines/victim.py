"""A program with one engine, that says so when a tool is under way, and waits to be killed there.

python -m tests.engines.victim KIND DATABASE
"""

import asyncio
import os
import sys

from lastword import Runtime
from lastword.testing.provider import Call
from tests.engines.subjects import TALKING


async def look() -> str:
    os.write(1, b"looking\n")
    await asyncio.sleep(3600)
    return "never"


async def main(kind: str, database: str) -> None:
    async with TALKING[kind]() as one, Runtime(one.engine, store=f"sqlite:{database}") as runtime:
        one.tool(look)
        one.answer("I look. ", Call("look", {}), Call("look", {}))
        await runtime.session("s").send("look", id="first")
        await asyncio.sleep(3600)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
