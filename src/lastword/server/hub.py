"""What of a session leaves for those who watch it: one picture, and how it changes.

Each event is heard once, and its changes are encoded once, however many watch. What a stop has
fenced does not leave: the check is made in the same step as the write. What had been let through
before a stop but had not left is part of the record all the same; it is told after the fence, as
what was said. Who comes anew is shown the same picture that the changes are of, so a place in it
means the same to all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, NamedTuple, TypeVar

from lastword.core.picture import Picture
from lastword.core.scene import Change, as_record, is_live
from lastword.core.story import FeedEvent, is_silenced
from lastword.errors import SlowWatcher
from lastword.runtime.session import Session
from lastword.runtime.tasks import Tasks
from lastword.server.change_wire import Changes, Closed, EventOut
from lastword.server.drawn import Drawn
from lastword.server.shapes import Shapes, encode

T = TypeVar("T")
_NOTHING = (-1, -1, -1, False), b""
_GROWN = 300  # events after which who comes when nobody else is there has the picture drawn anew
_MOST = 100_000  # after which all do, once nothing is going: the log has what was before


class Frame(NamedTuple):
    """What changed with an event, as it leaves; if that is live, the changes, of which a record is
    made for who comes to them too late."""

    generation: int
    whole: bytes
    live: list[Change] | None


class Hub(Generic[T]):
    """One session's watchers in this process."""

    def __init__(
        self, session: Session, shapes: Shapes, tell: Callable[[Hub[T]], Awaitable[None]]
    ) -> None:
        self.session = session
        self.feed = session.feed
        self.watchers: dict[T, None] = {}
        self.leavers: set[T] = set()  # those whose leaving is to stop the session
        self.tasks = Tasks(f"watchers of {session.id}")
        self.making = asyncio.Lock()  # a picture
        self.before = 0  # entries of the log that are not in it
        self._picture: Picture | None = None
        self._epoch = ""  # of the events that it has heard
        self._first = 0  # the number at which it was drawn
        self._frames: dict[int, Frame] = {}  # for as long as the feed has the events
        self._chunk = _NOTHING  # what was made last: for what, and that
        self._drawn = Drawn(shapes)
        self._tell = tell
        self._waiting = False  # for the lease

    def id_of(self, number: int) -> str:
        return f"{self.feed.epoch}-{number}"

    def number_of(self, id: str) -> int | None:
        """Where a watcher can go on that has seen everything up to an id; None if it cannot."""
        epoch, _, number = id.rpartition("-")
        plain = number.isascii() and number.isdigit() and len(number) < 20
        if epoch != self.feed.epoch or not plain or not self.session.known:
            return None  # what happened elsewhere since was not heard here
        return int(number) if self._holds(int(number)) else None

    # the picture

    def picture(self, *, alone: bool) -> Picture | None:
        """The one that all see, with all in it that may be; None if another is to be begun: what
        happens elsewhere is not heard here, and who is alone need not see what has grown long."""
        self.hear()
        picture = self._picture
        if picture is None or not self.session.known:
            return None
        return None if alone and picture.seen > self._first + _GROWN else picture

    def begin(self, picture: Picture, epoch: str, before: int) -> Picture | None:
        """It is drawn anew, at an epoch, and so many entries come before it. What came since is
        heard; None if that cannot be any more."""
        self._picture, self.before = picture, before
        self._epoch, self._first = epoch, picture.seen
        self._frames, self._chunk = {}, _NOTHING
        self.hear()
        return self._picture

    def hear(self) -> None:
        """All that is new, once."""
        picture = self._picture
        if picture is None or (self._epoch == self.feed.epoch and picture.seen >= self.feed.last):
            return
        if self.must_wait():
            return
        if not self._heard(picture):
            self._picture = None  # something happened that nobody here heard
        while self._frames and not self.feed.holds(next(iter(self._frames)) - 1):
            del self._frames[next(iter(self._frames))]

    def _heard(self, picture: Picture) -> bool:
        if self._epoch != self.feed.epoch:
            return False
        try:
            news = self.feed.since(picture.seen)
        except SlowWatcher:
            return False
        for event in news:
            self._take(picture, event)
        return True

    def outgrown(self) -> bool:
        """Whether the picture was too long to be kept, and nothing is going: then it is let go, and
        who watches is to come back."""
        picture = self._picture
        if picture and picture.seen > self._first + _MOST and picture.phase.active is None:
            self._picture = None
        return bool(picture) and self._picture is None

    def _take(self, picture: Picture, event: FeedEvent) -> None:
        taken = self.feed.claim.taken
        changes = picture.hear(event, self.session.fenced, taken=taken)
        if not changes:
            return
        told = [self._drawn.change(one) for one in changes]
        whole = framed(Changes(self.id_of(event.number), event.generation, event.at, told))
        live = changes if any(map(is_live, changes)) else None
        self._frames[event.number] = Frame(event.generation, whole, live)

    # what leaves

    def chunk(self, number: int) -> tuple[int, bytes]:
        """All that may leave now of what came after a number, and the last number in it.

        Whoever calls it writes what it gives in the same step.
        """
        last = self.feed.last
        if number >= last and self._picture:
            return last, b""
        if self.must_wait():
            return number, b""
        self.hear()
        if self._picture is None or not self._holds(number):
            raise SlowWatcher(self.session.id, number, self._first)
        last = self._picture.seen
        key = number, last, self.session.fenced, self.feed.claim.taken
        if self._chunk[0] != key:
            self._chunk = key, self._made(number, last)
        return last, self._chunk[1]

    def _holds(self, number: int) -> bool:
        """Whether what followed a number is known here, as changes of the picture that is there."""
        known = self._picture is not None and number >= self._first
        return known and self.feed.holds(number)

    def must_wait(self) -> bool:
        """Whether it is not known if the session is still ours; they are told when it is."""
        claim = self.feed.claim
        if claim.good or (claim.ended and not claim.taken):  # at the end of the server, all is told
            return False
        if not claim.taken and not self._waiting:
            self._waiting = True
            self.tasks.start(self._tell_later(), name="lease")
        return not claim.taken or self.session.over is None

    async def _tell_later(self) -> None:
        try:
            await self.feed.claim.known()
        finally:
            self._waiting = False
        await self._tell(self)

    def _made(self, number: int, last: int) -> bytes:
        fenced, taken, parts = self.session.fenced, self.feed.claim.taken, list[bytes]()
        late, until = list[Change](), 0
        for at in range(number + 1, last + 1):
            frame = self._frames.get(at)
            if frame is None:
                continue  # nothing is to be seen of it
            if frame.live is not None and is_silenced(frame.generation, fenced, taken=taken):
                late += frame.live
                until = at
                continue
            parts += self._record(late, until)
            late = []
            parts.append(frame.whole)
        return b"".join((*parts, *self._record(late, until)))

    def _record(self, late: list[Change], until: int) -> list[bytes]:
        told = [self._drawn.change(one) for one in map(as_record, late) if one]
        if not told or self.feed.claim.taken:
            return []  # if it was taken, what had not left is not ours to tell any more
        return [framed(Changes(self.id_of(until), self.session.generation, 0.0, told))]

    @property
    def over(self) -> bool:
        """Whether there is no more to tell."""
        return self.feed.closed

    def last_word(self) -> bytes:
        """Why there is no more."""
        why, last = self.session.over or "shutdown", self.id_of(self.feed.last)
        return framed(Closed(last, self.session.generation, 0.0, why))


def framed(event: EventOut) -> bytes:
    """An event as it goes over the wire."""
    return b"id: %b\ndata: %b\n\n" % (event.id.encode(), encode(event))
