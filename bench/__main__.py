"""Runs one bench by name."""

from __future__ import annotations

import asyncio
import sys

from bench import fence, processes, stop, store

BENCHES = {
    "fence": fence.main,
    "stop": stop.main,
    "processes": processes.main,
    "store": store.main,
}


def main(names: list[str]) -> int:
    if len(names) != 1 or names[0] not in BENCHES:
        print(f"usage: scripts/bench {' | '.join(BENCHES)}", file=sys.stderr)
        return 2
    asyncio.run(BENCHES[names[0]]())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
