"""A worker: takes one step of one program at a time, each in an interpreter that is new.

It leaves when its input ends, or when a program prints more than it may: that interpreter is still
busy then, and would go on printing; the warden ends both.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NoReturn

from .frames import Message, packed, read

_OVERTIME = 0.25  # seconds beyond its time, for an interpreter to notice before it is killed


class WorkerMain:
    """What is read and written, whatever happens to standard output."""

    def __init__(self) -> None:
        self._answers = os.dup(1)
        os.dup2(2, 1)  # what a library may print is no answer

    def say(self, message: Message, blob: bytes = b"") -> None:
        left = memoryview(packed(message, blob))
        while left:
            left = left[os.write(self._answers, left) :]

    def print(self, text: str) -> None:
        self.say({"output": text})

    def leave(self, message: Message) -> NoReturn:
        self.say(message)
        os._exit(0)

    def hear(self) -> tuple[Message, bytes]:
        """The next request. Raises EOFError when there will be none."""
        return read(_exactly)


def main() -> None:
    """Serve until the input ends."""
    worker = WorkerMain()
    try:
        from pydantic_monty import Monty, MontyCrashedError  # noqa: PLC0415 - it may be missing

        from .program import Program  # noqa: PLC0415

        def new() -> Monty:
            return Monty(max_processes=1, feed_duration_limit_grace=_OVERTIME).__enter__()

        pool = new()
    except Exception as error:  # noqa: BLE001 - whoever waits is told, whatever it is
        worker.leave({"cannot": f"{type(error).__name__}: {error}"})
    worker.say({"ready": os.getpid()})
    while True:
        try:
            request, dump = worker.hear()
        except EOFError:
            break
        with suppress(MontyCrashedError), pool.checkout() as session:
            session.dump()  # if it was killed while it waited, this is how the pool finds out
        worker.say({"begun": True})
        program = Program(request["state"], worker.print, worker.leave)
        if "source" in request:
            answer = program.start(pool, request["source"], request["stubs"])
        else:
            answer = program.resume(pool, dump, request["results"])
        worker.say(*answer)
        pool.__exit__(None, None, None)
        pool = new()  # ready when it is needed, and with nothing of another cell's
    pool.__exit__(None, None, None)


def _exactly(count: int) -> bytes:
    found = bytearray()
    while len(found) < count:
        if not (more := os.read(0, count - len(found))):
            raise EOFError
        found += more
    return bytes(found)
