"""Random stops and takeovers of one recipe, counted: `python -m recipes.proof.figures NAME 100 30`.

A row is that of docs/how-to/other-frameworks.md. Whatever was wrong is told in lines of its own.
"""

import asyncio
import io
import logging
import os
import random
import sys
from contextlib import redirect_stdout


async def ended(name, how, times):
    """Each of so many turns, ended at random. What frameworks tell of it is not heard."""
    from recipes.proof.plugin import RECIPE
    from tests.engines.random_stops import tried

    logging.disable()
    for number in range(times):
        with redirect_stdout(io.StringIO()):
            async with RECIPE.opened() as one:
                trial = await tried(one, how, random.Random(f"{name} {how} {number}"))
        for wrong in trial.wrong + trial.doubts:
            print(f"{how} {number}: {wrong}")
        yield trial


async def main(name, stops, takeovers):
    trials = [trial async for trial in ended(name, "stop", stops)]
    trials += [trial async for trial in ended(name, "takeover", takeovers)]
    counts = (
        len(trials),
        sum(bool(trial.calls) for trial in trials),
        sum(trial.cut for trial in trials),
        sum(len(trial.effects + trial.words) for trial in trials),
        sum(len(trial.silent) for trial in trials),
        sum(bool(trial.invalid) for trial in trials),
        sum(len(trial.lies + trial.untold) for trial in trials),
        sum(len(trial.doubts) for trial in trials),
        sum(trial.requests for trial in trials),
        f"{max(trial.took for trial in trials) * 1000:.0f} ms",
    )
    print("| | n | hit | cut | effects | silent | invalid | lies | doubts | late | worst |")
    print("|", " | ".join(map(str, (name, *counts))), "|")
    return sum(counts[3:7])


if __name__ == "__main__":
    name, stops, takeovers = sys.argv[1:]
    os.environ["RECIPE"] = name
    sys.exit(bool(asyncio.run(main(name, int(stops), int(takeovers)))))
