"""Rounds of deaths among keepers and their host, on a machine that is busy: how many lived on.

    python -m tests.processes.deaths ROUNDS [SEED]

Each round has a host of its own at some level, with some artists. Some of host, warden and zygote
are stopped, then some are killed, the host always among them; at tree not all three, whose death
together is named in the promise as not held. Prints one line, and each survivor's round.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path

from lastword.processes import Level
from tests.processes.strict import NO_GROUPS
from tests.processes.test_killed import a_host

ARTISTS = ("plain", "termignore", "setsid", "daemon_gone", "nohup", "comet", "comet_sid", "houdini")
LEVELS: tuple[Level, ...] = ("sealed", "tree") if NO_GROUPS else ("sealed", "cgroup", "tree")
BUSY = "while :; do :; done"


async def one_round(dice: random.Random, directory: Path) -> tuple[str, bool]:
    """What was done, and whether nobody was left."""
    level = dice.choice(LEVELS)
    artists = dice.sample(ARTISTS, 3)
    async with a_host(level, "keeps", *artists, directory=directory) as host:
        keepers = {"host": host.pid, "warden": host.warden, "zygote": host.zygote}
        stopped = dice.sample(sorted(keepers), dice.randrange(3))
        most = 3 if level == "sealed" else 2
        doomed = ["host", *dice.sample(["warden", "zygote"], dice.randrange(most))]
        dice.shuffle(doomed)
        for number, names in ((signal.SIGSTOP, stopped), (signal.SIGKILL, doomed)):
            for name in names:
                with suppress(ProcessLookupError):
                    os.kill(keepers[name], number)
        told = f"{level} {','.join(artists)} stopped {stopped} killed {doomed}"
        dead = await host.all_dead()
        for name in ("zygote", "warden") if not dead else ():  # nor is it to outlive the round
            with suppress(ProcessLookupError):
                os.kill(keepers[name], signal.SIGKILL)
        return told, dead


async def main(rounds: int, seed: int) -> None:
    dice = random.Random(seed)
    load = [subprocess.Popen(["sh", "-c", BUSY]) for _ in range(4)]  # noqa: ASYNC220, S607
    outcome: Counter[bool] = Counter()
    try:
        with tempfile.TemporaryDirectory() as name:
            for _ in range(rounds):
                told, dead = await one_round(dice, Path(name))
                outcome[dead] += 1
                if not dead:
                    print("survivors:", told, flush=True)  # noqa: T201 - its answer
    finally:
        for one in load:
            one.kill()
            one.wait()
    print(f"{rounds} rounds, survivors in {outcome[False]}")  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 7))
