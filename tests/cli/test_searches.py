"""How `lastword serve` has Python look for cycles: a search stops everything, a stop too."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from lastword.cli.serve import search_rarely


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


@pytest.mark.scenario("W31", part="server")
def test_a_search_among_what_is_new_is_small_however_much_lives() -> None:
    searched = list[int]()

    def looked(phase: str, told: dict[str, int]) -> None:
        if phase == "start" and told["generation"] < 2:
            searched.append(sum(len(gc.get_objects(n)) for n in range(told["generation"] + 1)))

    search_rarely()
    gc.callbacks.append(looked)
    try:
        kept: list[list[object]] = [[] for _ in range(300_000)]
    finally:
        gc.callbacks.remove(looked)

    assert len(kept) == 300_000
    assert len(searched) > 10
    assert max(searched) < 20_000
