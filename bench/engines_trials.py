"""What a stop, or a takeover, at random leaves of an engine; which one, this knows nothing of."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, TypeAlias

from tests.engines.random_stops import How, Trial, tried
from tests.engines.told import Scripted

Opens: TypeAlias = Callable[[], AbstractAsyncContextManager[Scripted]]
COLUMNS = (
    *("effects", "writes", "silent", "left", "invalid"),
    *("words", "lies", "untold", "doubts"),
)
_SEEN = 5  # of those, without an engine: words leave by `run.emit` there too; the others need a log


class Ends(NamedTuple):
    """How often each is ended."""

    stops: int
    takeovers: int


def columns() -> None:
    """What stands in each."""
    print(
        f"  {'':<34}{'n':>5}{'hit':>5}{'cut':>5}" + "".join(f"{name:>9}" for name in COLUMNS),
        end="",
    )
    print(f"{'late requests':>15}{'worst stop':>12}", flush=True)


async def trials(name: str, opens: Opens, ends: Ends, *, log: bool = True) -> None:
    """One engine is ended at random. Without a log of its calls, nothing is told of them."""
    told = COLUMNS if log else COLUMNS[:_SEEN]
    sums: Counter[str] = Counter()
    worst = 0.0
    for number in range(sum(ends)):
        how: How = "stop" if number < ends.stops else "takeover"
        async with opens() as one:
            trial = await tried(one, how, random.Random(f"{name} {how} {number}"))  # noqa: S311
        sums += counted(trial)
        worst = max(worst, trial.took)
    figures = "".join(f"{sums[each] if each in told else '-':>9}" for each in COLUMNS)
    cut = sums["cut"] if log else "-"
    print(f"  {name:<34}{sum(ends):>5}{sums['hit']:>5}{cut:>5}{figures}", end="")
    print(f"{sums['requests']:>15}{worst * 1e3:>9.0f} ms", flush=True)


def counted(trial: Trial) -> Counter[str]:
    sums = Counter({each: len(getattr(trial, each)) for each in COLUMNS})
    sums["invalid"] = bool(trial.invalid)  # one history, however often it was sent
    return sums + Counter(hit=bool(trial.begun), cut=trial.cut, requests=trial.requests)
