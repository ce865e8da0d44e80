"""What a session tells of itself beside what its runs do: its queue, its processes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lastword.core.brief import NAMED, cut
from lastword.core.entries import Note
from lastword.core.model import RunId
from lastword.core.queue import QueueNews, queued
from lastword.core.receipt import ProcessNews
from lastword.core.scene import Span
from lastword.core.session import SessionMachine
from lastword.core.shown import Shown
from lastword.runtime.feed import Publish
from lastword.runtime.jobs import Job
from lastword.runtime.journal import Journal
from lastword.runtime.ticket import Outcomes

_REMEMBERED = 100  # processes that have ended


def queue_of(machine: SessionMachine) -> QueueNews:
    """As it stands."""
    return QueueNews(queued(machine.steering, machine.waiting), machine.hushed)


class Announcer:
    """One session's."""

    def __init__(
        self, machine: SessionMachine, publish: Publish, journal: Journal, outcomes: Outcomes
    ) -> None:
        self._machine = machine
        self._publish = publish
        self._journal = journal
        self._outcomes = outcomes
        self.untold: list[tuple[RunId, str]] = []  # notes for a run's next request
        self.told = machine.steering, machine.waiting  # of which it told last
        self._spans: dict[int | str, Span] = {}

    @property
    def spans(self) -> tuple[Span, ...]:
        """The processes that run, and the last of those that have ended."""
        return tuple(self._spans.values())

    def look(self) -> None:
        """Tell of the queue, which has changed."""
        self.told = self._machine.steering, self._machine.waiting
        self._publish(queue_of(self._machine))

    def process(self, news: ProcessNews) -> None:
        """Tell of a process that has started, or has ended."""
        event = self._publish(news)
        # what is kept may outlive its first process, whose number is then another's
        key = news.job if news.kept else news.pid
        if news.state == "started":
            self._spans[key] = Span(news, event.at)
            self._forget()
        elif span := self._spans.get(key):
            ended_at = event.at if news.state == "ended" else span.ended_at
            news = replace(news, job=news.job or span.news.job)
            self._spans[key] = replace(span, news=news, ended_at=ended_at)

    def started_at(self, key: int | str) -> float:
        """When it began, if that was told lately: by its number, or the id of what is kept."""
        span = self._spans.get(key)
        return span.started_at if span else self._journal.now()

    def goes_on(self, job: Job) -> None:
        """Its model is told of the end of this one, also by whoever has the session by then."""
        self._journal.going[job.id] = cut(job.command, NAMED)

    def lost(self, going: Iterable[tuple[str, str]]) -> None:
        """The same of those that ended with an earlier process of ours."""
        for id_, command in going:
            self._tell(id_, "lastword itself had ended, and it with that", command)

    def ended(self, job: Job) -> None:
        """Tell the model of the end of a job with its next request: the one after this if a run is
        going, and every later run is shown it with all that happened."""
        self._journal.going.pop(job.id, None)
        if job.known:
            self._tell(job.id, job.ending, cut(job.command, NAMED))

    def _tell(self, id_: str, how: str, command: str) -> None:
        text = f"{id_} has ended: {how}. It was: {command}"
        if active := self._machine.active:
            self.untold.append((active.run, text))
        note = Note(None, text)
        self._journal.add(note)
        self._publish(note)
        self._outcomes.when_durable([])

    def shown(self, history: Sequence[Shown]) -> None:
        """This a run begins with, or goes on from: what is in it need not be told."""
        there = {item.text for item in history if item.role == "note"}
        self.untold = [(run, text) for run, text in self.untold if text not in there]

    def notes(self, run: RunId) -> tuple[str, ...]:
        """What its model is to be told with the next request, once."""
        told = tuple(text for whose, text in self.untold if whose == run)
        self.untold.clear()
        return told

    def _forget(self) -> None:
        ended = [key for key, span in self._spans.items() if span.ended_at is not None]
        for key in ended[:-_REMEMBERED]:
            del self._spans[key]
