"""A run's hold on its session: the one check that every effect makes.

Effects and the loss of the hold exclude each other, under one lock that any thread can take. An
effect that began before the stop is counted, is allowed to complete, and the stop waits for it;
one that would begin after finds the hold gone. There is no third case, which is what lets a
receipt be believed. A child's hold asks its parent's too, and shares its lock, so that a stop
reaches every generation of children in the same instant.

What begins is asked of the process, too: whether its claim on the session is good. If the lease
ran out, it waits for the store's word: the claim holds, and it begins, or it has ended. The event
loop, on which every session's stop is heard, is kept from turning for a moment at most.

Code of one run that acts through another's hold is asked for both: it is an act of its own run,
which a stop of that one comes before, or waits for. `current` may be asked by anybody, and can
change in the next instant; `begin` and `publish` decide.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias

from lastword.core.brief import NOTED, cut
from lastword.core.entries import Entry, Note
from lastword.core.model import Generation, RunId, SessionId
from lastword.core.session import SessionMachine
from lastword.core.story import Fact, FeedEvent, Typing, kind_of
from lastword.errors import StoreError, Superseded
from lastword.runtime.asking import Right, another, lost
from lastword.runtime.speech import Piece

EffectKind: TypeAlias = Literal["delivery", "tool", "write", "process", "act"]
LASTING: tuple[EffectKind, ...] = ("delivery", "tool", "write")  # what a stop waits for, or names
_UNSEEN = "This of that answer did not reach the person: "
_LAPSED = 0.25  # seconds after which whoever waits for the lease asks whether it still has to
_AT_ONCE = 1  # looks at a lapsed lease, while nothing else is done on the event loop
_NAMED = 20  # refused effects that are told one by one; the rest is counted


class KnownEnd(NamedTuple):
    """How an effect ended: with what it gave, or with an error."""

    gave: object = None
    error: Exception | None = None


@dataclass(eq=False, slots=True)
class Effect:
    """Something that a run does: a delivery to a sink, a call of a tool, a framework's write, the
    start of a process, an act on a session."""

    kind: EffectKind
    name: str
    begun: bool = False
    covered: int = 0  # how much is under way in it that is named in its place
    void: bool = False  # given up before it began; it never will
    event: FeedEvent | None = None  # what it put in the feed as it began
    piece: Piece | None = None  # what is said with it
    ended: KnownEnd | None = None  # how, if that was known before the hold was lost


class Generations(Protocol):
    """Who knows the generation of the session."""

    @property
    def generation(self) -> int: ...
    @property
    def fenced(self) -> int:
        """Where the last stop or takeover has moved it to."""
        ...


class ClaimOnIt(Protocol):
    """The process's right to the session."""

    @property
    def good(self) -> bool: ...
    @property
    def ended(self) -> bool: ...
    @property
    def taken(self) -> bool: ...
    async def known(self) -> object: ...
    def wait(self, seconds: float) -> object: ...


class Through(Protocol):
    """Where what is let through goes."""

    @property
    def claim(self) -> ClaimOnIt: ...
    @property
    def epoch(self) -> str: ...
    def append(self, fact: Fact, generation: Generation) -> FeedEvent: ...


