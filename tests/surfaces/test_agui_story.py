"""W53. The same stories over AG-UI: each message, and each answer to a question, has a stream."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from lastword.core.entries import (
    Answered,
    Asked,
    Began,
    Called,
    Finished,
    Result,
    Said,
    Text,
    Thinking,
)
from lastword.core.model import CallId, Generation, Message, MessageId, Outcome, Reason, RunId
from lastword.core.picture import Picture
from lastword.core.question import Question
from lastword.core.receipt import Receipt
from lastword.core.story import FeedEvent, may_leave
from lastword.server.agui_events import AguiRun, Encoder, Event, interrupt_id
from lastword.server.shapes import Shapes, encode
from tests.core.picture_alphabet import made
from tests.core.picture_world import SESSION, World
from tests.server.agui_node import clients
from tests.surfaces.stories import of, stories

W53 = pytest.mark.scenario("W53", part="surfaces")
APART = {
    "ask",
    "ask_below",
    "ask_kept",
    "steer",
}  # a stream is over, or begins, in the middle of a run


@dataclass(eq=False)
class Stream:
    """What one client was told."""

    encoder: Encoder
    events: list[Event]

    def all(self, kind: str, field: str) -> list[Any]:
        return [one[field] for one in self.events if one["type"] == kind]


class Clients:
    """Whoever asks for something follows it."""

    def __init__(self) -> None:
        self.streams: list[Stream] = []
        self.runs: dict[MessageId, RunId] = {}
        self.picture = Picture(SESSION)

    def hear(self, event: FeedEvent, fenced: int) -> None:
        match event.fact:
            case Said(message) if message.id not in self.picture.messages:
                about = AguiRun("t", "r", (message.id,), lambda: self.runs.get(message.id), True)
                self._begin(about._replace(new=(message,)))
            case Began(run, _, messages):
                self.runs.update(dict.fromkeys(messages, run))
            case Answered():
                active = self.picture.phase.active
                self._begin(AguiRun("t", "r", (), lambda: active, True))
            case _:
                pass
        changes = self.picture.hear(event, fenced)
        for stream in self.streams:
            stream.events += stream.encoder.tell(changes)

    def _begin(self, about: AguiRun) -> None:
        encoder = Encoder(about, Shapes(""))
        self.streams.append(Stream(encoder, encoder.first(self.picture)))

    def all(self, kind: str, field: str) -> list[Any]:
        return [told for stream in self.streams for told in stream.all(kind, field)]

    @property
    def interrupts(self) -> list[Any]:
        """What streams ended with."""
        last = [stream.events[-1] for stream in self.streams if outcome(stream) == "interrupt"]
        return [one for event in last for one in event["outcome"]["interrupts"]]


def drive(world: World, behind: int | None = None) -> Clients:
    """Everything is told as it happens; or, after so many, all the rest after the last fence."""
    told, last = Clients(), max(event.generation for event in world.events)
    for event in world.events:
        late = behind is not None and event.number > behind
        told.hear(event, last if late else event.generation)
    return told


def outcome(stream: Stream) -> str:
    """How a stream ended; empty if it goes on."""
    [*_, last] = stream.events
    if not stream.encoder.over:
        return ""
    return last["outcome"]["type"] if last["type"] == "RUN_FINISHED" else last["type"]


@W53
@pytest.mark.parametrize("moves", stories(), ids=" ".join)
async def test_each_stream_tells_its_run_once_and_all_of_them_all_of_it(
    moves: tuple[str, ...],
) -> None:
    world = made(moves)
    told = drive(world)

    said = [fact.text for fact in of(world, Text)]
    for stream in told.streams:
        words = stream.all("TEXT_MESSAGE_CONTENT", "delta")
        assert len(words) == len(set(words))
        assert set(words) <= set(said)
        ends = [one["type"] in ("RUN_FINISHED", "RUN_ERROR") for one in stream.events]
        assert ends == [False] * (len(ends) - 1) + [stream.encoder.over]
    if APART & set(moves):
        return
    assert told.all("TEXT_MESSAGE_CONTENT", "delta") == said
    thought = [fact.text for fact in of(world, Thinking)]
    assert told.all("REASONING_MESSAGE_CONTENT", "delta") == thought
    calls = [fact.call for fact in of(world, Called)]
    assert told.all("TOOL_CALL_START", "toolCallId") == calls
    ended = [fact.call for fact in of(world, Result)]
    assert told.all("TOOL_CALL_RESULT", "toolCallId") == ended
    runs = {run for fact in of(world, Receipt) for run in fact.runs}
    stopped = [id_ for fact in of(world, Began) if fact.run in runs for id_ in fact.messages]
    cut = [stream for stream in told.streams if outcome(stream) == "cancelled"]
    withdrawn = moves.count("withdraw")
    waited = [one for fact in of(world, Receipt) for one in fact.messages]
    dropped = sum(one.fate == "dropped" for one in waited)
    assert len(cut) == len(stopped) + withdrawn + dropped


@W53
@pytest.mark.parametrize("moves", stories(), ids=" ".join)
async def test_a_stream_that_is_behind_tells_nothing_of_a_run_after_its_fence(
    moves: tuple[str, ...],
) -> None:
    world = made(moves)
    last = max(event.generation for event in world.events)
    for behind in range(len(world.events)):
        told = drive(world, behind)
        in_time = [
            event.fact for event in world.events if event.number <= behind or may_leave(event, last)
        ]
        texts = {fact.text for fact in in_time if isinstance(fact, Text)}
        words = told.all("TEXT_MESSAGE_CONTENT", "delta")
        assert set(words) <= texts
        calls = {fact.call for fact in in_time if isinstance(fact, Called)}
        assert set(told.all("TOOL_CALL_START", "toolCallId")) <= calls
        asks = [fact.question for fact in in_time if isinstance(fact, Asked)]
        asked = {interrupt_id(question) for question in asks if question}
        assert {one["id"] for one in told.interrupts} <= asked
        if not APART & set(moves):
            assert set(words) == texts


@W53
async def test_a_question_ends_the_stream_of_the_run_that_asks_and_no_other() -> None:
    asks, waits = drive(made(("say", "say", "called", "ask"))).streams

    assert outcome(asks) == "interrupt"
    assert outcome(waits) == ""
    assert waits.all("CUSTOM", "name") == ["lastword.queue"]


@W53
async def test_words_that_steer_have_a_stream_from_where_they_were_taken_up() -> None:
    moves = ("say", "text", "called", "steer", "take_up", "begun", "result", "text", "finish")
    world = made(moves)
    first, second = drive(world).streams

    [before, after] = [fact.text for fact in of(world, Text)]
    assert first.all("TEXT_MESSAGE_CONTENT", "delta") == [before, after]
    assert second.all("TEXT_MESSAGE_CONTENT", "delta") == [after]
    assert before in json.dumps(second.events[1]["messages"])
    assert len(second.all("TOOL_CALL_RESULT", "content")) == 1, "the call was in the snapshot"
    assert [outcome(first), outcome(second)] == ["success", "success"]


@W53
async def test_who_took_over_asks_nobody_that_waits_for_the_receipt_of_what_was_ended() -> None:
    world, old, new = made(("say",)), RunId("s#1"), RunId("s#2")
    message, at = Message(MessageId("m2"), "instead"), Generation(3)
    world.generation = at
    world.tell(Said(message, new))
    world.tell(Finished(old, Outcome.SUPERSEDED, (), started=True))
    world.tell(Began(new, at, (message.id,)))
    question = Question("q", SESSION, at, new, "tool", "{}")
    world.tell(Asked(new, CallId(""), "tool", "", ask="q", question=question))
    first, second = drive(world).streams
    assert [outcome(first), outcome(second)] == ["", "interrupt"]

    world.tell(Receipt(SESSION, at, Reason.SUPERSEDED, 0.0, runs=(old,)))
    first, _ = drive(world).streams
    assert outcome(first) == "cancelled"


@W53
@pytest.mark.parametrize("moves", stories(), ids=" ".join)
async def test_who_joins_has_in_the_snapshot_what_those_heard_who_were_there(
    moves: tuple[str, ...],
) -> None:
    world = made(moves)
    picture = Picture(SESSION)
    picture.record([entry for _, entry in world.log])
    about = AguiRun("t", "r", (), lambda: None, True)
    [_, snapshot, end] = Encoder(about, Shapes("")).first(picture)

    shown: list[Any] = snapshot["messages"]
    texts = [one["content"] for one in shown if one["role"] == "assistant" and "content" in one]
    assert "".join(texts) == "".join(fact.text for fact in of(world, Text))
    calls = [call["id"] for one in shown for call in one.get("toolCalls", ())]
    assert calls == [fact.call for fact in of(world, Called)]
    receipts = [one for one in shown if one.get("activityType") == "lastword.receipt"]
    assert len(receipts) == len(of(world, Receipt))
    assert end["outcome"] == {"type": "success"}


@W53
async def test_the_protocols_own_client_lets_every_stream_through() -> None:
    async with clients() as node:
        heard = 0
        for moves in stories():
            world = made(moves)
            for behind in (None, *range(0, len(world.events), 2)):
                for stream in drive(world, behind).streams:
                    heard += 1
                    events = json.loads(encode(stream.events))
                    end = await node.hear(f"{heard}", events)
                    assert end["failed"] is None, (moves, behind, end, events)
    assert heard > 200
