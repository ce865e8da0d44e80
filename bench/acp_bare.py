"""The least that an agent can be: a task that streams words, ended by a cancel, and no store.

Lines of a prompt that begin with `run` are started as commands instead, each with a process group
of its own, which a cancel kills. None of the promise is in it: what has left the group lives on,
and nothing is written down.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from typing import Any, TypeAlias

EVERY = 0.04  # as a rehearsal does it
Message: TypeAlias = dict[str, Any]


def write(message: Message) -> None:
    os.write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


async def answer(asked: Message) -> None:
    text: str = asked["params"]["prompt"][0]["text"]
    commands = [line.removeprefix("run ") for line in text.splitlines() if line[:4] == "run "]
    groups = [await started(command) for command in commands]
    try:
        if groups:
            await asyncio.Event().wait()
        word, _, _ = text.partition(" ")
        for number in range(1_000):
            chunk = {"type": "text", "text": f"{word} {number} "}
            update = {"sessionUpdate": "agent_message_chunk", "content": chunk}
            params = {"sessionId": asked["params"]["sessionId"], "update": update}
            write({"method": "session/update", "params": params})
            await asyncio.sleep(EVERY)
    finally:
        for group in groups:
            os.killpg(group, signal.SIGKILL)


async def started(command: str) -> int:
    process = await asyncio.create_subprocess_shell(command, start_new_session=True)
    return process.pid


async def main() -> None:
    lines = asyncio.StreamReader(limit=1 << 20)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), sys.stdin
    )
    going: tuple[Message, asyncio.Task[None]] | None = None
    while line := await lines.readline():
        said: Message = json.loads(line)
        if going and said["method"] in {"session/cancel", "session/prompt"}:
            asked, task = going
            task.cancel()
            await asyncio.wait([task])
            write({"id": asked["id"], "result": {"stopReason": "cancelled"}})
            going = None
        match said["method"]:
            case "initialize":
                write({"id": said["id"], "result": {"protocolVersion": 1}})
            case "session/new":
                write({"id": said["id"], "result": {"sessionId": "s"}})
            case "session/prompt":
                going = said, asyncio.create_task(answer(said))
            case _:
                pass


if __name__ == "__main__":
    asyncio.run(main())
