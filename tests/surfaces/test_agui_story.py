"""W53. The same stories over AG-UI: each message, and each answer to a question, has a stream."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from lastword.core.entries import Asked, Called, Result, Text, Thinking
from lastword.core.picture import Picture
from lastword.core.receipt import Receipt
from lastword.core.story import may_leave
from lastword.server.agui_events import AguiRun, Encoder, interrupt_id
from lastword.server.shapes import Shapes, encode
from tests.server.agui_node import clients
from tests.surfaces.agui import Clients, is_apart, outcomes
from tests.surfaces.recording import SESSION
from tests.surfaces.replay import pictured
from tests.surfaces.stories import STORIES, recorded

W53 = pytest.mark.scenario("W53", part="surfaces")
EACH = pytest.mark.parametrize("name", STORIES)
QUICK = 200  # streams that the protocol's own client hears in the quick lane


@W53
@EACH
async def test_each_stream_tells_its_run_once_and_all_of_them_all_of_it(name: str) -> None:
    recording = await recorded(name)
    told = Clients(recording).follow()

    said = [fact.text for fact in recording.told(Text)]
    for stream in told.streams:
        words = stream.all("TEXT_MESSAGE_CONTENT", "delta")
        assert len(words) == len(set(words))
        assert set(words) <= set(said)
        ends = [one["type"] in ("RUN_FINISHED", "RUN_ERROR") for one in stream.events]
        assert ends == [False] * (len(ends) - 1) + [stream.over]
    if is_apart(recording):
        return
    assert sorted(told.all("TEXT_MESSAGE_CONTENT", "delta")) == sorted(said)
    thought = [fact.text for fact in recording.told(Thinking)]
    assert told.all("REASONING_MESSAGE_CONTENT", "delta") == thought
    calls = [fact.call for fact in recording.told(Called) if fact.nature != "post"]
    assert told.all("TOOL_CALL_START", "toolCallId") == calls
    ended = [fact.call for fact in recording.told(Result) if fact.call in calls]
    assert told.all("TOOL_CALL_RESULT", "toolCallId") == ended
    assert [stream.outcome for stream in told.streams] == outcomes(recording)


@W53
@EACH
async def test_a_stream_that_is_behind_tells_nothing_of_a_run_after_its_fence(name: str) -> None:
    recording = await recorded(name)
    last = recording.fence_at(len(recording.events))
    for behind in range(recording.first, len(recording.events)):
        told = Clients(recording).follow(behind)
        in_time = [
            one.fact for one in recording.rest if one.number <= behind or may_leave(one, last)
        ]
        texts = {fact.text for fact in in_time if isinstance(fact, Text)}
        words = told.all("TEXT_MESSAGE_CONTENT", "delta")
        assert set(words) <= texts
        calls = {fact.call for fact in in_time if isinstance(fact, Called)}
        assert set(told.all("TOOL_CALL_START", "toolCallId")) <= calls
        asks = [fact.question for fact in in_time if isinstance(fact, Asked)]
        asked = {interrupt_id(question) for question in asks if question}
        assert {one["id"] for one in told.interrupts} <= asked
        if not is_apart(recording):
            assert set(words) == texts


@W53
@EACH
async def test_no_stream_ends_with_a_question_that_is_not_open_any_more(name: str) -> None:
    recording = await recorded(name)
    last = pictured(recording, len(recording.events))
    left = {interrupt_id(question) for question in last.questions.values()}
    for behind in range(recording.first, len(recording.events)):
        told = Clients(recording).follow_to(behind)
        in_time = {one["id"] for one in told.interrupts}

        told.follow(behind)

        assert {one["id"] for one in told.interrupts} <= in_time | left


@W53
async def test_a_question_ends_the_stream_of_the_run_that_asks_and_no_other() -> None:
    asks, waits = Clients(await recorded("asked_while_another_waits")).follow().streams

    assert asks.outcome == "interrupt"
    assert waits.outcome == ""
    assert "lastword.queue" in waits.all("CUSTOM", "name")


@W53
async def test_words_that_steer_have_a_stream_from_where_they_were_taken_up() -> None:
    recording = await recorded("steered_before_a_call_is_made")
    first, second = Clients(recording).follow().streams

    [before, after] = [fact.text for fact in recording.told(Text)]
    assert first.all("TEXT_MESSAGE_CONTENT", "delta") == [before, after]
    assert second.all("TEXT_MESSAGE_CONTENT", "delta") == [after]
    assert before in json.dumps(second.events[1]["messages"])
    assert len(second.all("TOOL_CALL_RESULT", "content")) == 1, "the call was in the snapshot"
    assert [first.outcome, second.outcome] == ["success", "success"]


@W53
async def test_who_took_over_asks_nobody_that_waits_for_the_receipt_of_what_was_ended() -> None:
    recording = await recorded("asked_while_an_answer_that_was_replaced_still_ends")
    first, second, *_ = Clients(recording).follow().streams

    assert [first.outcome, second.outcome] == ["cancelled", "interrupt"]
    assert first.all("CUSTOM", "name")[-1] == "lastword.receipt"
    assert "lastword.receipt" not in second.all("CUSTOM", "name"), "it was asked before that"


@W53
@EACH
async def test_who_joins_has_in_the_snapshot_what_those_heard_who_were_there(name: str) -> None:
    recording = await recorded(name)
    for moment in recording.views.values():
        entries, picture = moment.read.entries, Picture(SESSION)
        picture.record(entries)
        about = AguiRun("t", "r", (), lambda: None, True)
        [_, snapshot, end] = Encoder(about, Shapes("")).first(picture)

        shown: list[Any] = snapshot["messages"]
        texts = [one["content"] for one in shown if one["role"] == "assistant" and "content" in one]
        assert "".join(texts) == "".join(one.text for one in entries if isinstance(one, Text))
        calls = [call["id"] for one in shown for call in one.get("toolCalls", ())]
        called = [one for one in entries if isinstance(one, Called)]
        assert calls == [one.call for one in called if one.nature != "post"]
        receipts = [one for one in shown if one.get("activityType") == "lastword.receipt"]
        assert len(receipts) == sum(isinstance(one, Receipt) for one in entries)
        assert end["outcome"] == {"type": "success"}


@W53
async def test_the_protocols_own_client_lets_every_stream_through(
    request: pytest.FixtureRequest, seed: int
) -> None:
    streams = list[tuple[str, int | None, str]]()
    for name in STORIES:
        recording = await recorded(name)
        for behind in (None, *range(recording.first, len(recording.events))):
            told = Clients(recording).follow(behind)
            streams += [(name, behind, encode(one.events).decode()) for one in told.streams]
    assert len(streams) > QUICK
    if not request.config.option.deep:
        streams = random.Random(seed).sample(streams, QUICK)

    async with clients() as node:
        for number, (name, behind, told) in enumerate(streams):
            end = await node.hear(f"{number}", json.loads(told))
            assert end["failed"] is None, (name, behind, end, told)
