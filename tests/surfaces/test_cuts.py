"""W53. Who comes at any fact of a story has all of it in the end, on every surface."""

from __future__ import annotations

from typing import Any

import pytest

from lastword.core.entries import Text, Thinking, Unshown
from lastword.core.picture import Picture
from lastword.core.scene import TurnItem, Words
from tests.core.picture_laws import lasting
from tests.server.page_node import Modules
from tests.surfaces.lasting import lasting_page
from tests.surfaces.recording import Recording
from tests.surfaces.replay import Replay, looked_at, pictured
from tests.surfaces.screens import Editor, Terminal
from tests.surfaces.stories import STORIES, recorded
from tests.surfaces.web import Web

W53 = pytest.mark.scenario("W53", part="surfaces")
EACH = pytest.mark.parametrize("name", STORIES)
_SHOWN = 2  # turns that who comes back to a terminal is told of


def moments(recording: Recording) -> list[int]:
    """At which somebody looked at the whole log, and at a page of it."""
    return sorted(recording.views.keys() & recording.pages.keys())


def whole(recording: Recording) -> list[dict[str, object]]:
    """What is seen in the end by who was there, and by who reads the log: the same, unless a sink
    has not delivered something, which is then not on record as seen."""
    there = pictured(recording, len(recording.events))
    later = looked_at(recording.views[max(recording.views)])
    every = [lasting(there), lasting(later)]
    if not any(isinstance(one, Unshown) for one in recording.stored):
        assert every[0] == every[1]
    return every


@W53
@EACH
async def test_the_log_at_any_moment_and_the_rest_are_all_of_it(name: str) -> None:
    recording = await recorded(name)
    found = whole(recording)

    for moment in (*recording.views.values(), *recording.pages.values()):
        picture = looked_at(moment)
        for event in recording.events[moment.read.number :]:
            picture.hear(event, event.generation)
        assert lasting(picture) in found, moment.read.number


@W53
@EACH
async def test_a_browser_that_opens_at_any_fact_shows_what_the_first_one_does(
    name: str, modules: Modules
) -> None:
    replay = Replay(await recorded(name))
    web = Web(replay)
    await web.open()
    while not replay.over:
        replay.next()
        await web.heard()
        await web.open()
    await web.end()

    first, *others = web.drawn(modules)
    assert others
    for at, other in enumerate(others, 1):
        assert other == first, at


@W53
@EACH
async def test_a_browser_that_is_the_first_at_any_moment_shows_all_that_lasts(
    name: str, modules: Modules
) -> None:
    recording = await recorded(name)
    drawn: list[dict[str, Any]] = []
    for at in moments(recording):
        web = Web(Replay(recording, at))
        await web.open()
        await web.rest()
        drawn += map(lasting_page, web.drawn(modules))

    found = [drawn[0], drawn[-1]]
    if not any(isinstance(one, Unshown) for one in recording.stored):
        assert drawn[0] == drawn[-1]
    assert all(one in found for one in drawn)


@W53
@EACH
async def test_an_editor_that_opens_at_any_fact_is_told_all_of_it_once(name: str) -> None:
    recording = await recorded(name)
    if any(isinstance(one, Unshown) for one in recording.stored):
        return  # who was there has heard what is not on record as seen

    editors = [
        await told_from(recording, at, pictured(recording, at))
        for at in range(recording.first, len(recording.events) + 1)
    ]
    editors += [
        await told_from(recording, at, looked_at(moment)) for at, moment in recording.views.items()
    ]

    first, *others = editors
    for other in others:
        assert other.open_asks == first.open_asks
        assert other.said == first.said
        assert other.calls == first.calls
        assert over(other) == over(first)
        for thought in recording.told(Thinking):
            assert other.thought.count(thought.text) == 1


async def told_from(recording: Recording, at: int, before: Picture) -> Editor:
    """An editor that opened the session then."""
    replay = Replay(recording, at)
    editor = Editor(replay)
    await editor.open_again(before)
    while not replay.over:
        replay.next()
        await editor.hear()
    await editor.close()
    return editor


def over(editor: Editor) -> dict[str, str]:
    """How calls ended that it was told of."""
    return {c: s for c, s in editor.ends.items() if s != "in_progress" and c in editor.calls}


@W53
@EACH
async def test_who_comes_back_to_a_terminal_is_told_the_last_turns_and_then_the_rest(
    name: str,
) -> None:
    recording = await recorded(name)
    for at, moment in recording.views.items():
        replay = Replay(recording, at)
        terminal = Terminal(replay)
        await terminal.open()
        while not replay.over:
            replay.next()
            terminal.hear()
        shown = terminal.shown.split()

        before = looked_at(moment)
        turns = [item for item in before.items if isinstance(item, TurnItem)]
        parts = [part for turn in turns[-_SHOWN:] for part in turn.parts]
        words = [p.text for p in parts if isinstance(p, Words) and p.kind == "text"]
        rest = [event.fact.text for event in recording.events[at:] if isinstance(event.fact, Text)]
        for word in " ".join([*words, *rest]).split():
            assert shown.count(word) == 1, (at, word, terminal.shown)
