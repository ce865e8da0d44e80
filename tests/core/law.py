"""The promise as a judge of one step: what a session's machine must do, may do, and must not touch.

`judge` is given the machine before and after an event, with the orders it gave, and the ghost that
remembers the past. It raises `Broken` with the clause that was broken. What each event has to end,
and what each message has to be answered, is worked out here a second time, from the promise.
"""

from __future__ import annotations

from typing import TypeAlias

from lastword.core.events import (
    Accepted,
    ClockReached,
    EditAsked,
    Ended,
    Event,
    Found,
    LetGo,
    Loaded,
    MoveAsked,
    ProgramsStand,
    RemoveAsked,
    ResumeAsked,
    SteeringTaken,
    StopAsked,
    Stored,
    StoreFailed,
)
from lastword.core.model import MessageId, Outcome, Policy, Reason, RunId, Turn
from lastword.core.orders import Accept, Cancel, End, Order, Pause, Refuse
from lastword.core.session import SessionMachine
from lastword.errors import ImpossibleMove, LastwordError, NotAllowed, NotWaiting, StaleRun
from tests.core.entitled import entitled, ids_of, may, overtaking, people, turns_of
from tests.core.explorer import must
from tests.core.generation_law import generation_judged
from tests.core.ghost import Ghost, Heard, arrived, due, hear, left
from tests.core.program_law import programs_judged, stoppable_programs

Ends: TypeAlias = dict[MessageId, Outcome]


def judge(
    before: SessionMachine, event: Event, after: SessionMachine, orders: list[Order], ghost: Ghost
) -> Ghost:
    """Check one step; return what is remembered after it."""
    orders = programs_judged(before, event, after, orders, ghost)
    ends = expected_ends(before, event, ghost)
    if isinstance(event, Accepted):
        _answered(before, event, orders, ghost)
        if isinstance(orders[0], Refuse):
            unchanged(before, after, "a refused message changes nothing")
    _ended(orders, ends, event, ghost)
    if isinstance(event, StopAsked):
        theirs = entitled(before, event.by, turns_of(before), ghost)
        paused = [order.turn for order in orders if isinstance(order, Pause)]
        must(all(turn in theirs for turn in paused), "a stop pauses only what is theirs")
    if isinstance(event, StopAsked) and not ends and event.run is None and not ghost.free:
        must(orders == [], "an idle stop says that it was idle")
        same = vars(after) | {"programs": before.programs} == vars(before)
        must(same, "an idle stop changes nothing but programs that stand")
    _as_stored(before, event, after)
    generation_judged(before, event, after, orders)

    was, ghost = ghost, _told(ghost, before, event, orders)
    holder = before.active.run if before.active else None
    heard = Heard(before.settings, event, holder, after.generation)
    for order in orders:
        ghost = hear(ghost, order, heard)
    if isinstance(event, SteeringTaken):
        left = [m for m in ghost.here if (m, event.run) in ghost.steers]
        waits = not left or ghost.storing.intersection(ghost.batch(left[0]))
        must(bool(waits), "a run takes up what was sent to steer it")
    if isinstance(event, StopAsked) and event.run is None:
        _stopped(before, event, after, was, ghost)
    _in_its_place(after, ghost)
    _goes_on(after, ghost)
    runs = {w.turn.run for w in after.waiting}
    return ghost._replace(windows=tuple(w for w in ghost.windows if w[0] in runs))


def _as_stored(before: SessionMachine, event: Event, after: SessionMachine) -> None:
    if isinstance(event, Loaded):
        same = vars(after) | {"generation": before.generation} == vars(before)
        must(same, "to learn how far a session got changes nothing else")
    if isinstance(event, LetGo):
        must(not after.hushed, "what the store has is not known until it is asked")


