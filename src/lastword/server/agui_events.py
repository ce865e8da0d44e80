"""One run of a session in the words of AG-UI 1.0: each change of the picture, as events.

The protocol's run is a request; ours may outlast it. A run that asks a person ends the protocol's
run with an interrupt, and waits. One that was stopped or replaced ends it as cancelled, after the
receipt. An encoder is handed only what may leave, and says in the same step what that is here; once
it is `over` it says nothing more. What only this protocol's clients lack (queue, receipts, output,
programs, notes) is told in events of our own, `lastword.*`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, assert_never

from lastword.core import scene
from lastword.core.model import CallId, Message, MessageId, Outcome, RunId
from lastword.core.picture import Picture
from lastword.core.question import Question
from lastword.core.rows import headline
from lastword.core.scene import CallPart, Change, Item, Part, ReceiptItem, TurnItem
from lastword.core.turns import SETTLED
from lastword.server.agui_past import messages, result
from lastword.server.shapes import Shapes
from lastword.surfaces.words import question_lines

Event: TypeAlias = dict[str, Any]
Spoken: TypeAlias = Literal["text", "thinking"]
Grown: TypeAlias = Literal[Spoken, "progress", "output"]
VERSION = "1.0"
_SAID = {Outcome.COMPLETED, Outcome.FAILED}  # nobody ended it, so there is no receipt
_STARTS: dict[Spoken, list[Event]] = {
    "text": [{"type": "TEXT_MESSAGE_START", "role": "assistant"}],
    "thinking": [
        {"type": "REASONING_START"},
        {"type": "REASONING_MESSAGE_START", "role": "reasoning"},
    ],
}
_CONTENT = {"text": "TEXT_MESSAGE_CONTENT", "thinking": "REASONING_MESSAGE_CONTENT"}
_ENDS: dict[Spoken, list[Event]] = {
    "text": [{"type": "TEXT_MESSAGE_END"}],
    "thinking": [{"type": "REASONING_MESSAGE_END"}, {"type": "REASONING_END"}],
}
_WITHDRAWN = "Taken back before its turn came: nothing of it was done."  # it may have no receipt
_ANSWER: Event = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "always": {"type": "boolean"},
        "scope": {"type": "string"},
    },
    "required": ["approved"],
}


class AguiRun(NamedTuple):
    """What a stream tells of, by the names that its client has for it, and by ours."""

    thread: str
    request: str  # what the protocol calls a run
    messages: tuple[MessageId, ...]  # that are answered; none for who only joins what is going
    run: Callable[[], RunId | None]  # another one once they were collected or taken up
    cancels: bool  # whether the client knows that a run can be cancelled
    asked_for: bool = False  # or was going anyhow
    new: tuple[Message, ...] = ()  # the messages, if what follows them is all to be told


class Encoder:
    """One stream's."""

    def __init__(self, about: AguiRun, shapes: Shapes) -> None:
        self._about = about
        self._shapes = shapes
        self._open: tuple[Spoken, str] | None = None  # what is being said, and its id
        self._calls: dict[int, CallId] = {}  # that were told and have no result, by their places
        self._began = False
        self._waits = False  # for its turn
        self._queued = False  # behind a run that is going
        self._outcome = ""  # of a run that was ended, while its receipt is waited for
        self._usage: list[Event] = []
        self.over = False

    def first(self, picture: Picture, ended: Outcome | None = None) -> list[Event]:
        """Where it begins: all that was said before, and how it ended if it has."""
        run, new = self._about.run(), self._about.new
        told = [self._started(), messages(picture, self._shapes, new)]
        for item in picture.items:
            match item:
                case TurnItem(head, parts) if head.run == (picture.phase.active if new else run):
                    self._began, self._calls = not new, dict(_open_calls(parts))
                    told += [] if new else self._stands(head.outcome, head.error)
                case scene.MessageItem(message, outcome, error) if self._answers([message]):
                    told += self._stands(outcome, error)
                case ReceiptItem() if self._is_ours(item):
                    told += self._receipt(item)
                case _:
                    pass  # in the snapshot
        self._waits = self._answers(picture.pending)
        self._queued = self._answers(one.message.id for one in picture.queue.messages)
        return told if self.over or new else told + self._goes_on(ended)

    def _goes_on(self, ended: Outcome | None) -> list[Event]:
        if ended:  # longer ago than the picture goes back, or by what left no receipt
            return self._stands(ended.value, "") if ended in _SAID else self._cancelled(ended.value)
        return [] if self._began or self._waits or self._outcome else self._finished()

    def tell(self, changes: Iterable[Change]) -> list[Event]:
        """What is different, as far as it is told here."""
        told, waited = list[Event](), self._waits
        for change in changes:
            if not self.over:
                told += self._change(change)
        if waited and not (self._waits or self._began or self._outcome or self.over):
            told += self._cancelled(Outcome.WITHDRAWN)  # and said nowhere again
        return told

    def asked(self, questions: Sequence[Question]) -> list[Event]:
        """What a person was asked before this began, and is still: whose turn comes after the run
        that asks waits for the answer, too."""
        if not questions or self.over or self._outcome or not (self._began or self._queued):
            return []
        asks = [self._interrupt(one) for one in questions]
        return self._finished(outcome={"type": "interrupt", "interrupts": asks})

    def failed(self, code: str, why: str) -> list[Event]:
        """Nothing more comes."""
        told = [*self._close(), {"type": "RUN_ERROR", "message": why, "code": code}]
        self.over = True
        return told

    def _change(self, change: Change) -> Iterator[Event]:  # noqa: C901, PLR0912, PLR0915 - one match
        match change:
            case scene.PartIs(run, place, part, live):
                if run == self._about.run():
                    yield from self._part(place, part, live=live)
            case scene.Grew(run, place, text, of, _, live):
                if run == self._about.run() and live:  # what a stop was quicker than is on record
                    yield from self._grew(place, text, of)
            case scene.PartGone(run, place):
                if run == self._about.run():
                    yield from self._close()  # the places behind it are others
                    self._calls = {at - (at > place): one for at, one in self._calls.items()}
            case scene.TurnIs(head):
                if head.run == self._about.run():
                    yield from self._stands(head.outcome, head.error)
            case scene.Placed(item) | scene.ItemIs(item):
                yield from self._item(item)
            case scene.PendingIs(messages):
                self._waits = self._answers(messages)
            case scene.QueueIs(queue):
                self._queued = self._answers(one.message.id for one in queue.messages)
                yield _custom("queue", self._shapes.queue(queue))
            case scene.AskOpened(question):
                if self._began:
                    yield from self.asked([question])
            case scene.ProgramIs(cell):
                yield _custom("program", self._shapes.cell(cell))
            case scene.UsageIs(run, model, read, written):
                if run == self._about.run():
                    counted = {"inputTokens": read, "outputTokens": written}
                    self._usage.append({"model": model, **counted})
            case scene.ItemGone() | scene.MessageIs():
                pass  # the client has its own words; the next snapshot has everybody's
            case scene.AskClosed() | scene.WaitIs():
                pass  # the request that resumes it tells what follows
            case scene.ProcessIs() | scene.ProcessStarts() | scene.PhaseIs():
                pass  # the call that started it is told; a run goes on until its end is told
            case _:
                assert_never(change)

    # the run

    def _started(self) -> Event:
        run = self._about.run()
        ours = {"lastword": {"run": self._shapes.out(run) if run else None}}
        return self._of_run("RUN_STARTED", protocolVersion=VERSION, metadata=ours)

    def _of_run(self, kind: str, **more: object) -> Event:
        about = self._about
        return {"type": kind, "threadId": about.thread, "runId": about.request, **more}

    def _stands(self, outcome: str, error: str) -> list[Event]:
        """A run, or a message that got none, with the outcome it has, if it has one."""
        if not outcome:
            return []
        if outcome in _SAID:
            failed = outcome == Outcome.FAILED
            return self.failed(outcome, error or "the run failed") if failed else self._finished()
        self._outcome = outcome
        return list(self._close())  # the receipt is waited for

    def _finished(self, **more: object) -> list[Event]:
        usage = {"usage": self._usage} if self._usage else {}
        more = more or {"outcome": {"type": "success"}}
        told = [*self._close(), self._of_run("RUN_FINISHED", **more, **usage)]
        self.over = True
        return told

    def _cancelled(self, outcome: str, words: str = "") -> list[Event]:
        words = words or (_WITHDRAWN if outcome == Outcome.WITHDRAWN else "")
        how = {"outcome": {"type": "cancelled"}} if self._about.cancels else {}
        return self._finished(result={"outcome": outcome, "words": words}, **how)

    def _interrupt(self, question: Question) -> Event:
        known = CallId(question.call) in self._calls.values()
        return {
            "id": interrupt_id(question),
            "reason": "tool_call",
            "message": "\n".join(question_lines(question)),
            **({"toolCallId": self._shapes.out(question.call)} if known else {}),
            "responseSchema": _ANSWER,
            "metadata": {"lastword": self._shapes.question(question)},
        }

    def _item(self, item: Item) -> Iterator[Event]:
        match item:
            case TurnItem():
                pass  # it follows the message
            case scene.MessageItem(message, outcome, error):
                if self._answers([message]):
                    self._began, self._calls = True, {}
                    yield from self._stands(outcome, error)
            case ReceiptItem():
                yield from self._receipt(item)
            case scene.NoteItem(text=text):
                yield _custom("note", text)
            case _:
                assert_never(item)

    def _receipt(self, item: ReceiptItem) -> Iterator[Event]:
        told = self._shapes.receipt(item.receipt, settled=item.settled)
        yield _custom("receipt", told)
        if self._is_ours(item):
            outcome = self._outcome or item.receipt.reason.value
            yield from self._cancelled(outcome, headline(told.rows))

    def _is_ours(self, item: ReceiptItem) -> bool:
        dropped = [m.message.id for m in item.receipt.messages if m.fate == "dropped"]
        return self._about.run() in item.receipt.runs or self._answers(dropped)

    def _answers(self, messages: Iterable[MessageId]) -> bool:
        """Whether what is told here answers one of these."""
        return not set(self._about.messages).isdisjoint(messages)

    # what it says and does

    def _part(self, place: int, part: Part, *, live: bool) -> Iterator[Event]:
        match part:
            case scene.Words(kind):
                if live:
                    yield from self._grew(place, part.text, kind)
            case CallPart():
                yield from self._call(place, part, live=live)
            case scene.Aside(text):
                yield _custom("note", text)
            case scene.Joined(message):
                self._began = self._began or self._answers([message])
            case _:
                assert_never(part)

    def _grew(self, place: int, text: str, of: Grown) -> Iterator[Event]:
        if of == "progress":
            yield _custom(of, text)
        elif of == "output":
            if call := self._calls.get(place):
                yield _custom(of, {"toolCallId": self._shapes.out(call), "text": text})
        else:
            id_ = f"{self._shapes.out(self._about.run() or '')}/{place}"
            if self._open != (of, id_):
                yield from self._close()
                self._open = of, id_
                yield from _each(_STARTS[of], id_)
            yield {"type": _CONTENT[of], "messageId": id_, "delta": text}

    def _close(self) -> Iterator[Event]:
        if self._open:
            (of, id_), self._open = self._open, None
            yield from _each(_ENDS[of], id_)

    def _call(self, place: int, made: CallPart, *, live: bool) -> Iterator[Event]:
        """That one is to be made is dropped after a stop; how one ended that was told is not."""
        id_ = self._shapes.out(made.call)
        if made.status in SETTLED:
            if self._calls.pop(place, None):
                yield {
                    "type": "TOOL_CALL_RESULT",
                    **result(id_, made),
                    "messageId": f"{id_}/result",
                }
        elif live and made.nature != "post" and place not in self._calls:
            self._calls[place] = made.call
            yield from self._close()
            yield {"type": "TOOL_CALL_START", "toolCallId": id_, "toolCallName": made.name}
            yield {"type": "TOOL_CALL_ARGS", "toolCallId": id_, "delta": made.arguments}
            yield {"type": "TOOL_CALL_END", "toolCallId": id_}


def interrupt_id(question: Question) -> str:
    """It says what is answered, and as it was seen at which generation."""
    return f"{question.id}@{question.generation}"


def _custom(name: str, value: object) -> Event:
    return {"type": "CUSTOM", "name": f"lastword.{name}", "value": value}


def _each(events: Iterable[Event], id_: str) -> Iterator[Event]:
    return ({**one, "messageId": id_} for one in events)


def _open_calls(parts: Iterable[Part]) -> Iterator[tuple[int, CallId]]:
    for place, one in enumerate(parts):
        if isinstance(one, CallPart) and one.nature != "post" and one.status not in SETTLED:
            yield place, one.call
