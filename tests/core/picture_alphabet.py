"""Every history of a picture's world, within stated bounds, held to its laws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lastword.core.picture import Picture
from tests.core.explorer import Alphabet, Explored, Law, explore
from tests.core.picture_laws import (
    Make,
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
    "waiting": (
        *("collect", "finish_alone", "replace_waiting"),
        *("stop_keeping", "stop_own", "stop_waiting"),
    ),
    "below": ("text", "ask_below", "answer_below"),
    "kept": ("text", "ask_below", "ask_kept", "answer_kept"),
    "notes": ("text", "note", "summarise", "leave_out"),
    "restart": ("text", "called", "begun", "die", "note"),
    "beside": ("start", "end", "pause", "complete", "use", "note"),
}
ENDS = ("finish", "stop", "stop_slowly", "settle", "take_over")
MOST = {"say": 2, "text": 2, "stop_waiting": 2, "ask_kept": 2}


def _going(world: World) -> bool:
    return world.active is not None


_MAY: dict[str, Callable[[World], bool]] = {
    "say": lambda w: w.said < 9,
    "steer": lambda w: _going(w) and w.steering is None,
    "take_up": lambda w: w.steering is not None,
    "edit": lambda w: bool(w.waiting),
    "withdraw": lambda w: bool(w.waiting),
    "collect": lambda w: _going(w) and not w.waiting,
    "text": _going,
    "think": _going,
    "progress": _going,
    "mark": _going,
    "use": _going,
    "called": lambda w: _going(w) and w.call is None,
    "begun": lambda w: w.call is not None and not w.call[1] and w.question is None,
    "result": lambda w: w.call is not None and w.call[1],
    "ask": lambda w: w.call is not None and not w.call[1] and w.question is None,
    "answer": lambda w: w.question is not None,
    "ask_below": lambda w: _going(w) and w.below is None,
    "answer_below": lambda w: w.below is not None,
    "ask_kept": lambda w: w.said > 0 and w.kept is None,
    "answer_kept": lambda w: w.kept is not None,
    "start": lambda w: _going(w) and w.process is None,
    "end": lambda w: w.process is not None,
    "note": lambda w: w.said > 0,
    "summarise": _going,
    "leave_out": _going,
    "pause": lambda w: _going(w) and w.program is None,
    "complete": lambda w: w.program is not None,
    "finish": _going,
    "finish_alone": lambda w: _going(w) and bool(w.waiting),
    "replace_waiting": lambda w: not _going(w) and bool(w.waiting),
    "stop": _going,
    "stop_keeping": lambda w: _going(w) and bool(w.waiting) and w.steering is None,
    "stop_own": lambda w: _going(w) and bool(w.waiting) and w.steering is None,
    "stop_waiting": lambda w: bool(w.waiting),
    "stop_slowly": lambda w: _going(w) and w.ending is None,
    "settle": lambda w: w.ending is not None,
    "take_over": _going,
    "die": lambda w: _going(w) and not (w.waiting or w.steering or w.questions or w.typing),
}


def possible(world: World) -> Iterator[str]:
    """What can happen next."""
    for name, may in _MAY.items():
        if world.counts.get(name, 0) < MOST.get(name, 1) and may(world):
            yield name


def made(moves: tuple[str, ...]) -> World:
    world = World()
    for move in moves:
        world.make(move)
    return world


@dataclass(eq=False)
class History:
    """What has happened: a picture is told of it from the beginning, and from everywhere else."""

    moves: tuple[str, ...] = ()

    def apply(self, move: str) -> list[object]:
        self.moves += (move,)
        return []


def judge(moves: tuple[str, ...], make: Make = Picture) -> None:
    """Hold a picture of a history to its laws, cut at every fact."""
    world = made(moves)
    picture = prompt(world, make)
    true_to(world, picture)
    whole = lasting(picture)
    for moment in (World().moment, *world.moments):
        from_the_log(moment, world, whole, make)
    for behind in range(len(world.events)):
        lagging(world, behind, whole, make)
        taken(world, behind, make)


def explore_picture(bounds: str, depth: int, make: Make = Picture) -> Explored:
    """Judge every history of so many moves: no two of them are one, as each is cut anew."""
    allowed = {"say", *ENDS, *BOUNDS[bounds]}

    def possibly(history: History, _: None) -> Iterator[str]:
        if len(history.moves) < depth:
            yield from (m for m in possible(made(history.moves)) if m in allowed)

    def held(_: History, __: str, history: History, ___: list[object], ____: None) -> None:
        judge(history.moves, make)

    return explore(History(), Alphabet(bounds, possibly), Law(None, held, key=_itself))


def _itself(history: History, _: None) -> tuple[str, ...]:
    return history.moves