def forbidden(  # noqa: PLR0911, PLR0912 - one match, one arm an event
    before: SessionMachine, event: Event, ghost: Ghost
) -> type[LastwordError] | None:
    """The error with which the machine has to turn this event down, if it has to."""
    match event:
        case Accepted(run=run):
            new = [message.id for message in arrived(event).messages]
            known = {*new} & {*ghost.here, *ghost.storing} or len({*new}) < len(new)
            taken = run in ghost.dying or any(t.named(run) for t in turns_of(before))
            return ImpossibleMove if known or taken else None
        case Stored(message) | StoreFailed(message):
            return None if message in ghost.storing else ImpossibleMove
        case Ended(run):
            return None if run in {ghost.live, *ghost.dying} else ImpossibleMove
        case SteeringTaken(run):
            return None if run == ghost.live else ImpossibleMove
        case StopAsked(run=run, by=by):
            named = [t for t in turns_of(before) if run is None or t.named(run)]
            if run and not named:
                return StaleRun
            if run is None and not _something_to_stop(before, event, ghost):
                named = []
            programs = stoppable_programs(before, event)
            allowed = entitled(before, by, named, ghost)
            allowed += [one for one in programs if may(before, by, one.by)]
            return None if allowed or not (named or programs) else NotAllowed
        case EditAsked(message, _, by) | RemoveAsked(message, by) | MoveAsked(message, _, by):
            return _untouchable(before, event, message, by)
        case Loaded() | Found() | LetGo():
            return ImpossibleMove if ghost.here or ghost.storing else None
        case ResumeAsked(origin):
            stopped = ghost.hushed or ghost.paused
            return NotAllowed if stopped and origin != "person" else None
        case ClockReached() | ProgramsStand():
            return None


def _untouchable(
    before: SessionMachine, event: Event, id: MessageId, by: str | None
) -> type[LastwordError] | None:
    if id not in ids_of(before.steering) + ids_of(w.turn for w in before.waiting):
        return NotWaiting
    [message] = [m for t in turns_of(before) for m in t.messages if m.id == id]
    if not may(before, by, message.by):
        return NotAllowed
    steers = isinstance(event, MoveAsked) and id in ids_of(before.steering)
    return NotWaiting if steers else None


def unchanged(before: SessionMachine, after: SessionMachine, clause: str) -> None:
    must(vars(before) == vars(after), clause)


# what has to end


def expected_ends(  # noqa: PLR0911 - one match, one arm an event
    before: SessionMachine, event: Event, ghost: Ghost
) -> Ends:
    """The outcomes that the event has to bring, and no others."""
    match event:
        case Ended(run, outcome):
            over = ghost.running - set(left(ghost, event)) if run == ghost.live else ()
            return dict.fromkeys(over, outcome)
        case RemoveAsked(message):
            return {message: Outcome.WITHDRAWN}
        case StopAsked(reason, None, by):
            reached = _held_by_run(before) if _kept(before, event) else turns_of(before)
            theirs = entitled(before, by, reached, ghost)
            stops = _something_to_stop(before, event, ghost)
            return dict.fromkeys(ids_of(theirs) if stops else (), reason.outcome)
        case StopAsked(reason, run, by) if before.active and run and before.active.named(run):
            steering = entitled(before, by, before.steering, ghost)
            return dict.fromkeys(ids_of((before.active, *steering)), reason.outcome)
        case StopAsked(_, run):
            named = [t for t in turns_of(before) if run and t.named(run)]
            return dict.fromkeys(ids_of(named), Outcome.WITHDRAWN)
        case Accepted() if _effective(before, event, ghost) in {"takeover", "rollback"}:
            theirs = overtaking(before, event, _overtaken(before, ghost), ghost)
            return dict.fromkeys(ids_of(theirs), Outcome.SUPERSEDED)
        case _:
            return {}


def _kept(before: SessionMachine, event: StopAsked) -> bool:
    return before.settings.queue_on_stop == "keep" and event.reason is Reason.STOPPED


def _something_to_stop(before: SessionMachine, event: StopAsked, ghost: Ghost) -> bool:
    return bool(ghost.free if _kept(before, event) else ghost.here)


def _overtaken(before: SessionMachine, ghost: Ghost) -> list[Turn]:
    if before.settings.queue_on_stop == "keep":
        return _held_by_run(before)
    return [t for t in turns_of(before) if not set(ids_of([t])) & ghost.paused]


def _held_by_run(before: SessionMachine) -> list[Turn]:
    return [*([before.active] if before.active else ()), *before.steering]


