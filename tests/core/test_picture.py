"""The laws of a picture, over every history there is within stated bounds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.core.picture_laws import drawn, from_the_log, lagging, lasting, prompt
from tests.core.picture_world import World

# what may happen in the histories of one exploration beside messages, runs, their ends and stops
BOUNDS: dict[str, tuple[str, ...]] = {
    "words": ("text", "think", "progress", "mark", "note"),
    "calls": ("text", "called", "begun", "result", "progress", "ask", "answer"),
    "queue": ("text", "steer", "take_up", "edit", "withdraw"),
    "beside": ("start", "end", "pause", "complete", "use", "note"),
}
ENDS = ("finish", "stop", "stop_slowly", "settle", "take_over")
MOST = {"say": 2, "text": 2}
DEPTH = 4
FLOORS = {"words": 521, "calls": 260, "queue": 190, "beside": 390}  # histories


def made(moves: tuple[str, ...]) -> World:
    world = World()
    for move in moves:
        world.make(move)
    return world


def histories(bounds: str, depth: int) -> Iterator[tuple[str, ...]]:
    """Every history of so many moves, shortest first."""
    allowed = {"say", *ENDS, *BOUNDS[bounds]}
    line: list[tuple[str, ...]] = [()]
    while line:
        moves = line.pop(0)
        yield moves
        if len(moves) < depth:
            line += [(*moves, m) for m in made(moves).moves(MOST) if m in allowed]


def judge(moves: tuple[str, ...]) -> None:
    world = made(moves)
    picture = prompt(world)
    drawn(picture)
    whole = lasting(picture)
    for cut in range(len(moves)):
        from_the_log(made(moves[:cut]), world, whole)
    for behind in range(len(world.events)):
        lagging(world, behind, whole)


@pytest.mark.parametrize("bounds", BOUNDS)
def test_the_laws_of_a_picture_hold_in_every_history(bounds: str) -> None:
    count = 0
    for count, moves in enumerate(histories(bounds, DEPTH), 1):  # noqa: B007 - it is counted
        judge(moves)
    assert count >= FLOORS[bounds]
