"""Turns that wait, and what can be done to one message among them.

Every function returns new values. A turn that loses its last message is gone.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby, takewhile
from typing import TypeAlias, assert_never

from lastword.core.model import Message, MessageId, Placement, Policy, RunId, Settings, Turn
from lastword.core.orders import Accept, Order
from lastword.core.value import value
from lastword.errors import ImpossibleMove


@value
class Waiting:
    """A turn in the queue."""

    turn: Turn
    held: bool = False  # does not start until a person speaks, or resumes the queue
    since: float = 0.0
    due: float | None = None  # a window that collects until then; None: closed


@value
class Queued:
    """A message that waits, as a person sees it."""

    message: Message
    run: RunId
    placed: Placement
    held: bool = False  # until a person speaks, or resumes the queue


@value
class QueueNews:
    """The messages that wait, and whether they wait for a person's word."""

    messages: tuple[Queued, ...]
    hushed: bool


@value
class Standing:
    """How a session stands, as far as its log does not tell."""

    hushed: bool = False  # a person's stop was the last word
    order: tuple[MessageId, ...] = ()  # of the messages that wait
    held: tuple[MessageId, ...] = ()  # those of them that a stop paused
    going: tuple[tuple[str, str], ...] = ()  # what outlives its run: the id its model knows, and it


AT_REST = Standing()
Queue: TypeAlias = tuple[Waiting, ...]
Turns: TypeAlias = tuple[Turn, ...]


def ids(turn: Turn) -> frozenset[MessageId]:
    """The messages of a turn."""
    return frozenset(message.id for message in turn.messages)


def turns(queue: Queue) -> Turns:
    """The turns in a queue, in order."""
    return tuple(w.turn for w in queue)


def queued(steering: Turns, queue: Queue) -> tuple[Queued, ...]:
    """The messages that wait, in the order of their turns."""
    first = [Queued(m, turn.run, "steering") for turn in steering for m in turn.messages]
    rest = [
        Queued(m, w.turn.run, "queued" if w.due is None else "collecting", w.held)
        for w in queue
        for m in w.turn.messages
    ]
    return (*first, *rest)


def merged(several: Turns) -> Turn:
    """One turn for all the messages of several, under the first one's run."""
    first, *others = several
    joined = tuple(run for turn in others for run in _names(turn))
    messages = tuple(m for turn in several for m in turn.messages)
    return Turn(first.run, messages, first.also + joined)


def _names(turn: Turn) -> tuple[RunId, ...]:
    """The run of each of its messages, so that they can be parted again."""
    return (turn.run,) * (len(turn.messages) - len(turn.also)) + turn.also


def parted(turn: Turn, left: int) -> tuple[Turn, Turns]:
    """A turn without so many messages that joined it last; and those, the turns they were."""
    if not left:
        return turn, ()
    rest = Turn(turn.run, turn.messages[:-left], turn.also[:-left])
    pairs = zip(turn.also[-left:], turn.messages[-left:], strict=True)
    back = [(run, tuple(m for _, m in those)) for run, those in groupby(pairs, lambda p: p[0])]
    return rest, tuple(Turn(run, messages) for run, messages in back)


def must_be_new(
    turn: Turn, here: Turns, storing: frozenset[MessageId], dying: frozenset[RunId]
) -> None:
    """Raise `ImpossibleMove` unless its messages and its run are of nobody's here."""
    known = [one.id for one in turn.messages if one.id in storing or find(here, one.id)]
    if known or len(ids(turn)) < len(turn.messages):
        said = ", ".join(known or sorted(ids(turn)))
        raise ImpossibleMove(f"message {said} was accepted before and has not ended")
    if turn.run in dying or any(one.named(turn.run) for one in here):
        raise ImpossibleMove(f"run {turn.run} exists already")


def places(steering: Turns, queue: Queue) -> int:
    """How many messages wait."""
    return sum(len(turn.messages) for turn in (*steering, *turns(queue)))


def reached(queue: Queue, at: float) -> Queue:
    """The queue with the windows closed that were open until then."""
    return tuple(replace(w, due=None) if w.due is not None and w.due <= at else w for w in queue)


def find(among: Turns, id: MessageId) -> Turn | None:
    """The turn that holds a message."""
    return next((turn for turn in among if id in ids(turn)), None)


def without(among: Turns, id: MessageId) -> Turns:
    """The turns less one message, and less the name that only this one went by."""
    return tuple(rest for turn in among for rest in _less(turn, id))


def _less(turn: Turn, id: MessageId) -> Turns:
    if id not in ids(turn):
        return (turn,)
    began = len(turn.messages) - len(turn.also)
    pairs = [p for p in zip(turn.messages, _names(turn), strict=True) if p[0].id != id]
    if not pairs:
        return ()
    messages, names = tuple(m for m, _ in pairs), tuple(name for _, name in pairs)
    if id in {m.id for m in turn.messages[:began]}:
        began -= 1
    if not began:  # who began it is gone: it is theirs who came next, by the name they know
        began = len(list(takewhile(lambda name: name == names[0], names)))
    return (Turn(names[0], messages, names[began:]),)


def queue_without(queue: Queue, id: MessageId) -> Queue:
    """The queue less one message."""
    return tuple(replace(w, turn=turn) for w in queue for turn in without((w.turn,), id))


def edited(among: Turns, new: Message) -> Turns:
    """The turns with the message of that id reading anew."""
    return tuple(
        replace(t, messages=tuple(new if m.id == new.id else m for m in t.messages)) for t in among
    )


def queue_edited(queue: Queue, new: Message) -> Queue:
    """The queue with the message of that id reading anew."""
    return tuple(replace(w, turn=turn) for w in queue for turn in edited((w.turn,), new))


def standing(first: Turns, queue: Queue, *, hushed: bool, lifted: bool) -> Standing:
    """How the queue stands, or will once the hush is lifted: by whoever speaks, when stored.

    `first` is what comes before the queue and has not begun.
    """
    held = [w.turn for w in queue if w.held and not lifted]
    return Standing(
        hushed=hushed and not lifted,
        order=tuple(m.id for turn in (*first, *turns(queue)) for m in turn.messages),
        held=tuple(m.id for turn in held for m in turn.messages),
    )


def waits(policy: Policy, *, active: bool, busy: bool) -> bool:
    """Whether a message under this policy waits, if a run is active or something is to begin."""
    match policy:
        case "takeover" | "rollback" | "refuse":
            return False
        case "steer":
            return active
        case "queue" | "collect":
            return busy
        case _:
            assert_never(policy)


def placed(turn: Turn, run: RunId, placement: Placement) -> list[Order]:
    """Each of its messages has its place."""
    return [Accept(message, run, placement) for message in turn.messages]


def moved(queue: Queue, turn: Turn, to: int) -> Queue:
    """The queue with a turn in another place, counted from 0."""
    rest = [w for w in queue if w.turn is not turn]
    return (*rest[: max(to, 0)], *(w for w in queue if w.turn is turn), *rest[max(to, 0) :])


def collected(queue: Queue, turn: Turn, at: float, settings: Settings) -> Queue:
    """The queue with the turn in its open window, which then stays open a little longer."""
    if queue and queue[-1].due is not None:
        *rest, window = queue
        together = window.turn.messages + turn.messages  # all are told its name, and no other
        window = replace(window, turn=replace(window.turn, messages=together))
    else:
        rest, window = queue, Waiting(turn, since=at)
    due = min(at + settings.quiet_window, window.since + settings.longest_window)
    return (*rest, replace(window, due=due))