def _ended(orders: list[Order], ends: Ends, event: Event, ghost: Ghost) -> None:
    found = [(m.id, o.outcome) for o in orders if isinstance(o, End) for m in o.turn.messages]
    must(sorted(found) == sorted(ends.items()), "exactly what had to end has ended, as it had to")
    cancelled = [o.run for o in orders if isinstance(o, Cancel)]
    cut = bool(ends.keys() & ghost.running) and not isinstance(event, Ended)
    must(cancelled == ([ghost.live] if cut else []), "a run is cancelled when it lost its session")
    back = [o for o in orders if isinstance(o, End) and o.rollback]
    rollback = isinstance(event, Accepted) and event.on_message == "rollback"
    must(not back or rollback, "only a rollback takes a turn back")
    must(not (rollback and cut) or len(back) == 1, "a rollback takes the old turn back")


# what a message is answered


def _effective(before: SessionMachine, event: Accepted, ghost: Ghost) -> Policy:
    policy = event.on_message or before.settings.on_message
    if policy not in {"takeover", "rollback"}:
        return policy
    free = before.active is None or overtaking(before, event, [before.active], ghost)
    return policy if people(event) and free else "queue"


def _answered(before: SessionMachine, event: Accepted, orders: list[Order], ghost: Ghost) -> None:
    answers = [o for o in orders if isinstance(o, Accept | Refuse)]
    must([a.message for a in answers] == [*arrived(event).messages], "a message is answered once")
    said = {a.why if isinstance(a, Refuse) else a.placement for a in answers}
    must(said == {_answer(before, event, ghost)}, "a message is placed as its policy says")
    must(len({a.run for a in answers if isinstance(a, Accept)}) <= 1, "what arrives as one is one")
    at = orders.index(answers[0])
    must(not any(isinstance(o, End) for o in orders[at:]), "what is overtaken ends before")


def _answer(before: SessionMachine, event: Accepted, ghost: Ghost) -> str:
    policy = _effective(before, event, ghost)
    muted = ghost.hushed and not people(event)
    if policy == "refuse" and ghost.free:
        return "busy"
    placement = {
        "steer": "steering" if before.active else "starting",
        "queue": "queued" if ghost.free else "starting",
        "collect": "collecting" if ghost.free else "starting",
    }.get(policy, "starting")
    placement = "queued" if muted else placement
    waiting = len(ghost.here) - (len(before.active.messages) if before.active else 0)
    full = waiting + 1 + len(event.more) > before.settings.queue_limit
    return "full" if full and placement != "starting" else placement


# what is remembered of the event itself


def _told(  # noqa: PLR0911, PLR0912 - one match, one arm an event
    ghost: Ghost, before: SessionMachine, event: Event, orders: list[Order]
) -> Ghost:
    match event:
        case Accepted(at=at):
            over = _effective(before, event, ghost) in {"takeover", "rollback"} and ghost.free
            return ghost._replace(now=at, windows=() if over else ghost.windows)
        case Stored(message):
            ghost = ghost._replace(storing=ghost.storing - {message})
            return _spoken(ghost) if message in ghost.speaking else ghost
        case StoreFailed(message):
            return _never_was(ghost, before, message)
        case Ended(run):
            return ghost._replace(dying=ghost.dying - {run})
        case StopAsked(reason, run) if orders and (run is None or _names(before, run)):
            theirs = ids_of(entitled(before, event.by, turns_of(before), ghost))
            free = before.active is None or set(ids_of([before.active])) <= set(theirs)
            if run is None:
                gone = {t.run for t in turns_of(before) if set(ids_of([t])) <= set(theirs)}
                ghost = ghost._replace(windows=tuple(w for w in ghost.windows if w[0] not in gone))
            if free and reason is Reason.STOPPED:
                return ghost._replace(hushed=True, speaking=frozenset())
            return ghost
        case ClockReached(at):
            wakes = tuple(w for w in ghost.wakes if w > at)
            windows = tuple(w for w in ghost.windows if due(w, before.settings) > at)
            return ghost._replace(now=max(at, ghost.now), wakes=wakes, windows=windows)
        case Found(waiting, hushed):
            found = ids_of(w.turn for w in waiting)
            held = frozenset(ids_of(w.turn for w in waiting if w.held))
            told = tuple((id_, w.turn.run) for w in waiting for id_ in ids_of([w.turn]))
            return ghost._replace(
                here=tuple(found),
                told=told,
                plain=frozenset(found),
                paused=held,
                waited=held,
                hushed=hushed,
            )
        case LetGo():
            return ghost._replace(hushed=False)
        case MoveAsked():
            return ghost._replace(plain=frozenset())
        case ResumeAsked():
            return _spoken(ghost)
        case _:
            return ghost


