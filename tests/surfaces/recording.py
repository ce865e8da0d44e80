"""What a real runtime tells of one session: its facts in order, and how all stood at each moment.

A story is played in a runtime, and written down as it happens: every event of the feed, and what
whoever came at that moment would have been given to read (the whole log, or its newest page) and
told of how all else stood. A moment is whenever the event loop has come to its next step.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from lastword import Engine, Runtime, Session
from lastword.core.entries import Entry
from lastword.core.model import Generation, SessionId
from lastword.core.story import Fact, FeedEvent
from lastword.runtime.protocol import Doings, LogPage, Now, View
from lastword.server.shapes import PAGE
from lastword.stores.contract import Store
from lastword.stores.opening import open_store

T = TypeVar("T")
F = TypeVar("F")
SESSION = SessionId("s")
_ENTRIES = 300  # of the log that a page has


@dataclass(frozen=True, slots=True)
class Moment(Generic[T]):
    """What was read, and how all else stood in that step."""

    read: T
    now: Now
    doings: Doings


@dataclass(eq=False, slots=True)
class Recording:
    """One session's story."""

    events: list[FeedEvent] = field(default_factory=list[FeedEvent])
    views: dict[int, Moment[View]] = field(default_factory=dict[int, Moment[View]])
    pages: dict[int, Moment[LogPage]] = field(default_factory=dict[int, Moment[LogPage]])
    stored: tuple[Entry, ...] = ()  # the log as it lies in the store, in the end

    @property
    def first(self) -> int:
        """The event after which it was first looked at."""
        return min(self.views)

    @property
    def rest(self) -> list[FeedEvent]:
        """What was told from then on."""
        return self.events[self.first :]

    @property
    def kinds(self) -> set[type]:
        """Of all facts in it, told or stored."""
        return {type(event.fact) for event in self.events} | {type(one) for one in self.stored}

    def told(self, kind: type[F]) -> list[F]:
        """What was told of one kind."""
        facts: list[Fact] = [event.fact for event in self.rest]
        return [fact for fact in facts if isinstance(fact, kind)]

    def fence_at(self, number: int) -> Generation:
        """Where who hears everything as it happens finds the fence with that event: the right to
        act has moved no further than events tell."""
        before = self.views[self.first].now.generation
        return max((event.generation for event in self.events[:number]), default=before)


@dataclass(eq=False, slots=True)
class Clock:
    """Goes on whenever somebody has looked: what happens in one step happens at one time."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


class Recorder:
    """Writes down one session."""

    def __init__(self, session: Session, clock: Clock) -> None:
        self.session = session
        self.recording = Recording()
        self._clock = clock

    async def follow(self) -> None:
        """Look whenever something was told."""
        while True:
            seen = self.session.feed.last
            await self.look()
            await self.session.feed.more(seen)

    async def look(self) -> None:
        """As who comes now does: by the whole log, and by a page of it."""
        session, recording = self.session, self.recording
        view = await session.view()  # and in this step, how all stands
        recording.views[view.number] = Moment(view, _now(session), _doings(session))
        page = await session.record.page(None, _ENTRIES, PAGE)
        recording.pages[page.number] = Moment(page, _now(session), _doings(session))
        self._clock.now += 1.0

    def finish(self, stored: tuple[Entry, ...]) -> Recording:
        """All that was told."""
        self.recording.events, self.recording.stored = self.session.feed.since(0), stored
        return self.recording


def _now(session: Session) -> Now:
    return Now(
        session.generation,
        session.active,
        session.busy,
        session.known,
        session.above,
        session.over,
    )


def _doings(session: Session) -> Doings:
    return Doings(
        queue=session.waiting,
        ending=session.ending,
        spans=session.spans,
        processes=(),
        programs=session.programs,
        asks=session.asks,
        questions=session.questions,
        begun=session.begun,
    )


class Stage:
    """Where a story is played: what it opens here is written down."""

    def __init__(self, folder: Path) -> None:
        self.recording: Recording | None = None
        self._folder = folder

    def file(self) -> str:
        """A store on the disk."""
        return f"sqlite:{self._folder / 'lastword.db'}"

    @asynccontextmanager
    async def playing(
        self, engine: Engine, *, store: Store | str = "memory:", **settings: Any
    ) -> AsyncGenerator[tuple[Session, Runtime]]:
        """A session of a real runtime, until the story ends."""
        opened = open_store(store) if isinstance(store, str) else store
        clock = Clock()
        async with Runtime(engine, store=opened, clock=clock, **settings) as runtime:
            recorder = Recorder(runtime.session(SESSION), clock)
            await recorder.look()
            following = asyncio.create_task(recorder.follow())
            try:
                yield recorder.session, runtime
                await recorder.session.log()  # all that is under way is stored
                await recorder.look()
            finally:
                following.cancel()
                await asyncio.wait([following])
            if not following.cancelled():
                following.result()
            self.recording = recorder.finish(await opened.entries(SESSION))
