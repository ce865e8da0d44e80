"""E29. Each engine is stopped and taken over at random: nothing acts, hides or is told wrongly.

`--stops N` says how often; `-rP` shows what was counted.
"""

import random
from collections import Counter

import pytest

from tests.engines.random_stops import How, tried
from tests.engines.subjects import SCRIPTED


@pytest.mark.scenario("E29")
@pytest.mark.parametrize("how", ["stop", "takeover"])
@pytest.mark.parametrize("kind", SCRIPTED)
async def test_whenever_an_engine_is_ended_nothing_acts_hides_or_is_told_wrongly(
    kind: str, how: How, stops: int, seed: int
) -> None:
    wrong: dict[int, list[str]] = {}
    figures: Counter[str] = Counter()

    for number in range(stops):
        async with SCRIPTED[kind]() as one:
            trial = await tried(one, how, random.Random(f"{seed} {kind} {how} {number}"))
        if trial.wrong:
            wrong[number] = trial.wrong
        figures += Counter(
            {
                "with calls": bool(trial.calls),
                "cut": trial.cut,
                "doubts": len(trial.doubts),
                "late requests": trial.requests,
            }
        )

    print(f"{kind}, {how}: {stops} times; {dict(figures)}")  # noqa: T201 - what was counted
    assert wrong == {}
