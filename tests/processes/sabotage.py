"""Let a run write into the tree of control groups, and tell what came of it: JSON.

    sabotage.py WHAT

A program of its own: whose part of the tree it is matters.
"""

import asyncio
import json
import os
import sys

from lastword.processes import Processes, command
from lastword.processes.cgroups import our_own
from tests.processes.household import state, zygotes

MINE = 'G=$(dirname "$(grep -l -x $PPID "$BASE"/lastword-*/*/cgroup.procs)"); H=$(dirname "$G")\n'
ASIDE = (
    'mkdir "$BASE/aside"; echo $ZYGOTE > "$BASE/aside/cgroup.procs"; echo 1 > "$BASE/aside/cgroup.'
)
SABOTAGE = {
    "no_more_groups": 'echo 0 > "$H/cgroup.max.descendants"',
    "closed": 'chmod 0 "$G" "$H"',
    "frozen": '(echo; echo 1 > "$H/cgroup.freeze") &',
    "threaded": 'mkdir "$BASE/aside"; for p in $(cat "$H"/*/cgroup.procs); do echo $p > '
    '"$BASE/aside/cgroup.procs"; done; mkdir "$H/odd"; echo threaded > "$H/odd/cgroup.type"',
    "frozen_zygote": ASIDE + 'freeze"',
    "closed_below": 'mkdir -p "$G/x/y"; chmod 0 "$G/x"',
    "host_moved": 'echo $HOST > "$G/cgroup.procs"',
    "zygote_moved": 'mkdir "$G/x"; echo $ZYGOTE > "$G/x/cgroup.procs"',
    "other_moved": 'mkdir "$G/x"; echo $OTHER > "$G/x/cgroup.procs"',
}


async def main(what: str) -> None:
    base = our_own()
    async with Processes("cgroup") as processes:
        kept = await processes.warden()
        other = await kept.spawn(command("sleep", "50"))
        numbers = {"HOST": os.getpid(), "ZYGOTE": zygotes(os.getpid())[0], "OTHER": other.pid}
        env = {"BASE": base, **numbers}
        warden = await processes.warden()
        line = f"{MINE}{SABOTAGE[what]}\necho; while :; do sleep 50; done"
        run = await warden.spawn(command(shell=line, env={k: str(v) for k, v in env.items()}))
        async for _ in run.stdout:
            break
        later = await processes.warden()
        starts = await (await later.spawn(command("true"))).wait() == 0
        ending = await warden.stop(0.0)
        told = {
            "others_start": starts,
            "quiet": ending.proven,
            "dead": state(run.pid) in ("", "Z"),
            "other_lives": state(other.pid) not in ("", "Z"),
        }
        told["other_ends"] = (await kept.stop(0.0)).proven
    homes = [str(path) for path in base.glob("lastword-*")]
    print(json.dumps({**told, "left": homes}))  # noqa: T201 - its answer


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
