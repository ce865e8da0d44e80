"""Times several sides in turns, so that a busy moment of the machine falls on all of them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from statistics import median
from typing import TypeAlias

Side: TypeAlias = Callable[[int], Awaitable[object]]
"""Does the same thing so many times over."""


async def in_turns(sides: Mapping[str, Side], *, times: int, rounds: int = 15) -> dict[str, float]:
    """Seconds a time for each side: the median over rounds of the best of three."""
    best: dict[str, list[float]] = {name: [] for name in sides}
    order = list(sides)
    for _ in range(rounds):
        took: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(3):
            for name in order:
                took[name].append(await seconds(sides[name](times)) / times)
        for name in sides:
            best[name].append(min(took[name]))
        order = [*order[1:], order[0]]  # nobody always comes first
    return {name: median(all_best) for name, all_best in best.items()}


async def seconds(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


def quantile(values: Iterable[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


def heading(text: str) -> None:
    print(f"\n{text}")


def row(name: str, took: float, *beside: tuple[str, float]) -> None:
    """One line: what it took, and that as a ratio to whatever it is put beside."""
    ratios = "   ".join(f"x{took / other:<7.3g} {what}" for what, other in beside if other)
    print(f"  {name:<52}{duration(took):>10}   {ratios}".rstrip())


def duration(took: float) -> str:
    if took < 1e-6:
        return f"{took * 1e9:.0f} ns"
    return f"{took * 1e6:.2f} us" if took < 1e-3 else f"{took * 1e3:.2f} ms"
