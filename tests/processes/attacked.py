"""Let attackers turn on their keepers, and tell what the stop found: one line of JSON for each.

    attacked.py LEVEL PROGRAM ATTACKER...

A program of its own, as as_user.py is: root can run it as somebody else.
"""

import asyncio
import json
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from lastword.errors import SpawnFailed
from lastword.processes import Level, Processes, command
from tests.processes.artists import ATTACKERS, Canary


@dataclass(frozen=True)
class Attacked:
    """How a stop of an attacker ended."""

    attacker: str
    quiet: bool  # so it was said
    dead: bool  # and so it was, in that moment
    named: int  # of those that may live on
    others_start: bool  # another run has its processes all the same


async def attacked(level: Level, attacker: str, *, program: Path, directory: Path) -> Attacked:
    """One attack on keepers of its own."""
    async with Processes(level=level) as processes:
        with Canary(directory) as canary:
            warden = await processes.warden()
            with suppress(SpawnFailed):  # it may be at them before they have told of its start
                await warden.spawn(command(program, attacker, canary.path))
            await canary.ready_or_dead(ATTACKERS[attacker])
            ending = await warden.stop(grace=0.1)
            dead = await canary.dead(timeout=0.0)
            named = sum(report.fate == "unconfirmed" for report in ending.processes)
            after = await processes.warden()
            others = await (await after.spawn(command("true"))).wait() == 0
            return Attacked(attacker, ending.proven, dead, named, others)


async def main(level: Level, program: Path, *attackers: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        for attacker in attackers:
            told = await attacked(level, attacker, program=program, directory=Path(name))
            print(json.dumps(asdict(told)), flush=True)  # noqa: T201 - its answer


if __name__ == "__main__":
    asyncio.run(main(cast("Level", sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:]))
