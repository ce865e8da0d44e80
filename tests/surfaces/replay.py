"""A recording, told again: the other side of a `Session`, of which nothing is a runtime's.

A `Session` speaks to a protocol, so every surface can be driven by what was written down, through
its own front. What is told goes into a real feed; how far the fence had got by then is said by who
drives it, so that a surface can be told late.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Collection, Generator
from contextlib import contextmanager
from typing import Any

from lastword import Receipt, Session, Ticket
from lastword.core.asks import AnswerSent
from lastword.core.cell import StoredCell
from lastword.core.entries import Entry, Said
from lastword.core.events import Instead, StopAsked
from lastword.core.model import CallId, Message, MessageId, Policy, Status
from lastword.core.picture import Picture
from lastword.core.queue import QueueNews
from lastword.core.scene import CallPart, Phase, TurnItem
from lastword.core.shown import Shown
from lastword.core.story import Fact
from lastword.runtime.feed import Feed
from lastword.runtime.protocol import Changing, Doings, Here, LogPage, Now, Sent, View
from lastword.runtime.ticket import Stopping
from lastword.stores.contract import Label, Overview
from tests.surfaces.recording import SESSION, Moment, Recording

NOT_TOLD = "nobody acts in what is only told again"


class Replay:
    """A session's other side, from the first moment of a recording, or from another one."""

    def __init__(self, recording: Recording, at: int | None = None) -> None:
        self.id = SESSION
        self.recording = recording
        self.at = recording.first if at is None else at  # the last event that was told
        self.fenced = recording.fence_at(self.at)
        self.record = Read(self)
        self.feed = Feed(
            SESSION,
            asyncio.get_running_loop(),
            lambda: self.fenced,
            keep=1000,
            clock=lambda: self.recording.events[self.at - 1].at,
            numbered=("told", self.at),
        )
        self.session = Session(self)
        self._picture = pictured(recording, self.at)

    @property
    def over(self) -> bool:
        """Whether all is told."""
        return self.at == len(self.recording.events)

    def next(self, fact: Fact | None = None) -> None:
        """The next fact, as it happened; or another in its place."""
        event = self.recording.events[self.at]
        self.at += 1
        self.fenced = self.recording.fence_at(self.at)
        self._picture.hear(event, event.generation)
        self.feed.append(fact or event.fact, event.generation)

    def rest(self) -> None:
        """All the rest, in one step: who comes to it then finds the last fence made."""
        while not self.over:
            self.next()

    @property
    def moment(self) -> Moment[Any] | None:
        """How all stood, if somebody looked right then."""
        return self.recording.views.get(self.at) or self.recording.pages.get(self.at)

    def now(self) -> Now:
        if moment := self.moment:
            return moment.now
        active = self._picture.phase.active
        return Now(self._picture.phase.generation, active, bool(active), True, None, None)

    def doings(self) -> Doings:
        if moment := self.moment:
            return moment.doings
        picture = self._picture
        return Doings(
            queue=picture.queue,
            ending=picture.phase.ending,
            spans=tuple(picture.processes.values()),
            processes=(),
            programs=tuple(picture.programs.values()),
            asks=(),
            questions=tuple(picture.questions.values()),
            begun=_begun(picture),
        )

    @contextmanager
    def held(self) -> Generator[object]:
        yield None

    async def have(self) -> None:
        return

    async def send(
        self, sent: tuple[Sent, ...], on_message: Policy | None, instead: Instead | None = None
    ) -> tuple[Ticket, ...]:
        raise NotImplementedError(NOT_TOLD)

    def stop(self, asked: StopAsked) -> Stopping:
        raise NotImplementedError(NOT_TOLD)

    def stop_soon(self, asked: StopAsked) -> concurrent.futures.Future[Receipt]:
        raise NotImplementedError(NOT_TOLD)

    async def change(self, asked: Changing) -> None:
        raise NotImplementedError(NOT_TOLD)

    async def answer(self, said: AnswerSent) -> None:
        raise NotImplementedError(NOT_TOLD)

    @property
    def here(self) -> Here:
        raise NotImplementedError(NOT_TOLD)


class Read:
    """What was written down of the log, at a moment at which somebody looked."""

    def __init__(self, of: Replay) -> None:
        self._of = of

    async def view(self) -> View:
        return self._of.recording.views[self._of.at].read

    async def log(self) -> tuple[Entry, ...]:
        return (await self.view()).entries

    async def page(self, before: int | None, most: int, size: int) -> LogPage:
        del before, most, size
        return self._of.recording.pages[self._of.at].read

    async def said(self, ids: Collection[MessageId]) -> tuple[Message, ...]:
        every = [one.message for one in self._of.recording.stored if isinstance(one, Said)]
        return tuple({one.id: one for one in every if one.id in ids}.values())

    async def overview(self) -> Overview:
        return Overview(SESSION, self._of.now().generation)

    async def label(self, label: Label) -> None:
        raise NotImplementedError(NOT_TOLD)

    async def queued(self) -> QueueNews:
        return self._of.doings().queue

    async def receipts(self, skip: int, most: int) -> tuple[Receipt, ...]:
        raise NotImplementedError(NOT_TOLD)

    async def cells(self) -> tuple[StoredCell, ...]:
        raise NotImplementedError(NOT_TOLD)

    async def history(self) -> tuple[Shown, ...]:
        raise NotImplementedError(NOT_TOLD)


def looked_at(moment: Moment[View] | Moment[LogPage]) -> Picture:
    """What who came at a moment was shown."""
    read, now, doings = moment.read, moment.now, moment.doings
    picture = Picture(SESSION)
    picture.record(read.entries if isinstance(read, View) else read.entries())
    picture.stands(
        seen=read.number,
        phase=Phase(read.generation, now.active, read.typing, doings.ending),
        queue=doings.queue,
        questions=doings.questions,
        programs=doings.programs,
        processes=doings.spans,
        begun=doings.begun,
    )
    return picture


def pictured(recording: Recording, at: int) -> Picture:
    """What who has been there from the first moment has seen with an event."""
    picture = looked_at(recording.views[recording.first])
    for event in recording.rest[: at - recording.first]:
        picture.hear(event, event.generation)
    return picture


def _begun(picture: Picture) -> dict[CallId, float]:
    turns = [item for item in picture.items if isinstance(item, TurnItem)]
    calls = [part for turn in turns for part in turn.parts if isinstance(part, CallPart)]
    return {part.call: part.began for part in calls if part.status is Status.BEGUN}
