"""A provider that streams on and on, in a process of its own, and says what it saw of a stop.

Whatever the bench is doing, it goes on sending, and what it costs is not counted there. Its times
are of the one clock that both processes have.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

from lastword.testing.provider import Answer, Call, Provider, Request, Say

EVERY = 0.002  # between two tokens, if this process wakes up in time
FLOOD = 3_000  # tokens, as fast as they can be taken
WORDS, CALLS = 200, 4  # of a turn that works


class Timed(Answer):
    """An answer that says when each chunk left, once the client has."""

    def __init__(self, request: Request, said: Say, every: float) -> None:
        super().__init__(said, every=every)
        self._request = request
        self._times: list[float] = []

    def left(self) -> None:
        self._times.append(time.monotonic())
        super().left()

    def end(self) -> None:
        super().end()
        if self._request.closed_at is not None:
            print(json.dumps([self._request.closed_at, self._times]), flush=True)


def answer(request: Request) -> Answer:
    if "flood" in request.prompt:
        return Answer(Say(*["token "] * FLOOD))
    if request.results:
        return Answer(Say(*["token "] * (WORDS // 2)))
    if "work" in request.prompt:
        calls = [Call("look", {"n": n}) for n in range(CALLS)]
        return Answer(Say(*["token "] * (WORDS // 2)), *calls)
    word = "new " if "again" in request.prompt else "old "
    return Timed(request, Say(*[word] * 1_000), EVERY)


async def provide() -> None:
    async with Provider() as provider:
        provider.always(answer)
        print(json.dumps(provider.url), flush=True)
        await asyncio.to_thread(sys.stdin.read)  # until whoever started it is gone


@dataclass(frozen=True, slots=True)
class Left:
    """A request that the client left, as the provider saw it."""

    closed_at: float
    sent_at: list[float]

    def sent_after(self, moment: float) -> int:
        return sum(sent > moment for sent in self.sent_at)


class Reports(Protocol):
    """Where the provider says what it saw."""

    async def __call__(self) -> Left: ...


@asynccontextmanager
async def talker() -> AsyncGenerator[tuple[str, Reports]]:
    """The provider's address, and what it has to say."""
    pipe = subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.talker", stdin=pipe, stdout=pipe, limit=1 << 20
    )
    if not (process.stdin and process.stdout):
        raise AssertionError
    lines = process.stdout

    async def reports() -> Left:
        return Left(*json.loads(await lines.readline()))

    try:
        yield json.loads(await lines.readline()), reports
    finally:
        process.stdin.close()
        await process.wait()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(provide())
