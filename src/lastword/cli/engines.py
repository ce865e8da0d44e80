"""How a run of a team's own engine gets a process: found out by starting some."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from lastword.cli import own_engine
from lastword.engines.isolated import Isolated
from lastword.errors import LastwordError
from lastword.processes import Level, Processes


async def examine(named: str, level: Level | None, say: Callable[[str, str], None]) -> int:
    """Look, and say what was found; 1 if it cannot be had."""
    logging.getLogger("lastword").addHandler(logging.NullHandler())  # it is said here
    try:
        own_engine.must_be_a_name(named)
        first, next_, why = await _start(Isolated(named, warm=0, most=2), level)
    except (LastwordError, ValueError) as error:
        print(f"\nengine: {named} cannot be had")
        say("because", f"{error}.")
        return 1
    how = "starts slowly" if why else "is forked"
    print(f"\nengine: {named}: a run {how}")
    say("because", f"{why}." if why else "importing its module leaves nothing that a fork breaks.")
    if why:
        say("instead", "Each run's process imports it for itself; those that are warm have.")
    say("first", f"{first * 1e3:.0f} ms until a process has it, once, with the import")
    say("then", f"{next_ * 1e3:.0f} ms each, ahead of a run if one is kept warm")
    return 0


async def _start(engine: Isolated, level: Level | None) -> tuple[float, float, str]:
    processes = Processes(level or "auto")
    try:
        await processes.start()
        engine.open(processes)
        took: list[float] = []
        for _ in range(2):
            began = time.perf_counter()
            await engine.try_out()
            took.append(time.perf_counter() - began)
        return took[0], took[1], await engine.why_slow()
    finally:
        engine.close()
        await processes.close()
