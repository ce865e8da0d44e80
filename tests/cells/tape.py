"""An interpreter for virtual time: its programs are a count of frontiers, and nothing else."""

import asyncio
from collections import Counter
from collections.abc import Mapping

from lastword.cells import AtFrontier, Err, Ok, Step, StepCall, StepFinished


class Tape:
    """A program "3" prints and waits three times, one call each, and remembers how often."""

    def __init__(self) -> None:
        self.taken: Counter[bytes] = Counter()  # how often each frontier was gone on from, whole

    async def start(self, source: str, **_: object) -> Step:
        await asyncio.sleep(0.001)
        return _at(1, int(source))

    def must_read(self, dump: bytes) -> None:
        assert b"/" in dump

    async def resume(self, dump: bytes, results: Mapping[str, Ok | Err], **_: object) -> Step:
        await asyncio.sleep(0.001)
        at, last = map(int, dump.split(b"/"))
        assert list(results) == [str(at)]
        self.taken[dump] += 1
        return _at(at + 1, last)


def _at(number: int, last: int) -> Step:
    if number > last:
        return StepFinished(last, f"out {number}\n", {"n": last})
    return AtFrontier(f"{number}/{last}".encode(), (_call(number),), f"out {number}\n")


def _call(number: int) -> StepCall:
    return StepCall(str(number), "ask", (number,))
