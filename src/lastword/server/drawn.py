"""A picture of a session, and its changes, on the wire, by the names that its principal knows.

What a thread puts into words is a copy (`still`), in which nothing is live that is fenced by then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from msgspec.structs import asdict

from lastword.core import scene
from lastword.core.asks import Answer
from lastword.core.picture import Picture
from lastword.core.question import Question
from lastword.core.scene import Change, Item, Part, Phase
from lastword.core.story import is_silenced
from lastword.server import change_wire as out
from lastword.server.shapes import Shapes

_WORDS = {"text": out.TextOut, "thinking": out.ThinkingOut, "progress": out.ProgressOut}


class Drawn:
    """For one principal's space."""

    def __init__(self, shapes: Shapes) -> None:
        self._shapes = shapes
        self._out = shapes.out

    def past(self, picture: Picture, before: int) -> out.PastOut:
        """What a part of the log shows, which so many entries come before."""
        return out.PastOut(
            items=self.items(picture.items),
            messages=[self.said(one) for one in picture.messages.values()],
            pending=list(picture.pending),
            waits=[self.wait(one) for one in picture.waits.values()],
            before=before + 1,
            more=before > 0,
        )

    def change(self, change: Change) -> out.AnyChange:  # noqa: C901, PLR0911, PLR0912 - one match
        """What is different."""
        shapes, name = self._shapes, self._out
        match change:
            case scene.Grew(run, place, text, of, at, live):
                return out.GrewOut(name(run), place, text, of, at, live)
            case scene.PartIs(run, place, part, live):
                return out.PartIsOut(name(run), place, self.part(part), live)
            case scene.PartGone(run, place):
                return out.PartGoneOut(name(run), place)
            case scene.Placed(item, before):
                return out.PlacedOut(self.item(item), before and self._key(before))
            case scene.ItemIs(item):
                return out.ItemIsOut(self._plain(item))
            case scene.ItemGone(key):
                return out.ItemGoneOut(self._key(key))
            case scene.TurnIs(head):
                return out.TurnIsOut(self._head(head))
            case scene.MessageIs(said):
                return out.MessageIsOut(self.said(said))
            case scene.PendingIs(messages):
                return out.PendingIsOut(list(messages))
            case scene.QueueIs(queue):
                return out.QueueIsOut(shapes.queue(queue))
            case scene.AskOpened(question, live):
                return out.AskOpenedOut(shapes.question(question), live)
            case scene.AskClosed(question, answer):
                return out.AskClosedOut(question, _answer(answer))
            case scene.WaitIs(wait):
                return out.WaitIsOut(self.wait(wait))
            case scene.ProcessIs(span):
                return out.ProcessIsOut(shapes.process(span))
            case scene.ProcessStarts(news, live):
                return out.ProcessStartsOut(name(news.run), news.command, live)
            case scene.ProgramIs(cell):
                return out.ProgramIsOut(shapes.cell(cell))
            case scene.UsageIs(run, model, read, written, live):
                return out.UsageIsOut(name(run), model, read, written, live)
            case scene.PhaseIs(phase, live):
                return out.PhaseIsOut(self.phase(phase), live)
            case _:
                assert_never(change)

    def items(self, items: Iterable[Item]) -> list[out.ItemOut]:
        """What stands below one another. Those of a page take a while."""
        return [self.item(one) for one in items]

    def item(self, item: Item) -> out.ItemOut:
        """One of them."""
        match item:
            case scene.TurnItem(head, parts):
                known, drawn = asdict(self._head(head)), [self.part(one) for one in parts]
                return out.TurnItemOut(**known, key=self._key(item.key), parts=drawn)
            case scene.NoteItem(key, text):
                return out.NoteItemOut(str(key), text)
            case scene.MessageItem() | scene.ReceiptItem():
                return self._plain(item)
            case _:
                assert_never(item)

    def _plain(
        self, item: scene.MessageItem | scene.ReceiptItem
    ) -> out.MessageItemOut | out.ReceiptItemOut:
        if isinstance(item, scene.MessageItem):
            return out.MessageItemOut(str(item.key), item.message, item.outcome, item.error)
        told = self._shapes.receipt(item.receipt, settled=item.settled)
        return out.ReceiptItemOut(str(item.key), told, item.settled)

    def _key(self, key: scene.Key) -> str:
        return str(key._replace(name=self._out(key.name)) if key.kind == "run" else key)

    def _head(self, head: scene.TurnHead) -> out.TurnHeadOut:
        return out.TurnHeadOut(
            self._out(head.run),
            head.generation,
            head.at,
            head.until,
            head.fenced_at,
            head.outcome,
            head.error,
            head.rollback,
        )

    def part(self, part: Part) -> out.PartOut:
        """Something that a run said or did."""
        match part:
            case scene.Words(kind, _, at, until):
                return _WORDS[kind](part.text, at, until)
            case scene.CallPart():
                return out.CallPartOut(
                    self._out(part.call),
                    part.name,
                    part.arguments,
                    part.nature,
                    part.status,
                    part.content,
                    part.error,
                    part.output,
                    part.at,
                    part.began,
                    part.until,
                    _answer(part.answer),
                )
            case scene.Joined(message):
                return out.JoinedOut(message)
            case scene.Aside(text):
                return out.AsideOut(text)
            case _:
                assert_never(part)

    def said(self, said: scene.SaidMessage) -> out.SaidOut:
        """A message."""
        message = self._shapes.message(said.message)
        return out.SaidOut(
            message.id, message.text, message.by, message.origin, message.attachments, said.at
        )

    def wait(self, wait: scene.Wait) -> out.WaitOut:
        """A call that waits for a person."""
        call, run = self._out(wait.call), self._out(wait.run)
        return out.WaitOut(call, run, wait.tool, wait.at, wait.until, _answer(wait.answer))

    def phase(self, phase: Phase) -> out.PhaseOut:
        """What is going on."""
        active = None if phase.active is None else self._out(phase.active)
        ending = [str(self._shapes.left(one)) for one in phase.ending]
        return out.PhaseOut(phase.generation, active, phase.typing, ending, phase.level)


def _answer(answer: Answer | None) -> out.ToldAnswer | None:
    return answer and out.ToldAnswer(answer.allowed, answer.by, answer.scope)


def still(picture: Picture, fenced: int, asked: Iterable[Question]) -> Picture:
    """What a thread may look at while the other goes on: what is changed in its place is copied.
    What is fenced is not going on any more, though nobody has told of that yet; what a run that
    was kept has `asked` is."""
    copy = Picture(picture.session)
    copy.seen, copy.phase, copy.queue = picture.seen, picture.phase, picture.queue
    copy.items[:] = [
        _copied(item) if isinstance(item, scene.TurnItem) else item for item in picture.items
    ]
    copy.messages.update(picture.messages)
    copy.pending[:] = picture.pending
    copy.waits, copy.programs = dict(picture.waits), dict(picture.programs)
    copy.processes = dict(picture.processes)
    if not is_silenced(picture.phase.generation, fenced):
        copy.questions = dict(picture.questions)
    else:
        open_ = {one.id for one in asked}
        copy.questions = {id_: one for id_, one in picture.questions.items() if id_ in open_}
        copy.phase = replace(picture.phase, typing=False)
    return copy


def _copied(turn: scene.TurnItem) -> scene.TurnItem:
    parts: list[Part] = [
        replace(part, pieces=list(part.pieces)) if isinstance(part, scene.Words) else part
        for part in turn.parts
    ]
    return scene.TurnItem(turn.head, parts)