def _names(before: SessionMachine, run: RunId) -> bool:
    return before.active is not None and before.active.named(run)


def _spoken(ghost: Ghost) -> Ghost:
    return ghost._replace(hushed=False, speaking=frozenset(), paused=frozenset())


def _never_was(ghost: Ghost, before: SessionMachine, message: MessageId) -> Ghost:
    ghost = ghost.less([message])._replace(
        storing=ghost.storing - {message}, speaking=ghost.speaking - {message}
    )
    if before.active is None or message not in ids_of([before.active]):
        return ghost
    rest = [m for m in ids_of([before.active]) if m != message]
    return ghost.renamed(before.active.run, dict(ghost.told)[rest[0]] if rest else None)


# what is so after every step


def _stopped(
    before: SessionMachine, event: StopAsked, after: SessionMachine, was: Ghost, ghost: Ghost
) -> None:
    if len(entitled(before, event.by, turns_of(before), was)) < len(turns_of(before)):
        left = [t for t in turns_of(after) if _free(t, ghost)]
        theirs = entitled(before, event.by, left, ghost)
        must(not theirs, "a stop covers all that is theirs and was accepted before it")
        return
    nothing = after.active is None and not after.steering
    must(nothing, "after a stop nothing is active and nothing steers")
    if not _kept(before, event):
        must(not ghost.here and not after.waiting, "a stop covers all that was accepted before it")
    must(not ghost.free, "what a stop left waiting is named, and waits")


def _free(turn: Turn, ghost: Ghost) -> bool:
    return not set(ids_of([turn])) & ghost.paused


def _in_its_place(after: SessionMachine, ghost: Ghost) -> None:
    places = ids_of(turns_of(after))
    must(sorted(places) == sorted(ghost.here), "all that was accepted is in one place")
    must(after.started == (ghost.live is not None), "the machine knows what was started")
    if ghost.live:
        active = after.active
        must(active is not None and active.run == ghost.live, "the active run is the one going")
        must(
            frozenset(ids_of([active] if active else [])) == ghost.running,
            "a run keeps its messages",
        )
    must(ghost.live not in ghost.dying, "a cancelled run is over")
    must(after.active is not None or not after.steering, "there is a run to steer")
    must(after.storing == ghost.storing, "the machine knows what is being stored")
    must(after.hushed == ghost.hushed, "the machine knows whether a stop was the last word")
    must(after.speaking == ghost.speaking, "the machine knows who is speaking")
    told = dict(ghost.told)
    for turn in turns_of(after):
        mine = {told[id_] for id_ in ids_of([turn])}
        must({turn.run, *turn.also} == mine, "a run goes by the names its senders were told")
    must(after.dying == ghost.dying, "the machine knows what is still dying")


def _goes_on(after: SessionMachine, ghost: Ghost) -> None:
    """Nothing that may start is left behind: no message is without an outcome in the end."""
    if after.active:
        ready = not set(ids_of([after.active])) & ghost.storing
        must(after.started or not ready, "a turn that is stored starts")
        return
    waiting = [w.turn for w in after.waiting if _free(w.turn, ghost)]
    must(bool(waiting) == bool(ghost.free), "what is not held back is free")
    if not waiting:
        return
    window = [w for w in ghost.windows if w[0] == waiting[0].run]
    must(bool(window), "what waits with nothing in its way starts")
    closes = due(window[0], after.settings)
    must(closes >= ghost.now, "a window closes in time")
    must(closes in ghost.wakes, "a window that is open will be closed by the clock")
