"""Every history of a picture's world, within stated bounds, held to its laws."""

from __future__ import annotations

from collections.abc import Iterator

from lastword.core.picture import Picture
from tests.core.picture_laws import (
    Make,
    drawn,
    from_the_log,
    lagging,
    lasting,
    prompt,
    taken,
    true_to,
)
from tests.core.picture_world import World

# what may happen in the histories of one exploration beside messages, runs, their ends and stops
BOUNDS: dict[str, tuple[str, ...]] = {
    "words": ("text", "think", "progress", "mark", "note"),
    "calls": ("text", "called", "begun", "result", "progress", "ask", "answer"),
    "queue": ("text", "steer", "take_up", "edit", "withdraw"),
    "collected": ("text", "collect", "withdraw"),
    "below": ("text", "ask_below", "answer_below"),
    "notes": ("text", "note", "summarise", "leave_out"),
    "beside": ("start", "end", "pause", "complete", "use", "note"),
}
ENDS = ("finish", "stop", "stop_slowly", "settle", "take_over")
MOST = {"say": 2, "text": 2}


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


def judge(moves: tuple[str, ...], make: Make = Picture) -> None:
    world = made(moves)
    picture = prompt(world, make)
    drawn(picture)
    true_to(world, picture)
    whole = lasting(picture)
    for cut in range(len(moves)):
        from_the_log(made(moves[:cut]), world, whole, make)
    for behind in range(len(world.events)):
        lagging(world, behind, whole, make)
        taken(world, behind, make)


def explore_picture(bounds: str, depth: int, make: Make = Picture) -> int:
    """Judge every history of so many moves; how many there were."""
    count = 0
    for moves in histories(bounds, depth):
        judge(moves, make)
        count += 1
    return count
