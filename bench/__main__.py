"""Runs one bench by name, some of them with sizes."""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module

BENCHES = (
    *("fence", "stop", "processes", "store", "session"),
    *("agent", "acp", "server", "cells", "page", "newcomer"),
)

SIZES = {"session": 2, "server": 1}  # how many may be said


def main(names: list[str]) -> int:
    sizes = names[1:]
    known = names and names[0] in BENCHES and all(map(str.isdecimal, sizes))
    if not known or len(sizes) > SIZES.get(names[0], 0):
        print(f"usage: scripts/bench {' | '.join(BENCHES)}", file=sys.stderr)
        print("       scripts/bench session [TURNS [SESSIONS]]", file=sys.stderr)
        print("       scripts/bench server [SESSIONS], the storm alone", file=sys.stderr)
        return 2
    bench = import_module(f"bench.{names[0]}")  # alone: what one of them imports burdens no other
    asyncio.run(bench.main(*map(int, sizes)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
