"""E41. The Claude Agent SDK's CLI, stopped at random, and now and then taken over.

`--stops N` says how often; `-rP` shows what was counted. Each time starts programs.
"""

import random
from collections import Counter

import pytest

from tests.engines.random_stops import How, tried
from tests.engines.subjects import HEAVY

HOWS: tuple[How, ...] = ("stop", "stop", "takeover", "stop")


@pytest.mark.scenario("E41")
async def test_whenever_the_cli_is_ended_nothing_acts_hides_or_is_told_wrongly(
    stops: int, seed: int
) -> None:
    wrong: dict[int, list[str]] = {}
    figures: Counter[str] = Counter()

    for number in range(stops):
        how = HOWS[number % len(HOWS)]
        async with HEAVY["claude"]() as one:
            trial = await tried(one, how, random.Random(f"{seed} claude {number}"))
        if trial.wrong:
            wrong[number] = trial.wrong
        figures += Counter(
            {
                how: 1,
                "with calls": bool(trial.calls),
                "cut": trial.cut,
                "doubts": len(trial.doubts),
                "late requests": trial.requests,
            }
        )

    print(f"claude: {dict(figures)}")  # noqa: T201 - what was counted
    assert wrong == {}
