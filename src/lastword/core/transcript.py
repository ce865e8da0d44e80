"""What of a session's log the model is shown.

`build` is the one place that decides it, `Transcript` the same as the log grows, `shown` what
becomes of a single turn. The turns come in the order in which they began; a message that was
stopped before its turn came is not shown, one whose turn had come is shown as an interrupted turn,
and one that was overtaken is context for what overtook it. Wherever the log was cut, at either
end, what is shown of it is valid for strict providers.
"""

from __future__ import annotations

from collections.abc import Iterable

from lastword.core.entries import (
    Began,
    Called,
    Declined,
    Entry,
    Finished,
    LeftOut,
    Native,
    Nature,
    Note,
    Result,
    Said,
    Summary,
    Text,
    Thinking,
    Unshown,
    Used,
)
from lastword.core.model import Message, MessageId, Outcome, RunId
from lastword.core.receipt import Receipt
from lastword.core.repair import without
from lastword.core.shown import LoggedTurn, Partial, Shown, show

__all__ = [
    "Began",
    "Called",
    "Declined",
    "Entry",
    "Finished",
    "LeftOut",
    "Native",
    "Nature",
    "Note",
    "Partial",
    "Result",
    "Said",
    "Shown",
    "Summary",
    "Text",
    "Thinking",
    "Transcript",
    "Unshown",
    "Used",
    "build",
]

_BEHEADED = "The beginning of this conversation is not shown."


def build(entries: Iterable[Entry], partial: Partial = "shown") -> tuple[Shown, ...]:
    """What the model is shown of a session."""
    transcript = Transcript(partial)
    transcript.add(*entries)
    return transcript.shown()


class Transcript:
    """What the model is shown of a session, kept up as its log grows.

    A turn that ended is put into words once; after that only what is new costs anything.
    """

    __slots__ = (
        "_ended",
        "_going",
        "_left",
        "_partial",
        "_said",
        "_summary",
        "_taken",
        "_turns",
        "declined",
    )

    def __init__(self, partial: Partial = "shown") -> None:
        self._partial: Partial = partial
        self._said: dict[MessageId, Message] = {}
        self._turns: list[LoggedTurn] = []  # as they began, or were overtaken without having begun
        self._going: dict[RunId, LoggedTurn] = {}
        self._ended: set[RunId] = set()
        self._summary = ""
        self._left: list[LeftOut] = []
        self._taken = 0  # turns that were there when a provider last answered
        self.declined = False  # since then, what was asked was not taken

    def add(self, *entries: Entry) -> None:
        """What was logged next."""
        for entry in entries:
            self._add(entry)

    def shown(self) -> tuple[Shown, ...]:
        """What the model is shown of all that was added."""
        shown = [Shown("summary", self._summary)] if self._summary.strip() else []
        for turn in self._turns:
            shown += show(turn, self._partial) if turn.kept is None else turn.kept
        if self._left:
            shown = [*without(shown, self._left)]
        if shown and shown[0].role not in ("user", "note", "summary"):
            shown.insert(0, Shown("note", _BEHEADED))
        return tuple(shown)

    @property
    def suspects(self) -> frozenset[RunId]:
        """The runs of which something was not there yet when a provider last answered."""
        turns = self._turns[max(self._taken - 1, 0) :]
        return frozenset(turn.run for turn in turns if turn.run is not None)

    def _add(self, entry: Entry) -> None:  # noqa: C901, PLR0912 - one match, one arm an entry
        match entry:
            case Said(message):
                for turn in self._going.values() if message.id in self._said else ():
                    turn.give_back(message.id)
                self._said[message.id] = message
            case Began(run, _, messages):
                self._begin(run, messages)
            case Called(nature="post"):
                pass
            case Text(run) | Thinking(run) | Called(run):
                if run not in self._ended:
                    self._turn(run).take(entry)
            case Unshown(run):
                if run in self._going:
                    self._going[run].spoken.take(entry)
            case Result(run):
                if run in self._going:
                    self._going[run].settle(entry)
            case Note():
                self._note(entry)
            case Summary(text, upto):
                self._summarise(text, upto)
            case LeftOut() | Declined() | Used():
                self._hear(entry)
            case Finished():
                self._ends(entry)
            case Receipt():
                pass

    def _ends(self, entry: Finished) -> None:
        match entry:
            case Finished(run, started=started) if started or run in self._going:
                self._finish(run, entry)
            case Finished(run, Outcome.SUPERSEDED, messages, rollback=False):
                self._ended.add(run)
                self._keep(self._take_messages(self._place(run), messages))
            case Finished(run, _, messages, rollback=False, held=True):
                self._take_messages(self._turn(run), messages)
                self._finish(run, entry)
            case _:  # a message of it went; the rest may begin
                pass

    def _hear(self, entry: LeftOut | Declined | Used) -> None:
        """Of a provider: what it took, or did not."""
        match entry:
            case LeftOut():
                self._left.append(entry)
            case Declined():
                self.declined = True
            case Used():
                self.declined = False
                self._taken = len(self._turns)

    def _turn(self, run: RunId) -> LoggedTurn:
        """The turn of a run that is going; a log that lost its beginning did not tell of it."""
        if run not in self._going:
            self._going[run] = self._place(run)
        return self._going[run]

    def _place(self, run: RunId | None) -> LoggedTurn:
        turn = LoggedTurn(run)
        self._turns.append(turn)
        return turn

    def _keep(self, turn: LoggedTurn) -> None:
        turn.kept = tuple(show(turn, self._partial))
        turn.items, turn.results = [], {}

    def _begin(self, run: RunId, messages: tuple[MessageId, ...]) -> None:
        if run in self._ended:
            return
        for other, turn in self._going.items():
            if other != run:  # one at a time: whatever did not get to say how it ended was lost
                turn.end = Finished(other, Outcome.LOST, (), started=True)
        joins = run in self._going
        turn = self._take_messages(self._turn(run), messages)
        turn.begun = turn.begun or not joins

    def _take_messages(self, turn: LoggedTurn, messages: tuple[MessageId, ...]) -> LoggedTurn:
        for message in messages:
            if message in self._said:
                turn.take(self._said[message])
        return turn

    def _note(self, note: Note) -> None:
        if note.run is not None and note.run in self._going:
            self._going[note.run].take(note)
        else:
            turn = self._place(None)
            turn.take(note)
            self._keep(turn)

    def _finish(self, run: RunId, end: Finished) -> None:
        if run in self._ended:
            return
        turn = self._turn(run)
        turn.end = end
        self._keep(turn)
        del self._going[run]
        self._ended.add(run)

    def _summarise(self, text: str, upto: RunId) -> None:
        self._summary = text
        runs = [turn.run for turn in self._turns]
        covered = runs.index(upto) + 1 if upto in runs else 0
        for run in runs[:covered]:
            if run is not None:
                self._going.pop(run, None)
        del self._turns[:covered]
        self._taken = max(self._taken - covered, 0)
