"""Whoever draws: it applies changes to what it had, and knows nothing else of a session."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any, assert_never

from lastword.core import scene
from lastword.core.picture import Picture
from lastword.core.scene import Change, TurnItem
from tests.core.explorer import must


class Screen:
    def __init__(self) -> None:
        self.items: list[scene.Item] = []
        self.messages: dict[str, object] = {}
        self.pending: tuple[str, ...] = ()
        self.queue: object = Picture(scene_session()).queue
        self.questions: dict[str, object] = {}
        self.waits: dict[str, object] = {}
        self.processes: dict[object, object] = {}
        self.programs: dict[str, object] = {}
        self.phase = scene.Phase()

    def draw(self, changes: list[Change]) -> None:
        for change in changes:
            self._apply(change)

    def _apply(self, change: Change) -> None:  # noqa: PLR0912 - one match
        match change:
            case scene.Placed(item, before):
                place = len(self.items) if before is None else self._place(before)
                self.items.insert(place, deepcopy(item))
            case scene.ItemIs(item):
                self.items[self._place(item.key)] = item
            case scene.ItemGone(key):
                del self.items[self._place(key)]
            case scene.TurnIs(head):
                self._turn(head.run).head = head
            case scene.PartIs(run, place, part):
                parts = self._turn(run).parts
                parts[place : place + 1] = [deepcopy(part)]
            case scene.PartGone(run, place):
                del self._turn(run).parts[place]
            case scene.Grew(run, place, text, _, at):
                self._grow(self._turn(run), place, text, at)
            case scene.MessageIs(said):
                self.messages[said.message.id] = said
            case scene.PendingIs(messages):
                self.pending = messages
            case scene.QueueIs(queue):
                self.queue = queue
            case scene.AskOpened(question):
                self.questions[question.id] = question
            case scene.AskClosed(question):
                del self.questions[question]
            case scene.WaitIs(wait):
                self.waits[wait.call] = wait
            case scene.ProcessIs(span):
                self.processes[span.key] = span
            case scene.ProgramIs(cell):
                self.programs[cell.id] = cell
                if cell.record.ending:
                    del self.programs[cell.id]
            case scene.PhaseIs(phase):
                self.phase = phase
            case scene.ProcessStarts() | scene.UsageIs():
                pass
            case _:
                assert_never(change)

    def _place(self, key: scene.Key) -> int:
        keys = [one.key for one in self.items]
        must(key in keys, "a change is of what is there")
        return keys.index(key)

    def _turn(self, run: str) -> TurnItem:
        [turn] = [one for one in self.items if isinstance(one, TurnItem) and one.head.run == run]
        return turn

    def _grow(self, turn: TurnItem, place: int, text: str, at: float) -> None:
        part = turn.parts[place]
        if isinstance(part, scene.Words):
            part.pieces.append(text)
            part.until = max(part.until, at)
        else:
            assert isinstance(part, scene.CallPart)
            turn.parts[place] = replace(part, output=part.output + text)


def scene_session() -> Any:
    return "s"


def seen_in(shown: Screen | Picture) -> dict[str, object]:
    """All that can be seen, as plain values."""
    for item in shown.items:
        if isinstance(item, TurnItem):
            for part in item.parts:
                if isinstance(part, scene.Words):
                    _ = part.text  # in one piece
    return {
        "items": list(shown.items),
        "messages": dict(shown.messages),
        "pending": tuple(shown.pending),
        "queue": shown.queue,
        "questions": dict(shown.questions),
        "waits": dict(shown.waits),
        "processes": dict(shown.processes),
        "programs": dict(shown.programs),
        "phase": shown.phase,
    }
