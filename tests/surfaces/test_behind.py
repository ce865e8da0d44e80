"""W53. Who is behind when a run loses its session tells nothing of it as if it were happening."""

from __future__ import annotations

import json

import pytest

from lastword.cli.chat.telling import MORE
from lastword.core import story
from lastword.core.entries import Text
from lastword.core.model import CallId
from lastword.core.story import FeedEvent, may_leave
from tests.server.page_node import Modules
from tests.surfaces.recording import Recording
from tests.surfaces.replay import Replay
from tests.surfaces.screens import Editor, Terminal
from tests.surfaces.stories import STORIES, recorded
from tests.surfaces.web import Web

W53 = pytest.mark.scenario("W53", part="surfaces")
EACH = pytest.mark.parametrize("name", STORIES)


def in_time(recording: Recording, behind: int) -> list[FeedEvent]:
    """What may be told by who has heard so much, and comes to the rest after the last fence."""
    last = recording.fence_at(len(recording.events))
    return [one for one in recording.rest if one.number <= behind or may_leave(one, last)]


def texts(events: list[FeedEvent]) -> list[str]:
    return [event.fact.text for event in events if isinstance(event.fact, Text)]


@W53
@EACH
async def test_a_terminal_that_is_behind_says_nothing_of_a_run_after_its_fence(name: str) -> None:
    recording = await recorded(name)
    for behind in range(recording.first, len(recording.events)):
        replay = Replay(recording)
        terminal = Terminal(replay)
        while replay.at < behind:
            replay.next()
            terminal.hear()
        replay.rest()
        terminal.hear()

        shown, may = terminal.shown, texts(in_time(recording, behind))
        for text in texts(recording.rest):
            assert shown.split().count(text.strip()) == (text in may), (behind, shown)
        if len(may) < len(texts(recording.rest)) and replay.session.active is None:
            assert MORE in shown  # the person knows that there was more


@W53
@EACH
@pytest.mark.parametrize("how", ["slow to hear", "slow to read"])
async def test_an_editor_that_is_behind_is_told_nothing_of_a_run_after_its_fence(
    name: str, how: str
) -> None:
    recording = await recorded(name)
    for behind in range(recording.first, len(recording.events)):
        replay = Replay(recording)
        editor = Editor(replay)
        editor.open()
        while replay.at < behind:
            replay.next()
            await editor.hear()
        editor.pipe.full = how == "slow to read"
        while not replay.over:
            replay.next()
            if editor.pipe.full:
                await editor.hear()  # it waits to leave, and is asked for once more then
        await editor.hear()
        editor.pipe.flush()

        may = in_time(recording, behind)
        assert editor.said == "".join(texts(may)), behind
        called = [one.fact.call for one in may if isinstance(one.fact, story.Called)]
        assert set(editor.calls) <= set(called), behind
        asked: set[CallId] = {
            one.fact.call for one in may if isinstance(one.fact, story.Asked | story.Answered)
        }
        assert set(editor.asks) <= asked | waiting(recording), behind
        await editor.close()


def waiting(recording: Recording) -> set[CallId]:
    """What programs wait on, which no fence of a run reaches but a stop."""
    cells = [one.cell for one in recording.told(story.ProgramNews)]
    return {call.id for cell in cells if (at := cell.record.frontier) for call in at.pending}


@W53
@EACH
@pytest.mark.parametrize("how", ["slow to hear", "slow to read"])
async def test_a_browser_that_is_behind_shows_what_was_said_as_that_and_nothing_as_live(
    name: str, how: str, modules: Modules
) -> None:
    recording = await recorded(name)
    fenced = recording.fence_at(len(recording.events))
    wholes: list[str] = []
    replay = Replay(recording)
    for behind in (len(recording.events), *range(recording.first, len(recording.events))):
        replay = Replay(recording)
        web = Web(replay)
        browser = await web.open()
        while replay.at < behind:
            replay.next()
            await web.heard()
        told = len(browser.events)
        if how == "slow to read":
            await web.open()  # which reads all as it happens
            browser.reads.clear()
        while not replay.over:
            replay.next()
            if how == "slow to read":
                await web.heard()
        await web.end()

        late = [event for event in browser.events[told:] if event["kind"] == "changes"]
        for event in late:
            live = [one for one in event["changes"] if one.get("live")]
            assert not live or event["generation"] >= fenced, (behind, live)
        wholes += web.drawn(modules)[:1]
    if replay.session.active is None:  # else some of it may wait for its end
        for whole in wholes[1:]:
            assert said(whole) == said(wholes[0])


def said(drawn: str) -> list[str]:
    """All that runs said, as the page has it."""
    items = [item for item in json.loads(drawn)["items"] if item["kind"] == "turn"]
    parts = [(item["run"], part) for item in items for part in item["parts"]]
    return [f"{run} {part['text']}" for run, part in parts if part["kind"] == "text"]
