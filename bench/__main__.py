"""Runs one bench by name."""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module

BENCHES = ("fence", "stop", "processes", "store", "agent", "acp", "server", "cells")


def main(names: list[str]) -> int:
    if len(names) != 1 or names[0] not in BENCHES:
        print(f"usage: scripts/bench {' | '.join(BENCHES)}", file=sys.stderr)
        return 2
    bench = import_module(f"bench.{names[0]}")  # alone: what one of them imports burdens no other
    asyncio.run(bench.main())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
