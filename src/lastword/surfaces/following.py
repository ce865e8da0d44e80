"""A session, as a place where people talk follows it: what to draw first, and then what changes.

Every surface has its story from here. What may leave is decided in the step that hands it out: who
draws what it is given without waiting shows nothing of a run that has lost its session. What such a
run had said by then comes with its end, as what was said (`live` is false).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import NamedTuple

from lastword.core.picture import Picture
from lastword.core.scene import Change, Phase, is_live
from lastword.core.story import FeedEvent, is_silenced, may_leave
from lastword.runtime.protocol import LogPage, View
from lastword.runtime.session import Session


class Heard(NamedTuple):
    """An event, and what is different with it. The event is of a run that may have been stopped
    since: who tells it as it is asks `Following.may_tell` in the same step."""

    event: FeedEvent
    changes: list[Change]


def standing(session: Session, read: View | LogPage) -> Callable[[Picture], None]:
    """How all stands that the log does not have, in the step in which that was read; to be told to
    a picture of it, whenever it is folded."""
    return partial(
        Picture.stands,
        seen=read.number,
        phase=Phase(read.generation, session.active, read.typing, session.ending),
        queue=session.waiting,
        questions=session.questions,
        programs=session.programs,
        processes=session.spans,
        begun=session.begun,
    )


async def whole(session: Session) -> Picture:
    """All of a session, as it is now. Raises LastwordError."""
    view = await session.view()  # and from here on nothing is waited for
    picture = Picture(session.id)
    picture.record(view.entries)
    standing(session, view)(picture)
    return picture


class Following:
    """One session, from the moment of a picture on."""

    def __init__(self, session: Session, picture: Picture | None = None) -> None:
        self.session = session
        self.picture = picture or Picture(session.id)

    def begin_after(self, number: int) -> None:
        """Follow what happened after an event; what was before is not looked at."""
        self.picture = Picture(self.session.id)
        self.picture.seen = number

    async def heard(self) -> AsyncIterator[Heard]:
        """What happens, until no more can. Raises SlowWatcher to who falls too far behind."""
        feed = self.session.feed
        while True:
            for event in feed.since(self.picture.seen):
                await feed.claim.known()
                yield self._heard(event)
            if feed.closed and self.picture.seen >= feed.last:
                return
            await feed.more(self.picture.seen)

    def at_once(self) -> Iterator[Heard]:
        """What happened and was not heard yet, without waiting: for who knows by itself whether the
        session is still ours. Raises SlowWatcher."""
        return map(self._heard, self.session.feed.since(self.picture.seen))

    def _heard(self, event: FeedEvent) -> Heard:
        feed = self.session.feed
        return Heard(event, self.picture.hear(event, feed.fenced, taken=feed.claim.taken))

    def may_leave(self, event: FeedEvent, change: Change) -> bool:
        """Whether it may be told now: for who could not do so at once."""
        return not (self.is_silenced(event.generation) and is_live(change))

    def may_tell(self, event: FeedEvent) -> bool:
        """The same of the event itself, for who tells events as they are and draws no changes."""
        feed = self.session.feed
        return may_leave(event, feed.fenced, taken=feed.claim.taken)

    def is_silenced(self, generation: int) -> bool:
        """Whether what a run did at a generation must not be told as if it were happening."""
        feed = self.session.feed
        return is_silenced(generation, feed.fenced, taken=feed.claim.taken)