class Hold:
    """Shared by everything one run hands out."""

    __slots__ = (
        "_claim",
        "_dropped",
        "_feed",
        "_in_line",
        "_late",
        "_loop",
        "_machine",
        "_parent",
        "_under_way",
        "_waiter",
        "doubtful",
        "generation",
        "lock",
        "refused",
        "run",
        "sessions",
        "typing",
    )

    def __init__(
        self,
        machine: Generations,
        lock: threading.Lock,
        feed: Through,
        run: RunId,
        generation: Generation,
        parent: Hold | None = None,
        sessions: tuple[SessionId, ...] = (),
    ) -> None:
        self.run = run
        self.sessions = sessions  # its own last, and before that those above it, root first
        self.generation = generation
        self.refused: list[tuple[str, float]] = []  # the first of them, and when, by the loop
        self.doubtful: list[str] = []  # deliveries that were given up: they may arrive all the same
        self.typing = False
        self._machine = machine
        self.lock = lock
        self._feed = feed
        self._parent = parent
        self._claim = feed.claim  # the process's right to the session, as the run began with it
        self._loop = asyncio.get_running_loop()
        self._dropped = 0
        self._late: list[Entry] = []  # of deliveries that failed when the run had lost its session
        self._in_line: dict[Effect, None] = {}  # deliveries that wait for their turn
        self._under_way: dict[Effect, int] = {}  # and how many parts of each
        self._waiter: asyncio.Future[None] | None = None  # there while somebody waits

    @property
    def current(self) -> bool:
        """Whether the run may still act."""
        return (
            self._machine.generation == self.generation
            and not self._claim.ended
            and (self._parent is None or self._parent.current)
        )

    @property
    def epoch(self) -> str:
        """Of its session: another one, if that was deleted and made again under its name."""
        return self._feed.epoch

    @property
    def dropped(self) -> int:
        """How many effects the loss of the hold kept from beginning, those in line among them:
        they never will, whenever whoever waits there comes to know."""
        with self.lock:
            return self._dropped + (0 if self.current else len(self._in_line))

    def line_up(self, effect: Effect) -> None:
        """A delivery waits for its turn."""
        with self.lock:
            self._in_line[effect] = None

    @property
    def fenced(self) -> bool:
        """Whether it was lost to a stop or a takeover, of its own session or of one above."""
        return self._machine.fenced > self.generation or (
            self._parent is not None and self._parent.fenced
        )

    @property
    def granted(self) -> bool:
        """Whether whoever asks here may act: it, or nobody's run, or one that is current too."""
        return self.current and lost(self) is None

    @property
    def taken(self) -> bool:
        """Whether another process has the session, to whom its last words belong too."""
        return self._claim.taken

    async def steady(self) -> None:
        """Return when the lease is good, which it is unless the process was paused or its store
        does not answer. Ask it in the step that begins an effect or shortly before; on another
        event loop than the session's, it is what begins that waits."""
        if not self._claim.good and asyncio.get_running_loop() is self._loop:
            await self._claim.known()

    def publish(self, fact: Fact, piece: Piece | None = None) -> FeedEvent | None:
        """Let a run's fact into the feed, or drop and count it."""
        other = another(self)
        if other is None:
            return self._publish(fact, piece)
        with suppress(Superseded), other.acting(kind_of(fact)):
            return self._publish(fact, piece)
        return None

    def _publish(self, fact: Fact, piece: Piece | None) -> FeedEvent | None:
        with self.lock:
            event = self._let_through(fact)
            if piece is not None:
                piece.out = event is not None
            return event

    def begin(self, effect: Effect, fact: Fact | None = None) -> bool:
        """Count an effect as under way, its fact in the feed; False once the hold is gone.

        One that has several parts (a tool's thread, the code around it) begins and finishes with
        each, and is over with the last. Raises `StoreError` where to wait for the lease would keep
        the event loop from turning.
        """
        other, looks = another(self), 0
        while True:
            begun = self._now(effect, fact) if other is None else self._by(other, effect, fact)
            if begun is not None:
                return begun
            looks += 1
            if looks > _AT_ONCE and effect.kind != "delivery" and self._is_here():
                raise StoreError(
                    f"{effect.name} did not begin: the store does not answer, and until it does"
                    " nobody knows whether this process still has the session"
                )
            self._claim.wait(_LAPSED)  # paused since the last look: the store is asked first

    def _now(self, effect: Effect, fact: Fact | None) -> bool | None:
        """Whether it has begun; None if the lease has run out, and that is not known yet."""
        with self.lock:
            if effect.void or not self.current:
                return False
            if not self._claim.good:
                return None
            self._begin(effect, fact)
            return True

    def _by(self, other: Right, effect: Effect, fact: Fact | None) -> bool | None:
        """The same for what code of another run does."""
        with suppress(Superseded), other.acting(effect.name):
            return self._now(effect, fact)
        return False

    def _is_here(self) -> bool:
        """Whether this is on the event loop of the session."""
        with suppress(RuntimeError):
            return asyncio.get_running_loop() is self._loop
        return False

    def _begin(self, effect: Effect, fact: Fact | None) -> None:
        if fact is not None:
            effect.event = self._let_through(fact)
        if effect.piece is not None:
            effect.piece.out = True
        effect.begun = True
        effect.ended = None
        self._in_line.pop(effect, None)
        self._under_way[effect] = self._under_way.get(effect, 0) + 1

    @contextmanager
    def acting(self, what: str) -> Generator[None]:
        """An effect that is over in one step; raises `Superseded`, before it, without the hold."""
        effect = Effect("act", what)
        if not self.begin(effect):
            self.drop(what)
            self.must_hold(what)
        try:
            yield
        finally:
            self.finish(effect)

    def begin_last_word(self, effect: Effect) -> None:
        """Count as under way what the session itself says in the run's place."""
        with self.lock:
            effect.begun = True
            self._under_way[effect] = 1

    def put_off(self, effect: Effect, *, begun: bool) -> None:
        """It may begin later, or again; it has begun if a part of it is under way, or was over."""
        with self.lock:
            effect.begun = begun or effect in self._under_way
            effect.ended = None

    def give_up(self, effect: Effect) -> bool:
        """See to it that an effect never begins; False if it has."""
        with self.lock:
            effect.void = not effect.begun
            return effect.void

    def _let_through(self, fact: Fact) -> FeedEvent | None:
        if not self.current:
            self._refuse(kind_of(fact))
            return None
        if type(fact) is Typing:
            self.typing = fact.on
        return self._feed.append(fact, self.generation)

    def failed(self, effect: Effect, error: BaseException) -> None:
        """A delivery came to nothing: it raised. One that was cancelled may have arrived."""
        with self.lock:
            if effect.kind != "delivery" or not effect.begun:
                return
            if isinstance(error, asyncio.CancelledError):
                self.doubtful.append(effect.name)
            elif effect.piece and effect.event and not self.current:
                # what the model is shown of the run is decided already
                self._late.append(Note(None, _UNSEEN + repr(cut(effect.event.text, NOTED))))

    def take_late(self) -> list[Entry]:
        """What the model is to be told of deliveries that failed after the fence."""
        with self.lock:
            late, self._late = self._late, []
        return late

    def finish(self, effect: Effect, ended: KnownEnd | None = None) -> None:
        """The effect has ended, or a part of it has; maybe it is known how."""
        with self.lock:
            left = self._under_way.pop(effect, 0) - 1
            if left > 0:
                self._under_way[effect] = left
                return
            if effect.begun and self.current:
                effect.ended = ended
            waiter, self._waiter = self._waiter, None
        if waiter is not None:
            with suppress(RuntimeError):  # a thread may end after the loop has closed
                self._loop.call_soon_threadsafe(_wake, waiter)

    def drop(self, what: str, effect: Effect | None = None) -> None:
        """Count an effect that the loss of the hold kept from beginning."""
        with self.lock:
            if effect is not None:
                self._in_line.pop(effect, None)
            if not self.current:
                self._refuse(what)

    def _refuse(self, what: str) -> None:
        self._dropped += 1
        if self._dropped <= _NAMED:
            self.refused.append((what, self._loop.time()))

    def must_hold(self, what: str) -> None:
        """Raise `Superseded` once the hold is gone."""
        if not self.current:
            raise Superseded(self.run, self.generation, self._machine.generation, what)
        if stranger := lost(self):
            stranger.must_hold(what)

    @property
    def busy(self) -> bool:
        """Whether something is under way. Takes no lock, for who may hold one."""
        return bool(self._under_way)

    @property
    def under_way(self) -> tuple[Effect, ...]:
        with self.lock:
            return tuple(self._under_way)

    async def ended(self, *kinds: EffectKind) -> None:
        """Return once nothing of these kinds is under way."""
        while True:
            with self.lock:
                if not any(effect.kind in kinds for effect in self._under_way):
                    return
                if self._waiter is None:
                    self._waiter = self._loop.create_future()
                waiter = self._waiter
            await asyncio.shield(waiter)


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


def fenced_at(machine: SessionMachine, above: Hold | None) -> Generation:
    """What was let out at an older generation than this must not be told any more.

    Of a child's session that is all there is, once the run above it was stopped or replaced.
    """
    gone = above is not None and above.fenced
    return Generation(machine.generation + 1) if gone else machine.fenced
