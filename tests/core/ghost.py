"""What a bystander remembers of a session's history: the memory that `law.py` judges with.

It is told the events and hears the orders, and never looks into the machine to know what became
of a message. Each order is checked against it in the moment it is heard: nothing acts before it
is stored, nor after its outcome, and what a stop left waiting not before a person speaks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import Any, NamedTuple

from lastword.core.events import Accepted, Ended
from lastword.core.model import Message, MessageId, Outcome, RunId, Settings, Turn
from lastword.core.orders import Accept, Cancel, Edit, End, Join, Order, Pause, Refuse, Start, Wake
from tests.core.explorer import must

OLD, NEW = "old", "new"  # what a message reads before and after an edit


class Ghost(NamedTuple):
    """Everything of the past that the promise speaks of, and nothing else."""

    here: tuple[MessageId, ...] = ()  # accepted, without an outcome, oldest first
    storing: frozenset[MessageId] = frozenset()
    live: RunId | None = None  # between its Start and its End
    running: frozenset[MessageId] = frozenset()  # what the live run answers
    joined: frozenset[MessageId] = frozenset()  # those of them that were sent to steer it
    dying: frozenset[RunId] = frozenset()
    paused: frozenset[MessageId] = frozenset()  # not before a person speaks or resumes
    hushed: bool = False  # a stop was a person's last word
    speaking: frozenset[MessageId] = frozenset()  # said since, and not yet stored
    plain: frozenset[MessageId] = frozenset()  # waits for a turn of its own, in order
    waited: frozenset[MessageId] = (
        frozenset()
    )  # was paused once; what a person said since comes first
    steers: frozenset[tuple[MessageId, RunId | None]] = frozenset()  # None: in the very next start
    batches: tuple[tuple[MessageId, ...], ...] = ()  # what arrived as one
    told: tuple[tuple[MessageId, RunId], ...] = ()  # by which name each goes
    first: MessageId | None = None  # what took the session, and has to start before anything else
    edited: frozenset[MessageId] = frozenset()
    windows: tuple[tuple[RunId, float, float], ...] = ()  # when it first and last collected
    wakes: tuple[float, ...] = ()
    now: float = 0.0
    sent: int = 0  # the three budgets of the exploration, as far as they are spent
    stops: int = 0
    touches: int = 0

    @property
    def free(self) -> list[MessageId]:
        """What acts, or will without another word from a person."""
        return [m for m in self.here if m not in self.paused]

    def less(self, gone: Iterable[MessageId]) -> Ghost:
        """This memory once some messages are no longer here."""
        out = frozenset(gone)
        return self._replace(
            here=tuple(m for m in self.here if m not in out),
            running=self.running - out,
            joined=self.joined - out,
            paused=self.paused - out,
            plain=self.plain - out,
            waited=self.waited - out,
            edited=self.edited - out,
            steers=frozenset(s for s in self.steers if s[0] not in out),
            first=None if self.first in out else self.first,
            batches=tuple(b for b in self.batches if not out.issuperset(b)),
            told=tuple(one for one in self.told if one[0] not in out),
        )

    def together(self, id: MessageId) -> tuple[MessageId, ...]:
        """What arrived as one with it."""
        return next((one for one in self.batches if id in one), (id,))

    def batch(self, id: MessageId) -> list[MessageId]:
        """Those of them that are still here."""
        return [m for m in self.here if m in self.together(id)]

    def orphaned(self, run: RunId) -> Ghost:
        """This memory once a run has gone that had steering left: it is due next."""
        return self.renamed(run, None)

    def renamed(self, run: RunId, to: RunId | None) -> Ghost:
        """This memory once what was sent to steer a run steers another, or none."""
        steers = frozenset((m, to if r == run else r) for m, r in self.steers)
        return self if steers == self.steers else self._replace(steers=steers)


class Heard(NamedTuple):
    """The occasion on which an order is heard."""

    settings: Settings
    event: object
    holder: RunId | None  # whose turn held the session before the event
    generation: int  # after it


def ids(messages: Iterable[Message]) -> list[MessageId]:
    return [message.id for message in messages]


def arrived(event: Accepted) -> Turn:
    """What arrived as one."""
    return Turn(event.run, (event.message, *event.more))


def due(window: tuple[RunId, float, float], settings: Settings) -> float:
    """When a window closes that took its first and its last message at these times."""
    return min(window[2] + settings.quiet_window, window[1] + settings.longest_window)


def hear(ghost: Ghost, order: Order, heard: Heard) -> Ghost:
    """Check one order against the past, and remember it."""
    return _HEAR[type(order)](ghost, order, heard)


def _accept(ghost: Ghost, order: Accept, heard: Heard) -> Ghost:
    event, new = heard.event, order.message.id
    assert isinstance(event, Accepted)
    must(order.message in arrived(event).messages, "only the message that arrived is accepted")
    must(new not in ghost.here, "a message is accepted once")
    person = arrived(event).leading.origin == "person"
    if order.message.origin == "person" and ghost.hushed:
        ghost = ghost._replace(speaking=ghost.speaking | {new})
    elif ghost.hushed and not person:
        ghost = ghost._replace(paused=ghost.paused | {new}, waited=ghost.waited | {new})
    ghost = ghost._replace(
        here=(*ghost.here, new),
        storing=ghost.storing | {new},
        told=(*ghost.told, (new, order.run)),
    )
    if event.more and new == event.message.id:
        ghost = ghost._replace(batches=(*ghost.batches, tuple(ids(arrived(event).messages))))
    match order.placement:
        case "queued":
            return ghost._replace(plain=ghost.plain | {new})
        case "steering":
            must(heard.holder is not None, "there is a run to steer")
            return ghost._replace(steers=ghost.steers | {(new, heard.holder)})
        case "collecting":
            return _collect(ghost, order.run, event)
        case "starting":
            alone = ghost.first in (None, *ids(arrived(event).messages))
            must(alone, "only one turn at a time has the session")
            return ghost._replace(first=ghost.first or new)


def _collect(ghost: Ghost, run: RunId, event: Accepted) -> Ghost:
    open_ = {w[0]: w for w in ghost.windows}
    must(run in open_ or run == event.run, "a window that collects is open, or new")
    since = open_[run][1] if run in open_ else event.at
    open_[run] = (run, since, event.at)
    return ghost._replace(windows=tuple(open_.values()))


def _start(ghost: Ghost, order: Start, heard: Heard) -> Ghost:
    turn, starting = order.turn, ids(order.turn.messages)
    must(ghost.live is None, "at most one run is active")
    must(bool(starting), "a run answers something")
    must(order.generation == heard.generation, "a run starts with its session's generation")
    must(starting == [m for m in ghost.here if m in starting], "a turn starts once, in order")
    must(not ghost.storing & set(starting), "a turn starts when all its messages are stored")
    must(not ghost.paused & set(starting), "what a stop left waiting waits for a person's word")
    must(ghost.first is None or ghost.first in starting, "what took the session starts first")
    next_ = {m for m, run in ghost.steers if run is None}
    first = ghost.first in starting  # a takeover comes before even that
    must(first or next_ <= set(starting), "steering that came too late is the next turn")
    _in_order(ghost, starting)
    _as_edited(ghost, turn)
    for window in ghost.windows:
        closed = window[0] != turn.run or ghost.now >= due(window, heard.settings)
        must(closed, "a window collects until it is quiet, or has been open for long")
    return ghost._replace(
        live=turn.run,
        running=frozenset(starting),
        joined=frozenset(),
        first=None,
        plain=ghost.plain - set(starting),
        steers=frozenset(s for s in ghost.steers if s[0] not in starting),
        windows=tuple(w for w in ghost.windows if w[0] != turn.run),
    )


def _in_order(ghost: Ghost, starting: list[MessageId]) -> None:
    for one in starting:
        late = one in ghost.waited
        queue = [m for m in ghost.here if m in ghost.plain and (m in ghost.waited) == late]
        must(one not in ghost.plain or queue[0] in ghost.batch(one), "queued turns start in order")
        own = one not in ghost.plain or starting == ghost.batch(one)
        must(own, "a queued message has its own turn")
        must({*ghost.batch(one)} <= {*starting}, "what arrived as one starts as one")


def _as_edited(ghost: Ghost, turn: Turn) -> None:
    for message in turn.messages:
        reads = NEW if message.id in ghost.edited else OLD
        must(message.text == reads, "an edit reaches the run, and only that message")


def _join(ghost: Ghost, order: Join, heard: Heard) -> Ghost:
    joining = ids(order.messages)
    must(order.run == ghost.live, "only the active run takes steering")
    steers = [m for m in ghost.here if (m, heard.holder) in ghost.steers]
    ready = list(takewhile(lambda m: m not in ghost.storing, steers))
    must(joining == ready, "a run takes its steering in order, as far as it is stored")
    must(not ghost.paused & set(joining), "what a stop left waiting joins nothing")
    _as_edited(ghost, Turn(order.run, order.messages))
    return ghost._replace(
        running=ghost.running | set(joining),
        joined=ghost.joined | set(joining),
        steers=frozenset(s for s in ghost.steers if s[0] not in joining),
    )


def _end(ghost: Ghost, order: End, heard: Heard) -> Ghost:
    ending = frozenset(ids(order.turn.messages))
    must(ending <= set(ghost.here), "a message reaches one outcome")
    must(bool(ending), "an outcome is somebody's")
    if order.started:
        must(order.turn.run == ghost.live, "only the run that is going ends")
        must(ending == ghost.running, "a run's outcome is that of all it took up")
        ghost = ghost._replace(live=None)
    must(order.started or not ending & ghost.running, "what had started is not said not to have")
    cut = order.outcome not in {Outcome.COMPLETED, Outcome.FAILED, Outcome.WITHDRAWN}
    must(order.held == (cut and order.turn.run == heard.holder), "what held the session is said to")
    ghost = ghost.less(ending)
    return ghost.orphaned(order.turn.run) if order.turn.run == heard.holder else ghost


def _cancel(ghost: Ghost, order: Cancel, _: Heard) -> Ghost:
    must(order.run == ghost.live, "only the run that is going is cancelled")
    return ghost._replace(dying=ghost.dying | {order.run})


def _pause(ghost: Ghost, order: Pause, _: Heard) -> Ghost:
    pausing = set(ids(order.turn.messages))
    must(pausing <= set(ghost.here) - ghost.running, "only what waits is paused")
    return ghost._replace(paused=ghost.paused | pausing, waited=ghost.waited | pausing)


def left(ghost: Ghost, event: object) -> list[MessageId]:
    """What joined a run that ends, and it never was given."""
    if not isinstance(event, Ended) or event.run != ghost.live or not event.left:
        return []
    return [m for m in ghost.here if m in ghost.joined][-event.left :]


def _edit(ghost: Ghost, order: Edit, heard: Heard) -> Ghost:
    if isinstance(heard.event, Ended):
        given = order.message.id
        must(given in left(ghost, heard.event), "only what was not given waits again")
        _as_edited(ghost, Turn(order.run, (order.message,)))
        return ghost._replace(
            running=ghost.running - {given},
            joined=ghost.joined - {given},
            steers=ghost.steers | {(given, None)},
        )
    must(order.message.id in ghost.here and order.message.text == NEW, "what waits is edited")
    return ghost._replace(edited=ghost.edited | {order.message.id})


def _wake(ghost: Ghost, order: Wake, _: Heard) -> Ghost:
    return ghost._replace(wakes=tuple(sorted({*ghost.wakes, order.at})))


def _refuse(ghost: Ghost, order: Refuse, heard: Heard) -> Ghost:
    assert isinstance(heard.event, Accepted)
    must(order.message in arrived(heard.event).messages, "only the message that arrived is refused")
    return ghost


_HEAR: dict[type[Order], Callable[[Ghost, Any, Heard], Ghost]] = {
    Accept: _accept,
    Start: _start,
    Join: _join,
    End: _end,
    Cancel: _cancel,
    Pause: _pause,
    Edit: _edit,
    Wake: _wake,
    Refuse: _refuse,
}
