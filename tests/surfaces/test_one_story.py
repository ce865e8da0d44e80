"""W53. The same stories, on every surface that draws from the picture: what each of them showed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

import pytest

from lastword.acp.asking import OpenAsks
from lastword.acp.frontiers import Frontiers
from lastword.acp.showing import Showing, told_again
from lastword.cli.chat.paint import Paint
from lastword.cli.chat.telling import MORE, Telling
from lastword.core import story
from lastword.core.cell import StoredCell
from lastword.core.entries import Called, Result, Text, Thinking
from lastword.core.model import RunId
from lastword.core.picture import Picture
from lastword.core.question import Question
from lastword.core.receipt import Receipt
from lastword.core.recovery import Recovery
from lastword.core.scene import Change, is_live
from lastword.core.story import FACTS, FeedEvent, ProcessNews, may_leave
from tests.core.picture_alphabet import made
from tests.core.picture_world import SESSION, World
from tests.surfaces.stories import of, stories

W53 = pytest.mark.scenario("W53", part="surfaces")
NOT_TOLD = {"Declined", "Unshown", "Recovery"}


class Programs:
    """What is heard of them."""

    def __init__(self) -> None:
        self.heard: list[StoredCell] = []

    def hear(self, cell: StoredCell) -> None:
        self.heard.append(cell)


class Asked:
    """What can be answered."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.ever: list[str] = []

    def opened(self, question: Question) -> None:
        self.open.append(question.id)
        self.ever.append(question.id)

    def closed(self, id: str) -> None:
        self.open.remove(id)


class Editor:
    """An editor, as far as it is told something."""

    def __init__(self) -> None:
        self.updates: list[dict[str, Any]] = []
        self.programs = Programs()
        self.asked = Asked()
        self._showing = Showing(self._tell, "/", 1000)

    def _tell(self, update: dict[str, Any], may_leave: Callable[[], bool]) -> None:
        if may_leave():
            self.updates.append(update)

    def hear(
        self, changes: list[Change], picture: Picture, may_leave: Callable[[Change], bool]
    ) -> None:
        for change in changes:
            frontiers, asking = cast("Frontiers", self.programs), cast("OpenAsks", self.asked)
            leaves = lambda one=change: may_leave(one)  # noqa: E731 - each of its own
            self._showing.show(change, leaves, picture, frontiers, asking)

    def words(self, kind: str) -> str:
        told = [u for u in self.updates if u["sessionUpdate"] == kind]
        return "".join(u["content"]["text"] for u in told)

    @property
    def calls(self) -> list[str]:
        return [u["toolCallId"] for u in self.updates if u["sessionUpdate"] == "tool_call"]

    def ends(self) -> dict[str, str]:
        told = [u for u in self.updates if u["sessionUpdate"] == "tool_call_update"]
        return {u["toolCallId"]: u["status"] for u in told if "status" in u}


