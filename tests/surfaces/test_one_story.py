"""W53. The same stories, as a runtime told them, on every surface: what each of them showed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lastword.core import story
from lastword.core.entries import Called, Result, Text, Thinking
from lastword.core.receipt import ProcessNews, Receipt
from lastword.core.recovery import Recovery
from lastword.core.rows import headline
from lastword.core.story import FACTS, Settled, is_effect, is_elsewhere
from tests.server.page_node import Modules
from tests.surfaces.answered import piped
from tests.surfaces.recording import Recording
from tests.surfaces.replay import Replay, pictured
from tests.surfaces.screens import Editor, Terminal
from tests.surfaces.stories import PLAYED, STORIES, recorded
from tests.surfaces.web import Web

W53 = pytest.mark.scenario("W53", part="surfaces")
EACH = pytest.mark.parametrize("name", STORIES)
ENDED = "What was still ending has ended"


def calls_in(recording: Recording) -> list[Called]:
    """Those that a person is told of."""
    return [fact for fact in recording.told(Called) if fact.nature != "post"]


@W53
async def test_every_kind_of_fact_is_in_the_stories() -> None:
    found = [await recorded(name) for name in STORIES]

    assert {kind for one in found for kind in one.kinds} == set(FACTS)
    assert len(STORIES) >= 40
    assert {play.__module__ for play in STORIES.values()} == {one.__name__ for one in PLAYED}


@W53
@EACH
async def test_a_runtime_tells_nothing_of_a_run_after_its_fence(name: str) -> None:
    recording = await recorded(name)

    for number, event in enumerate(recording.events):
        if is_effect(event.fact) and not is_elsewhere(event.fact, event.session):
            assert event.generation >= recording.fence_at(number), event


@W53
@EACH
async def test_a_terminal_tells_each_word_call_process_and_receipt_once(name: str) -> None:
    recording = await recorded(name)
    replay = Replay(recording)
    terminal = Terminal(replay)
    while not replay.over:
        replay.next()
        terminal.hear()
    shown = terminal.shown

    for fact in (*recording.told(Text), *recording.told(Thinking)):
        assert shown.split().count(fact.text.strip()) == 1, shown
    named = {call.call: call.name for call in recording.told(Called)}
    ended = [named[fact.call] for fact in recording.told(Result) if fact.call in named]
    for tool in set(ended):
        assert shown.count(f"· {tool}") == ended.count(tool), shown
    starting = [fact for fact in recording.told(ProcessNews) if fact.state == "starting"]
    assert shown.count("\n$ ") == len(starting)
    receipts = [fact for fact in recording.told(Receipt) if fact.reason == "stopped"]
    assert shown.count("■") == len(receipts)
    for receipt in receipts:
        assert headline(receipt.rows(ids=False)) in shown
    assert shown.count(ENDED) == len(recording.told(Settled))
    for found in recording.told(Recovery):
        assert shown.count(found.words) == 1


@W53
@EACH
async def test_an_editor_is_told_each_word_and_call_and_asked_each_question_once(name: str) -> None:
    recording = await recorded(name)
    replay = Replay(recording)
    editor = Editor(replay)
    editor.open()
    while not replay.over:
        replay.next()
        await editor.hear()
    await editor.close()

    assert editor.said == "".join(fact.text for fact in recording.told(Text))
    for thought in recording.told(Thinking):
        assert editor.thought.count(thought.text) == 1
    calls = [fact.call for fact in calls_in(recording)]
    assert editor.calls == calls
    ended = {fact.call for fact in recording.told(Result)}
    over = {call for call, how in editor.ends.items() if how not in ("in_progress", "pending")}
    assert over & set(calls) == ended & set(calls)
    asked = [fact.call for fact in recording.told(story.Asked) if fact.question]
    assert [call for call in editor.asks if call in asked] == asked
    assert editor.thought.count(ENDED) == len(recording.told(Settled))
    for found in recording.told(Recovery):
        assert editor.thought.count(found.words) == 1


@W53
@EACH
async def test_an_editor_asks_what_is_open_and_takes_back_what_is_not(name: str) -> None:
    recording = await recorded(name)
    replay = Replay(recording)
    editor = Editor(replay)
    editor.open()
    while not replay.over:
        replay.next()
        await editor.hear()
    picture = pictured(recording, replay.at)
    waits = [cell.record.frontier for cell in picture.programs.values() if cell.record.paused]
    open_ = [question.call for question in picture.questions.values()]
    open_ += [call.id for one in waits if one for call in one.pending]

    assert editor.open_asks == open_
    await editor.close()


@W53
@EACH
async def test_the_page_shows_each_word_call_question_and_receipt_once(
    name: str, modules: Modules
) -> None:
    recording = await recorded(name)
    replay = Replay(recording)
    web = Web(replay)
    await web.open()
    await web.rest()
    [drawn] = web.drawn(modules)
    state: dict[str, Any] = json.loads(drawn)

    turns = [item for item in state["items"] if item["kind"] == "turn"]
    parts = [part for turn in turns for part in turn["parts"]]
    for kind, facts in (("text", recording.told(Text)), ("thinking", recording.told(Thinking))):
        words = "".join(part["text"] for part in parts if part["kind"] == kind)
        assert [words.count(fact.text) for fact in facts] == [1] * len(facts)
    calls = {part["call"]: part["status"] for part in parts if part["kind"] == "call"}
    told = [fact.call for fact in recording.told(Called)]
    assert [call for call in calls if call in told] == told
    ends = {fact.call: fact.status.value for fact in recording.told(Result)}
    assert ends.items() <= calls.items()
    receipts = [item["receipt"] for item in state["items"] if item["kind"] == "receipt"]
    every = [one for one in recording.stored if isinstance(one, Receipt)]
    stops = sorted(every, key=lambda one: one.fenced_at)
    assert [one["runs"] for one in receipts] == [list(one.runs) for one in stops]
    settled = [item for item in state["items"] if item.get("settled")]
    assert len(settled) == len(recording.told(Settled))
    open_ = pictured(recording, replay.at).questions
    assert [one["id"] for one in state["questions"]] == list(open_)


@W53
@EACH
async def test_a_pipe_has_the_answer_to_its_message_and_nothing_else(name: str) -> None:
    for one in piped(await recorded(name)):
        written, words = await one.answer(), "".join(one.words)
        if one.whole:
            assert written.rstrip() == words.rstrip()
        else:  # what was not read when it was stopped is not written any more
            assert words.startswith(written.rstrip())
