"""A provider in a process of its own: it has commands run, all at once, or it talks on and on.

Lines of a prompt that begin with `run` are calls of the shell. Of an answer that was left it says
when each token was sent, by the clock that all processes have.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import cast

from bench.talker import EVERY, Timed
from lastword.testing.provider import Answer, Call, Provider, Request, Say


def answer(request: Request) -> Answer:
    lines = request.prompt.splitlines()
    if commands := [line.removeprefix("run ") for line in lines if line[:4] == "run "]:
        return Answer(*(Call("shell", {"command": command}) for command in commands))
    return Timed(request, Say(*["word "] * 1_000), EVERY)


async def provide() -> None:
    async with Provider() as provider:
        provider.always(answer)
        print(json.dumps(provider.url), flush=True)
        await asyncio.to_thread(sys.stdin.read)  # until whoever started it is gone


@contextmanager
def provider() -> Generator[tuple[str, Callable[[float], int]]]:
    """Its address, and how many tokens of the answer that was left last it sent after a moment."""
    command, pipe = [sys.executable, "-m", "bench.acp_talker"], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:  # noqa: S603 - our own
        if not (process.stdin and process.stdout):
            raise AssertionError
        lines = process.stdout
        ahead = time.monotonic() - time.perf_counter()

        def sent_after(moment: float) -> int:
            _, sent = cast("tuple[float, list[float]]", json.loads(lines.readline()))
            return sum(at > moment + ahead for at in sent)

        try:
            yield json.loads(lines.readline()), sent_after
        finally:
            process.stdin.close()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(provide())
