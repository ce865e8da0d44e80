"""AG-UI clients that follow a recording: whoever says or answers something has a stream."""

from __future__ import annotations

import json
from typing import Any

from lastword.core.entries import Answered, Asked, Began, Finished, Said
from lastword.core.model import MessageId, RunId
from lastword.core.queue import QueueNews
from lastword.server.agui import AguiStream, framed
from lastword.server.agui_events import AguiRun, Encoder, Event
from lastword.server.hub import Hub
from lastword.server.shapes import Shapes
from lastword.server.streams import Watcher
from lastword.surfaces.following import Following
from tests.surfaces.recording import Recording
from tests.surfaces.replay import Replay, pictured

_SHAPES = Shapes("")


async def _nobody(_: Hub[Watcher]) -> None:
    """Nobody has to be woken."""


class Stream:
    """What one client is told."""

    def __init__(self, replay: Replay, about: AguiRun) -> None:
        session = replay.session
        following = Following(session, pictured(replay.recording, replay.at))
        self._encoder = Encoder(about, _SHAPES)
        self.events: list[Event] = _read(framed(self._encoder.first(following.picture)))
        hub: Hub[Watcher] = Hub(session, _SHAPES, _nobody)
        self._source = AguiStream(hub, following, self._encoder, lambda: session.questions)

    def hear(self) -> None:
        """All that may leave now."""
        if not self._source.over:
            self.events += _read(self._source.chunk(0)[1])

    def all(self, kind: str, field: str) -> list[Any]:
        return [one[field] for one in self.events if one["type"] == kind]

    @property
    def over(self) -> bool:
        return self._encoder.over

    @property
    def outcome(self) -> str:
        """How it ended; empty if it goes on."""
        if not self.over:
            return ""
        last = self.events[-1]
        return last["outcome"]["type"] if last["type"] == "RUN_FINISHED" else last["type"]


class Clients:
    """All who ask for something in a story."""

    def __init__(self, recording: Recording) -> None:
        self.streams: list[Stream] = []
        self._replay = Replay(recording)
        self._runs: dict[MessageId, RunId] = {}

    def follow(self, behind: int | None = None) -> Clients:
        """All is told as it happens; or, after so many, all the rest after the last fence."""
        replay = self._replay
        while not replay.over:
            self._next()
            if behind is None or replay.at <= behind:
                self.hear()
        self.hear()
        return self

    def follow_to(self, at: int) -> Clients:
        """So many facts are told, as they happen."""
        while self._replay.at < at:
            self._next()
            self.hear()
        return self

    def hear(self) -> None:
        for stream in self.streams:
            stream.hear()

    def _next(self) -> None:
        replay = self._replay
        picture = pictured(replay.recording, replay.at)
        match replay.recording.events[replay.at].fact:
            case Said(message) if message.id not in picture.messages:
                about = AguiRun("t", "r", (message.id,), lambda: self._runs.get(message.id), True)
                self.streams.append(Stream(replay, about._replace(new=(message,))))
            case Began(run, _, messages):
                self._runs.update(dict.fromkeys(messages, run))
            case Answered():
                active = picture.phase.active
                self.streams.append(Stream(replay, AguiRun("t", "r", (), lambda: active, True)))
            case _:
                pass
        replay.next()

    def all(self, kind: str, field: str) -> list[Any]:
        return [told for stream in self.streams for told in stream.all(kind, field)]

    @property
    def interrupts(self) -> list[Any]:
        """What streams ended with."""
        last = [stream.events[-1] for stream in self.streams if stream.outcome == "interrupt"]
        return [one for event in last for one in event["outcome"]["interrupts"]]


def is_apart(recording: Recording) -> bool:
    """Whether a stream is over, or begins, in the middle of a run, or tells of a run that another
    stream tells of, too: if somebody is asked, steers, or was collected with others; or if a run
    answers what was said before the story."""
    said = {fact.message.id for fact in recording.told(Said)}
    answered = [fact.messages for fact in recording.told(Began)]
    steers = any(
        one.placed == "steering" for fact in recording.told(QueueNews) for one in fact.messages
    )
    alone = all(len(ids) == 1 and said.issuperset(ids) for ids in answered)
    return bool(recording.told(Asked)) or steers or not alone


def outcomes(recording: Recording) -> list[str]:
    """How the stream of each message has to end."""
    ends = {id_: fact.outcome for fact in recording.told(Finished) for id_ in fact.messages}
    how = {"completed": "success", "failed": "RUN_ERROR"}
    said = dict.fromkeys(fact.message.id for fact in recording.told(Said))
    return [how.get(ends[id_], "cancelled") if id_ in ends else "" for id_ in said]


def _read(frames: bytes) -> list[Event]:
    return [json.loads(one.removeprefix(b"data: ")) for one in frames.split(b"\n\n") if one]
