"""What a session tells of itself beside what its runs do: its queue, its processes, questions."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from lastword.core.model import RunId
from lastword.core.queue import Queued, queued
from lastword.core.receipt import ProcessNews
from lastword.core.session import SessionMachine
from lastword.core.value import value
from lastword.runtime.feed import Feed, FeedEvent, Kind
from lastword.runtime.hold import Hold

_REMEMBERED = 100  # processes that have ended


class Publish(Protocol):
    """Into the session's feed."""

    def __call__(
        self, kind: Kind, run: RunId | None = None, text: str = "", data: object = None
    ) -> FeedEvent: ...


@value
class Span:
    """A process, from its start to its end."""

    news: ProcessNews
    run: RunId
    started_at: float
    ended_at: float | None = None


@value
class QueueNews:
    """The messages that wait, and whether they wait for a person's word."""

    messages: tuple[Queued, ...]
    hushed: bool


def queue_of(machine: SessionMachine) -> QueueNews:
    """As it stands."""
    return QueueNews(queued(machine.steering, machine.waiting), machine.hushed)


class News:
    """One session's."""

    def __init__(self, machine: SessionMachine, publish: Publish) -> None:
        self._machine = machine
        self._publish = publish
        self._told = queue_of(machine)
        self._spans: dict[int, Span] = {}

    @property
    def spans(self) -> tuple[Span, ...]:
        """The processes that run, and the last of those that have ended."""
        return tuple(self._spans.values())

    def look(self) -> None:
        """Tell of the queue, if it has changed."""
        now = queue_of(self._machine)
        if now.messages != self._told.messages:
            self._publish("queue", data=now)
        self._told = now

    def process(self, run: RunId, news: ProcessNews) -> None:
        """Tell of a process that has started, or has ended."""
        event = self._publish("process", run, news.command, news)
        if news.state == "started":
            self._spans[news.pid] = Span(news, run, event.at)
            self._forget()
        elif span := self._spans.get(news.pid):
            self._spans[news.pid] = replace(span, news=news, ended_at=event.at)

    def _forget(self) -> None:
        ended = [pid for pid, span in self._spans.items() if span.ended_at is not None]
        for pid in ended[:-_REMEMBERED]:
            del self._spans[pid]


class Place(Protocol):
    """A session, as far as something can be told there."""

    lock: threading.Lock
    machine: SessionMachine
    feed: Feed


def announce(places: Iterable[Place], hold: Hold, text: str, data: object, *, as_run: bool) -> bool:
    """A question, into each of the feeds; as the run that asks only while that may act."""
    for place in places:
        with place.lock:
            if as_run and not hold.current:
                return False
            place.feed.append("question", place.machine.generation, hold.run, text, data)
    return True
