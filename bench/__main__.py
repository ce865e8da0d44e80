"""Runs one bench by name, some of them with sizes."""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module

BENCHES = (
    *("fence", "stop", "processes", "store", "session"),
    *("agent", "acp", "engines", "isolated", "server", "cells", "nodes", "page", "newcomer"),
)

SIZES = {"session": 2, "server": 1, "engines": 2}  # how many may be said
CHOOSES = ("engines",)  # of which a part can be asked for


def main(names: list[str]) -> int:
    sizes = [one for one in names[1:] if one.isdecimal()]
    words = [one for one in names[1:] if not one.isdecimal()]
    known = names and names[0] in BENCHES and not (words and names[0] not in CHOOSES)
    if not known or len(sizes) > SIZES.get(names[0], 0):
        print(f"usage: scripts/bench {' | '.join(BENCHES)}", file=sys.stderr)
        print("       scripts/bench session [TURNS [SESSIONS]]", file=sys.stderr)
        print("       scripts/bench server [SESSIONS], the storm alone", file=sys.stderr)
        print(
            "       scripts/bench engines [stops | costs | start] [ENGINE] [STOPS TAKEOVERS]",
            file=sys.stderr,
        )
        return 2
    bench = import_module(f"bench.{names[0]}")  # alone: what one of them imports burdens no other
    more = {"only": words} if words else {}
    asyncio.run(bench.main(*map(int, sizes), **more))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