class Terminal:
    """A terminal: what was written on it."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.telling = Telling(self, Paint(lambda: 200), lambda _: None)

    def write(self, text: str) -> None:
        self.written.append(re.sub(r"\x1b\[[0-9;]*m", "", text))

    def draw_soon(self) -> None: ...

    @property
    def shown(self) -> str:
        self.telling.finish()
        return "\n".join(self.written)


def drive(world: World, behind: int | None = None) -> tuple[Editor, Terminal, list[FeedEvent]]:
    """Everything is told as it happens; or, after so many, all the rest after the last fence."""
    editor, terminal, picture = Editor(), Terminal(), Picture(SESSION)
    last = max(event.generation for event in world.events)
    for event in world.events:
        late = behind is not None and event.number > behind
        fenced = last if late else event.generation
        changes = picture.hear(event, fenced)

        def may_leave(change: Change, event: FeedEvent = event, fenced: int = fenced) -> bool:
            return event.generation >= fenced or not is_live(change)

        editor.hear(changes, picture, may_leave)
        terminal.telling.tell(changes)
    return editor, terminal, world.events


@W53
async def test_every_fact_that_is_told_is_in_the_stories() -> None:
    told = {type(event.fact).__name__ for moves in stories() for event in made(moves).events}

    assert told | NOT_TOLD == {fact.__name__ for fact in FACTS}
    assert len(stories()) >= 40


@W53
@pytest.mark.parametrize("moves", stories(), ids=" ".join)
async def test_terminal_and_editor_tell_the_same_words_and_calls_once(
    moves: tuple[str, ...],
) -> None:
    world = made(moves)
    editor, terminal, _ = drive(world)
    shown = terminal.shown

    said = [fact.text for fact in of(world, Text)]
    assert editor.words("agent_message_chunk") == "".join(said)
    for text in [*said, *(fact.text for fact in of(world, Thinking))]:
        assert shown.count(text.strip()) == 1
    assert editor.calls == [fact.call for fact in of(world, Called)]
    ended = {fact.call for fact in of(world, Result)}
    assert {call for call, status in editor.ends().items() if status != "in_progress"} == ended
    assert shown.count("· tool") == len(ended)
    starting = [fact for fact in of(world, ProcessNews) if fact.state == "starting"]
    assert shown.count("$ sleep") == len(starting)
    receipts = [fact for fact in of(world, Receipt) if fact.reason == "stopped"]
    assert shown.count("■") == len(receipts)
    assert editor.asked.ever == [fact.ask for fact in of(world, story.Asked)]
    assert editor.asked.open == [question.id for question in world.questions]


@W53
@pytest.mark.parametrize("moves", stories(), ids=" ".join)
async def test_whoever_is_behind_tells_nothing_of_a_run_after_its_fence(
    moves: tuple[str, ...],
) -> None:
    world = made(moves)
    last = max(event.generation for event in world.events)
    for behind in range(len(world.events)):
        editor, terminal, events = drive(world, behind)
        in_time = [
            event.fact.text
            for event in events
            if isinstance(event.fact, Text) and (event.number <= behind or event.generation >= last)
        ]
        assert editor.words("agent_message_chunk") == "".join(in_time)
        may_be = {
            event.fact.ask
            for event in events
            if isinstance(event.fact, story.Asked)
            and (event.number <= behind or may_leave(event, last))
        }
        assert set(editor.asked.ever) == may_be
        shown = terminal.shown
        for text in [fact.text for fact in of(world, Text)]:
            assert shown.count(text.strip()) == (text in in_time)
        if len(in_time) < len(of(world, Text)) and world.active is None:
            assert MORE in shown  # the person knows that there was more


@W53
async def test_an_editor_hears_that_what_was_still_ending_has_ended() -> None:
    editor, terminal, _ = drive(made(("say", "text", "stop_slowly", "settle")))

    assert "What was still ending has ended." in editor.words("agent_thought_chunk")
    assert "What was still ending has ended" in terminal.shown


@W53
async def test_an_editor_and_a_terminal_hear_what_was_found_after_a_restart() -> None:
    world = World(generation=1)
    world.tell(Recovery(lost=(RunId("s#1"),)))
    editor, terminal, _ = drive(world)

    found = "After a restart: the answer that was going is lost."
    assert editor.words("agent_thought_chunk") == found
    assert found in terminal.shown


@W53
@pytest.mark.scenario("W57", part="surfaces")
@pytest.mark.parametrize("moves", stories(), ids=" ".join)
async def test_who_opens_a_session_is_told_what_those_heard_who_were_there(
    moves: tuple[str, ...],
) -> None:
    world = made(moves)
    editor, _, _ = drive(world)
    picture, again = Picture(SESSION), Editor()
    picture.record([entry for _, entry in world.log])
    again.updates = list(told_again(picture, "/", world.active))

    assert again.words("agent_message_chunk") == editor.words("agent_message_chunk")
    assert again.calls == editor.calls
    notes = [fact.text for fact in (*of(world, story.Note), *of(world, story.LeftOut))]
    notes += ["summarised for the model" for _ in of(world, story.Summary)]
    for words in (again.words("agent_thought_chunk"), editor.words("agent_thought_chunk")):
        assert all(words.count(note) == notes.count(note) for note in notes)
    ended = {fact.call for fact in of(world, Result)}
    assert {c: s for c, s in again.ends().items() if c in ended} == {
        c: s for c, s in editor.ends().items() if c in ended
    }
