"""What stands below one another in a picture: messages, turns that answer them, receipts, notes.

Every function is one fact. Each can be heard again, or after what came later, without harm.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Literal

from lastword.core.asks import Answer
from lastword.core.entries import Called, Finished, Result
from lastword.core.model import (
    CallId,
    Generation,
    Message,
    MessageId,
    Outcome,
    Reason,
    RunId,
    Status,
)
from lastword.core.receipt import Receipt, Unconfirmed
from lastword.core.scene import (
    Aside,
    CallPart,
    Change,
    Grew,
    Item,
    ItemGone,
    ItemIs,
    Joined,
    Key,
    MessageIs,
    MessageItem,
    NoteItem,
    Part,
    PartGone,
    PartIs,
    PendingIs,
    Placed,
    ReceiptItem,
    SaidMessage,
    TurnHead,
    TurnIs,
    TurnItem,
    Words,
)

SETTLED = frozenset({Status.COMPLETED, Status.NOT_STARTED, Status.MAY_HAVE_EXECUTED})
_MOST_OUTPUT = 60_000  # characters of a call's output that are kept; the newest


class Turns:
    """One session's, or those of a part of its log."""

    def __init__(self, changed: Callable[[Change], object], *, notes: str = "note") -> None:
        self.items: list[Item] = []
        self.messages: dict[MessageId, SaidMessage] = {}
        self.pending: list[MessageId] = []  # accepted, and not among the items
        self._placed: set[MessageId] = set()
        self._turns: dict[RunId, TurnItem] = {}
        self._calls: dict[CallId, tuple[RunId, int]] = {}  # where each is
        self._notes = notes  # what the keys of notes begin with
        self._changed = changed

    # messages

    def said(self, message: Message, at: float, instead: RunId | None = None) -> None:
        """A message was accepted, or edited while it waited. It may take the place of a turn."""
        if instead and (turn := self._turns.get(instead)):
            self._head(turn, replace(turn.head, rollback=True))
        known = self.messages.get(message.id)
        said = SaidMessage(message, known.at if known else at)
        if said != known:
            self.messages[message.id] = said
            self._changed(MessageIs(said))
        if message.id not in self._placed and message.id not in self.pending:
            self.pending.append(message.id)
            self._changed(PendingIs(tuple(self.pending)))

    def _take(self, id: MessageId) -> None:
        self._placed.add(id)
        if id in self.pending:
            self.pending.remove(id)
            self._changed(PendingIs(tuple(self.pending)))

    def _place(self, id: MessageId, outcome: str = "", error: str = "") -> None:
        if id not in self._placed:
            self._take(id)
            self._put(MessageItem(id, outcome, error))

    def _put(self, item: Item, place: int | None = None) -> None:
        place = len(self.items) if place is None else place
        before = self.items[place].key if place < len(self.items) else None
        self.items.insert(place, item)
        # what is told is as it is now, and does not grow with the turn
        told = TurnItem(item.head, list(item.parts)) if isinstance(item, TurnItem) else item
        self._changed(Placed(told, before))

    def _without(self, id: MessageId) -> None:
        """Wherever it stood, it does not any more."""
        for one in [one for one in self.items if one.key == MessageItem(id).key]:
            self.items.remove(one)
            self._changed(ItemGone(one.key))
        for turn in self._turns.values():
            for place in [p for p, part in enumerate(turn.parts) if part == Joined(id)]:
                del turn.parts[place]
                self._calls = {
                    call: (run, at - (run == turn.head.run and at > place))
                    for call, (run, at) in self._calls.items()
                }
                self._changed(PartGone(turn.head.run, place))

    # turns

    def began(
        self, run: RunId, generation: Generation, ids: Iterable[MessageId], at: float
    ) -> None:
        """A run started, or took up messages that were sent to steer it."""
        if run in self._turns:
            for id_ in ids:
                self.joined(run, id_)
            return
        for id_ in ids:
            self._place(id_)
        self._turn(run, generation, at)

    def _turn(self, run: RunId, generation: Generation, at: float) -> TurnItem:
        turn = self._turns.get(run)
        if turn is None:
            turn = self._turns[run] = TurnItem(TurnHead(run, generation, at))
            self._put(turn)
        elif not turn.head.generation and generation:
            self._head(turn, replace(turn.head, generation=generation))
        return turn

    def _head(self, turn: TurnItem, head: TurnHead) -> None:
        if head != turn.head:
            turn.head = head
            self._changed(TurnIs(head))

    def joined(self, run: RunId, id: MessageId) -> None:
        """A message that was sent to steer stands where the run took it up."""
        if id not in self._placed and (turn := self._turns.get(run)):
            self._take(id)
            self._add(turn, Joined(id))

    def _add(self, turn: TurnItem, part: Part, *, live: bool = False) -> int:
        turn.parts.append(part)
        place = len(turn.parts) - 1
        told = replace(part, pieces=list(part.pieces)) if isinstance(part, Words) else part
        self._changed(PartIs(turn.head.run, place, told, live))
        return place

    def uttered(
        self,
        kind: Literal["text", "thinking"],
        run: RunId,
        generation: Generation,
        text: str,
        at: float,
        *,
        live: bool,
    ) -> None:
        """The next piece of what a run says or thinks."""
        turn = self._turn(run, generation, at)
        last = turn.parts[-1] if turn.parts else None
        if isinstance(last, Words) and last.kind == kind:
            self._grow(turn, len(turn.parts) - 1, last, text, at, live=live)
        elif text:
            self._add(turn, Words(kind, [text], at, at), live=live)

    def _grow(
        self, turn: TurnItem, place: int, words: Words, text: str, at: float, *, live: bool
    ) -> None:
        if text:
            words.pieces.append(text)
            words.until = max(words.until, at)
            self._changed(Grew(turn.head.run, place, text, words.kind, at, live))

    def noted(self, run: RunId | None, text: str) -> None:
        """Something that the session itself told the model, or the person."""
        if run is not None and (turn := self._turns.get(run)):
            self._add(turn, Aside(text))
        else:
            number = sum(isinstance(item, NoteItem) for item in self.items) + 1
            self._put(NoteItem(Key(self._notes, f"{number}"), text))

    # calls

    def called(self, made: Called, generation: Generation, at: float, *, live: bool) -> None:
        """A run set out to call a tool."""
        before = self._call(made.call) or CallPart(made.call, at=at)
        part = replace(
            before, name=made.name, arguments=made.arguments, nature=made.nature, at=before.at or at
        )
        self._call_is(made.run, generation, part, at, live=live)

    def begun(self, run: RunId, call: CallId, name: str, at: float, *, live: bool) -> None:
        """It is being made."""
        before = self._call(call) or CallPart(call, name, at=at)
        if before.status is Status.INTENDED:
            part = replace(before, status=Status.BEGUN, began=before.began or at)
            self._call_is(run, Generation(0), part, at, live=live)

    def being_made(self, begun: Mapping[CallId, float]) -> None:
        """These are, since then: the log has of a call that it was set out to, and how it ended."""
        for call, at in begun.items():
            if part := self._call(call):
                self.begun(self._calls[call][0], call, part.name, at, live=False)

    def ended(self, result: Result, at: float) -> None:
        """How it ended."""
        before = self._call(result.call) or CallPart(result.call)
        if before.status not in SETTLED:
            part = replace(
                before,
                status=result.status,
                content=result.content,
                error=result.error,
                until=before.until or at,
            )
            self._call_is(result.run, Generation(0), part, at)

    def answered(self, run: RunId, call: CallId, answer: Answer, at: float) -> None:
        """What a person said to it."""
        before = self._call(call)  # none, if a run below asked: its calls are not told here
        if before and before.answer is None:
            began = before.began or at if answer.allowed else before.began
            self._call_is(run, Generation(0), replace(before, began=began, answer=answer), at)

    def __contains__(self, run: object) -> bool:
        return run in self._turns

    def part(self, run: RunId, place: int) -> Part:
        """That of a turn."""
        return self._turns[run].parts[place]

    def _call(self, call: CallId) -> CallPart | None:
        run, place = self._calls.get(call, (RunId(""), 0))
        part = self._turns[run].parts[place] if run else None
        return part if isinstance(part, CallPart) else None

    def _call_is(
        self, run: RunId, generation: Generation, part: CallPart, at: float, *, live: bool = False
    ) -> None:
        turn = self._turn(run, generation, at)
        known = self._calls.get(part.call)
        if known is None:
            self._calls[part.call] = run, self._add(turn, part, live=live)
        elif turn.parts[known[1]] != part:
            turn.parts[known[1]] = part
            self._changed(PartIs(run, known[1], part, live))

    def progressed(
        self,
        run: RunId,
        generation: Generation,
        call: CallId | None,
        text: str,
        at: float,
        *,
        live: bool,
    ) -> None:
        """What a call writes, or what the run does."""
        turn = self._turn(run, generation, at)
        if call is not None:
            if self._call(call) is None:
                self._call_is(run, generation, CallPart(call, at=at), at, live=live)
            self._write(turn, self._calls[call][1], text, at, live=live)
            return
        places = [p for p, one in enumerate(turn.parts) if isinstance(one, Words)]
        for place in reversed(places):
            words = turn.parts[place]
            if isinstance(words, Words) and words.kind == "progress":
                self._grow(turn, place, words, text, at, live=live)
                return
        self._add(turn, Words("progress", [text], at, at), live=live)

    def _write(self, turn: TurnItem, place: int, text: str, at: float, *, live: bool) -> None:
        part = turn.parts[place]
        if not isinstance(part, CallPart) or not text:
            return
        output = part.output + text
        cut = len(output) > 2 * _MOST_OUTPUT  # half of it at once, so that mostly it only grows
        turn.parts[place] = replace(part, output=output[-_MOST_OUTPUT:] if cut else output)
        if cut:
            self._changed(PartIs(turn.head.run, place, turn.parts[place], live))
        else:
            self._changed(Grew(turn.head.run, place, text, "output", at, live))

    # ends

    def finished(self, end: Finished, at: float) -> None:
        """Messages reached their outcome, and the run that answered them, if it began, ended."""
        if not end.started:
            for id_ in end.messages:
                self._never_began(id_, end)
            return
        turn = self._turn(end.run, Generation(0), at)
        for id_ in end.messages:
            if id_ in self.messages:
                self.joined(end.run, id_)
        head = replace(
            turn.head,
            outcome=end.outcome.value,
            error=end.error,
            rollback=end.rollback or turn.head.rollback,
            until=turn.head.until or at,
        )
        self._head(turn, head)

    def _never_began(self, id: MessageId, end: Finished) -> None:
        if MessageItem(id, end.outcome.value, end.error) in self.items:
            return
        self._without(id)
        self._placed.discard(id)
        if end.outcome is Outcome.WITHDRAWN:
            self._take(id)  # what the person took back is not said again
        else:
            self._place(id, end.outcome.value, end.error)

    def receipted(self, receipt: Receipt, *, settled: bool) -> None:
        """A stop's receipt; or a later one that says that all has ended, and marks the first."""
        for run in receipt.runs:
            self._fenced(run, receipt)
        for report in receipt.messages:
            if report.fate == "dropped":
                self._without(report.message.id)
                self._take(report.message.id)
        new = ReceiptItem(receipt)
        for place, item in enumerate(self.items):
            if isinstance(item, ReceiptItem) and item.key == new.key:
                new = replace(item, settled=True) if settled else new  # as it was written
                if not item.settled and item != new:
                    self.items[place] = new
                    self._changed(ItemIs(new))
                return
        if receipt and not settled:
            self._put(new, self._place_of(receipt))

    def _place_of(self, receipt: Receipt) -> int:
        """After what it ended; if that never began, after all that had begun by its fence. When it
        is told is no guide: the log may have it before what a takeover began, and the feed after.
        """
        turns = [(p, one.head) for p, one in enumerate(self.items) if isinstance(one, TurnItem)]
        if ended := [place for place, head in turns if head.run in receipt.runs]:
            place = ended[-1] + 1
            while place < len(self.items) and isinstance(self.items[place], ReceiptItem):
                place += 1  # of what waited behind it, and was stopped before
            return place
        later = [place for place, head in turns if _is_later(head, receipt)]
        place = later[0] if later else len(self.items)
        while later and place and _is_answered(self.items[place - 1]):
            place -= 1
        return place

    @property
    def ending(self) -> tuple[Unconfirmed, ...]:
        """What was stopped and has not ended, by all receipts that are not settled."""
        receipts = (one for one in self.items if isinstance(one, ReceiptItem) and not one.settled)
        return tuple(dict.fromkeys(left for one in receipts for left in one.receipt.ending))

    def settle(self, ending: Collection[Unconfirmed]) -> None:
        """The log keeps a receipt as it was written; no more than this is still ending."""
        for place, item in enumerate(self.items):
            if isinstance(item, ReceiptItem) and item.receipt.has_settled(ending):
                self.items[place] = replace(item, settled=True)

    def _fenced(self, run: RunId, receipt: Receipt) -> None:
        turn = self._turns.get(run)
        if turn is None:
            return
        head = turn.head
        head = replace(
            head,
            outcome=head.outcome or receipt.reason.value,
            fenced_at=receipt.fenced_at,
            until=head.until or receipt.fenced_at,
        )
        self._head(turn, head)
        for report in receipt.calls:
            if self._calls.get(report.call, (None, 0))[0] == run:
                self.ended(Result(run, report.call, report.status), receipt.fenced_at)


def _is_later(head: TurnHead, receipt: Receipt) -> bool:
    """Whether a run began after a fence. That of a takeover's message has the very generation."""
    if receipt.reason is Reason.SUPERSEDED:
        return head.generation >= receipt.generation
    return head.generation > receipt.generation


def _is_answered(item: Item) -> bool:
    """Whether the turn below it answers it."""
    return isinstance(item, MessageItem) and not item.outcome
