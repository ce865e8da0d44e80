"""The machine that decides which run holds a session.

The law. At most one turn is active. Holding the session is a number: taking it moves the
generation, and so does losing it, whatever the cause, so that a run asks one question of one
integer and needs no other state. Everything accepted and not ended is in exactly one of three
places (active, steering, waiting), so a stop finds all of it, and nothing that comes later.

The table. What a message does, by policy:

                 nothing active               a turn is active
    takeover     starts                       ends it and the queue (or the queue follows), starts
    rollback     starts                       the same, and the old turn is not shown to the model
    queue        starts, or joins the queue   joins the queue
    collect      starts, or joins the queue   joins the queue's window, which the clock closes
    steer        starts                       the active run takes it, or it is the next turn
    refuse       starts                       refused

Only a person who may stop the active run takes over; anyone else's takeover joins the queue. A
stop ends whatever of it all is the caller's to stop, and either freezes such programs. After a
person's stop, what was kept and what no person sent (a timer, a child) waits until a person speaks:
their words come first. A turn starts when all its messages are stored; all ends lead to `_handoff`.

Orders are returned in the order in which they are to be carried out. Every field is an immutable
value, and a move that cannot be made raises before any field is touched.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TypeAlias, assert_never

from lastword.core.anew import must_be_replaceable
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
from lastword.core.model import (
    Generation,
    Message,
    MessageId,
    Outcome,
    Policy,
    Reason,
    RunId,
    Settings,
    Turn,
)
from lastword.core.orders import Cancel, Edit, End, Freeze, Join, Order, Pause, Refuse, Start, Wake
from lastword.core.queue import (
    Queue,
    Turns,
    Waiting,
    collected,
    edited,
    find,
    ids,
    merged,
    moved,
    must_be_new,
    parted,
    placed,
    places,
    queue_edited,
    queue_without,
    reached,
    turns,
    waits,
    without,
)
from lastword.core.rights import Rights, StandingProgram
from lastword.errors import ImpossibleMove, NotAllowed, NotWaiting, StaleRun

Orders: TypeAlias = list[Order]


class SessionMachine:
    """The state of one session."""

    def __init__(self, settings: Settings, generation: int = 0) -> None:
        self.settings = settings
        self.rights = Rights(settings.stoppers)
        self.generation = Generation(generation)
        self.fenced = self.generation  # what was let out at an older one must not be told any more
        self.active: Turn | None = None
        self.started = False  # whether the active turn's run was started, or is preparing
        self.steering: tuple[Turn, ...] = ()
        self.waiting: Queue = ()
        self.hushed = False  # a person's stop was the last word so far
        self.speaking: frozenset[MessageId] = frozenset()  # lift the hush, once they are stored
        self.storing: frozenset[MessageId] = frozenset()
        self.dying: frozenset[RunId] = frozenset()  # cancelled, not yet reported as ended
        self.programs: tuple[StandingProgram, ...] = ()  # they stand, or work for the active run

    @property
    def busy(self) -> bool:
        """Whether anything acts, or will without another word from a person."""
        return self.active is not None or any(not w.held for w in self.waiting)

    def apply(self, event: Event) -> Orders:  # noqa: C901, PLR0911, PLR0912 - one match, one arm an event
        """Take in what happened; return what to do about it, in order."""
        match event:
            case Accepted():
                return self._accept(event)
            case Stored(message):
                return self._stored(message)
            case StoreFailed(message):
                return self._store_failed(message)
            case Ended(run, outcome, left):
                return self._ended(run, outcome, left)
            case StopAsked(reason, run, by):
                return self._stop(reason, by) if run is None else self._stop_run(reason, run, by)
            case SteeringTaken(run):
                return self._take_steering(run)
            case ClockReached(at):
                return self._clock(at)
            case EditAsked(message, text, by):
                return self._edit(message, text, by)
            case RemoveAsked(message, by):
                return self._remove(message, by)
            case MoveAsked(message, to, by):
                return self._move(message, to, by)
            case ResumeAsked(origin):
                return self._resume(person=origin == "person")
            case ProgramsStand(programs):
                self.programs = programs
                return []
            case Loaded() | Found() | LetGo():
                return self._stands_as_stored(event)
            case _:
                assert_never(event)

    # a message

    def _accept(self, event: Accepted) -> Orders:
        turn = Turn(event.run, (event.message, *event.more))
        must_be_new(turn, self._here(), self.storing, self.dying)
        if event.instead:
            now = self.active, self.generation, self.busy
            must_be_replaceable(event.instead, turn, self.rights, now)
        policy = self._policy(event.on_message, turn)
        if policy == "refuse" and self.busy:
            return [Refuse(one, "busy") for one in turn.messages]
        later = self._waits(policy, turn)
        there = places(self.steering, self.waiting) + len(turn.messages)
        if later and there > self.settings.queue_limit:
            return [Refuse(one, "full") for one in turn.messages]
        self.storing |= ids(turn)
        if self.hushed:
            self.speaking |= {one.id for one in turn.messages if one.origin == "person"}
        if later:
            return self._wait(turn, policy, event.at)
        takes_over = policy in {"takeover", "rollback"} and self.busy
        ended = self._supersede(turn, rollback=policy == "rollback") if takes_over else []
        return [*ended, *placed(turn, turn.run, "starting"), *self._occupy(turn)]

    def _policy(self, asked: Policy | None, turn: Turn) -> Policy:
        policy = asked or self.settings.on_message
        if policy not in {"takeover", "rollback"}:
            return policy
        theirs = not (active := self._active()) or self.rights.overtaken(turn, active) == active
        return policy if theirs and turn.leading.origin == "person" else "queue"

    def _waits(self, policy: Policy, turn: Turn) -> bool:
        kept = self.hushed and turn.leading.origin != "person"
        return kept or waits(policy, active=self.active is not None, busy=self.busy)

    def _wait(self, turn: Turn, policy: Policy, at: float) -> Orders:
        held = self.hushed and turn.leading.origin != "person"
        if held or policy not in {"steer", "collect"}:
            self.waiting += (Waiting(turn, held=held),)
            return [*placed(turn, turn.run, "queued"), *self._handoff()]
        if policy == "steer":
            self.steering += (turn,)
            return placed(turn, turn.run, "steering")
        self.waiting = collected(self.waiting, turn, at, self.settings)
        window = self.waiting[-1]
        in_it = placed(turn, window.turn.run, "collecting")
        return [*in_it, Wake(window.due or at), *self._handoff()]

    def _stored(self, message: MessageId) -> Orders:
        self._no_longer_storing(message)
        if message in self.speaking:
            self._release()
        return [*self._ready(), *self._handoff()]

    def _store_failed(self, message: MessageId) -> Orders:
        self._no_longer_storing(message)
        self.speaking -= {message}
        self.steering = without(self.steering, message)
        self.waiting = queue_without(self.waiting, message)
        if self.active and not self.started:
            rest = without((self.active,), message)
            self.active = rest[0] if rest else None
            if not rest:
                self._vacate()
                self._steering_is_next()
        return [*self._ready(), *self._handoff()]

    def _no_longer_storing(self, message: MessageId) -> None:
        if message not in self.storing:
            raise ImpossibleMove(f"message {message} is not being stored")
        self.storing -= {message}

    def _take_steering(self, run: RunId) -> Orders:
        if self.active is None or self.active.run != run or not self.started:
            raise ImpossibleMove(f"run {run} is not active, so it has no steering to take")
        taken = tuple(takewhile(lambda turn: not self.storing & ids(turn), self.steering))
        if not taken:
            return []
        self.steering = self.steering[len(taken) :]
        self.active = merged((self.active, *taken))
        return [Join(run, merged(taken).messages)]

    # holding the session

    def _occupy(self, turn: Turn) -> Orders:
        self._advance()
        self.active, self.started = turn, False
        return self._ready()

    def _ready(self) -> Orders:
        if self.active is None or self.started or self.storing & ids(self.active):
            return []
        self.started = True
        return [Start(self.active, self.generation)]

    def _vacate(self) -> None:
        self._advance()
        self.active, self.started = None, False

    def _advance(self) -> None:
        self.generation = Generation(self.generation + 1)

    def _active(self) -> Turns:
        return (self.active,) if self.active else ()

    def _here(self) -> Turns:
        return (*self._active(), *self.steering, *turns(self.waiting))

    def _ended(self, run: RunId, outcome: Outcome, left: int) -> Orders:
        if run in self.dying:
            self.dying -= {run}
            return []  # it was cancelled first; the cancel had the last word
        if self.active is None or self.active.run != run or not self.started:
            raise ImpossibleMove(f"run {run} is not going, so it cannot have ended")
        ended, back = parted(self.active, left)
        self._vacate()
        self.steering = (*back, *self.steering)
        self._steering_is_next()
        again = [Edit(message, turn.run) for turn in back for message in turn.messages]
        return [*again, End(ended, outcome, started=True), *self._handoff()]

    def _steering_is_next(self) -> None:
        """What was sent to steer a run that has ended is the next turn, all of it."""
        if self.steering:
            self.waiting = (Waiting(merged(self.steering)), *self.waiting)
            self.steering = ()

    def _handoff(self) -> Orders:
        """Whatever waits starts, in order, unless a stop or an open window holds it."""
        free = [w for w in self.waiting if not w.held]
        if self.active is not None or not free or free[0].due is not None:
            return []
        self.waiting = tuple(w for w in self.waiting if w is not free[0])
        return self._occupy(free[0].turn)

    # stop and takeover

    def _stop(self, reason: Reason, by: str | None) -> Orders:
        keep = self.settings.queue_on_stop == "keep" and reason is Reason.STOPPED
        here = self._here() if self.busy or not keep else ()  # an idle stop touches no message
        programs = self.programs if reason.freezes else ()
        self.rights.must_be_allowed(by, (*here, *programs))
        theirs = self.rights.stoppable(by, here)
        orders = self._freeze(self.rights.stoppable(by, programs))
        if not theirs:
            return orders
        kept = tuple(w.turn for w in self.waiting if keep and w.turn in theirs)
        orders += self._cancel(reason, tuple(turn for turn in theirs if turn not in kept))
        self.waiting = tuple(
            Waiting(w.turn, held=True) if w.turn in kept else w for w in self.waiting
        )
        return [*orders, *(Pause(turn) for turn in kept), *self._handoff()]

    def _stop_run(self, reason: Reason, run: RunId, by: str | None) -> Orders:
        if self.active and self.active.named(run):
            self.rights.must_be_allowed(by, (self.active,))
            ended = (self.active, *self.rights.stoppable(by, self.steering))
            return [*self._cancel(reason, ended), *self._handoff()]
        for turn in (*self.steering, *turns(self.waiting)):
            if turn.named(run):
                self.rights.must_be_allowed(by, (turn,))
                self.steering = tuple(t for t in self.steering if t is not turn)
                self.waiting = tuple(w for w in self.waiting if w.turn is not turn)
                return [End(turn, Outcome.WITHDRAWN, started=False), *self._handoff()]
        raise StaleRun(run, self.active.run if self.active else None)

    def _supersede(self, by: Turn, *, rollback: bool) -> Orders:
        follow = self.settings.queue_on_stop == "keep"
        queue = tuple(w.turn for w in self.waiting if not (w.held or follow))
        ended = (*self._active(), *self.rights.overtaken(by, (*self.steering, *queue)))
        orders = self._freeze(self.rights.overtaken(by, self.programs))
        orders += self._cancel(Reason.SUPERSEDED, ended, rollback=rollback)
        self.waiting = tuple(replace(w, due=None) for w in self.waiting)  # it follows at once
        return orders

    def _cancel(self, reason: Reason, ended: Turns, *, rollback: bool = False) -> Orders:
        """End these turns. If one held the session, or none did, the generation moves."""
        orders: Orders = []
        if self.active in ended and self.started:
            self.dying |= {self.active.run}
            works = tuple(p for p in self.programs if reason.freezes and p.run == self.active.run)
            orders += [*self._freeze(works), Cancel(self.active.run, reason)]
        for turn in ended:
            held = turn is self.active
            orders.append(End(turn, reason.outcome, held and self.started, rollback and held, held))
        self.steering = tuple(turn for turn in self.steering if turn not in ended)
        self.waiting = tuple(w for w in self.waiting if w.turn not in ended)
        if self.active is None or self.active in ended:
            self._vacate()
            self.fenced = self.generation
            self._steering_is_next()
            if reason is Reason.STOPPED:
                self.hushed, self.speaking = True, frozenset()
        return orders

    def _freeze(self, programs: tuple[StandingProgram, ...]) -> Orders:
        self.programs = tuple(one for one in self.programs if one not in programs)
        return [Freeze(tuple(one.cell for one in programs))] if programs else []

    # the queue

    def _find(self, id: MessageId, by: str | None) -> tuple[Turn, Message]:
        if (turn := find((*self.steering, *turns(self.waiting)), id)) is None:
            raise NotWaiting(id)
        [message] = [m for m in turn.messages if m.id == id]
        self.rights.must_be_allowed(by, (Turn(turn.run, (message,)),))
        return turn, message

    def _edit(self, id: MessageId, text: str, by: str | None) -> Orders:
        turn, message = self._find(id, by)
        new = replace(message, text=text)
        self.steering = edited(self.steering, new)
        self.waiting = queue_edited(self.waiting, new)
        return [Edit(new, turn.run)]

    def _remove(self, id: MessageId, by: str | None) -> Orders:
        turn, message = self._find(id, by)
        self.steering, self.waiting = without(self.steering, id), queue_without(self.waiting, id)
        return [End(Turn(turn.run, (message,)), Outcome.WITHDRAWN, started=False), *self._handoff()]

    def _move(self, id: MessageId, to: int, by: str | None) -> Orders:
        turn, _ = self._find(id, by)
        if turn in self.steering:
            raise NotWaiting(id)  # it joins the active run, which has no order to change
        self.waiting = moved(self.waiting, turn, to)
        return self._handoff()

    def _resume(self, *, person: bool) -> Orders:
        if not person and (self.hushed or any(w.held for w in self.waiting)):
            raise NotAllowed("a person's stop was the last word here, and no run takes it back")
        self._release()
        return self._handoff()

    def _stands_as_stored(self, event: Loaded | Found | LetGo) -> Orders:
        if self._here() or self.storing:
            raise ImpossibleMove("something is here that the store does not know of")
        match event:
            case Loaded(generation):
                self.generation = max(self.generation, generation)  # not every one is stored
            case Found(waiting, hushed):
                self._advance()  # an earlier process may not know yet that it lost the session
                self.waiting, self.hushed = waiting, hushed
                return [] if event.stopping else self._handoff()
            case LetGo():
                self.hushed, self.programs = False, ()  # the store tells it with the rest
        return []

    def _release(self) -> None:
        self.hushed, self.speaking = False, frozenset()
        self.waiting = tuple(replace(w, held=False) for w in self.waiting)

    def _clock(self, at: float) -> Orders:
        self.waiting = reached(self.waiting, at)
        return self._handoff()
