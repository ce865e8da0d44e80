"""What of a session's log the model is shown.

`build` is the one place that decides it, `Transcript` the same as the log grows, `shown` what
becomes of a single turn. The turns come in the order in which they began; a message that was
stopped before its turn came is not shown, one whose turn had come is shown as an interrupted turn,
and one that was overtaken is context for what overtook it. Wherever the log was cut, at either
end, what is shown of it is valid for strict providers.

Of a long conversation nearly everything stands for good: the turns that have ended. They are kept
once, and every `Past` of the session shares them; so to take one costs what is new, and whoever
puts it into other words can go on where they stopped the last time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TypeAlias, overload

from lastword.core.entries import (
    Answered,
    Asked,
    Began,
    Called,
    Declined,
    Entry,
    Finished,
    LeftOut,
    Note,
    Result,
    Said,
    Summary,
    Text,
    Thinking,
    Unshown,
    Used,
    Withdrawn,
)
from lastword.core.model import Message, MessageId, Outcome, RunId
from lastword.core.receipt import Receipt
from lastword.core.repair import ALONE, without
from lastword.core.shown import PARTIAL, LoggedTurn, Partial, Shown, note, show

_REMEMBERED = 1000  # runs that have ended
Suspects: TypeAlias = Callable[[], frozenset[RunId]]  # asked for seldom, and known when it began
_BEHEADED = "The beginning of this conversation is not shown."


class ForGood:
    """What stands for good. It only grows; a summary begins another."""

    __slots__ = ("__weakref__", "items")

    def __init__(self, items: Iterable[Shown] = ()) -> None:
        self.items = list(items)


class Past(Sequence[Shown]):
    """What stood for good by then, and what might still change."""

    __slots__ = ("many", "open", "settled")

    def __init__(
        self, settled: ForGood, open: Iterable[Shown] = (), *, many: int | None = None
    ) -> None:
        self.settled = settled
        self.many = len(settled.items) if many is None else many  # of them; more may come
        self.open = tuple(open)

    def __len__(self) -> int:
        return self.many + len(self.open)

    def __iter__(self) -> Iterator[Shown]:
        return chain(islice(self.settled.items, self.many), self.open)

    @overload
    def __getitem__(self, index: int) -> Shown: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Shown, ...]: ...
    def __getitem__(self, index: int | slice) -> Shown | tuple[Shown, ...]:
        if isinstance(index, slice):
            return tuple(self[n] for n in range(*index.indices(len(self))))
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"there is no item {index}: there are {len(self)}")
        return self.settled.items[place] if place < self.many else self.open[place - self.many]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Past):
            return tuple(self) == tuple(other)
        return tuple(self) == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Past{tuple(self)!r}"


def followed_by(past: Sequence[Shown], *items: Shown) -> Sequence[Shown]:
    """The same, and these."""
    if not isinstance(past, Past):
        return (*past, *items)
    return Past(past.settled, (*past.open, *items), many=past.many)


def build(entries: Iterable[Entry], partial: Partial = PARTIAL) -> tuple[Shown, ...]:
    """What the model is shown of a session."""
    transcript = Transcript(partial)
    transcript.add(*entries)
    return tuple(transcript.shown())


class Transcript:
    """What the model is shown of a session, kept up as its log grows.

    A turn that ended is put into words once; after that only what is new costs anything. A message
    is kept until its turn has it, or it has none.
    """

    __slots__ = (
        "_ended",
        "_going",
        "_left",
        "_partial",
        "_places",
        "_said",
        "_settled",
        "_since",
        "_turns",
        "declined",
    )

    def __init__(self, partial: Partial = PARTIAL) -> None:
        self._partial: Partial = partial
        self._said: dict[MessageId, Message] = {}
        self._settled = ForGood()  # the turns that have ended, up to the first that has not
        self._places: dict[RunId, int] = {}  # where each of them ends
        # the rest, as they began, or were overtaken without having begun
        self._turns: deque[LoggedTurn] = deque()
        self._going: dict[RunId, LoggedTurn] = {}
        self._ended: dict[RunId, None] = {}  # the last of them: what they say late is not shown
        self._left: list[LeftOut] = []
        self._since: list[RunId | None] = []  # what was shown last when a provider answered, and on
        self.declined = False  # since then, what was asked was not taken

    def add(self, *entries: Entry) -> None:
        """What was logged next."""
        for entry in entries:
            self._add(entry)

    def shown(self) -> Past:
        """What the model is shown of all that was added."""
        self._settle()
        rest: list[Shown] = []
        for turn in self._turns:
            rest += show(turn, self._partial) if turn.kept is None else turn.kept
        rest = [*without(rest, self._left)] if self._left else rest
        return Past(self._settled, rest if self._settled.items else _with_a_head(rest))

    def _settle(self) -> None:
        """What cannot change any more, and nothing before it can, stands for good."""
        items = self._settled.items
        while self._turns and (kept := self._turns[0].kept) is not None:
            turn = self._turns.popleft()
            shown = without(kept, self._left) if self._left else kept
            items += shown if items else _with_a_head(shown)
            if turn.run is not None:
                self._places.setdefault(turn.run, len(items))

    @property
    def suspects(self) -> Suspects:
        """The runs of which something was not there yet when a provider last answered.

        `ALONE` stands for what is nobody's.
        """
        since, many = self._since, len(self._since)
        return lambda: frozenset(run or ALONE for run in since[:many])

    def _add(self, entry: Entry) -> None:  # noqa: C901, PLR0912 - one match, one arm an entry
        match entry:
            case Said(message, instead=instead):
                if instead:
                    self._leave_out(LeftOut(instead, instead, "all", ""))
                for turn in self._going.values():
                    turn.give_back(message.id)
                self._said[message.id] = message
            case Began(run, _, messages):
                self._begin(run, messages)
            case Called(run, call, nature="post" | "inner"):
                if run in self._going:
                    self._going[run].unasked.add(call)
            case Text(run) | Thinking(run) | Called(run):
                if run not in self._ended:
                    self._turn(run).take(entry)
            case Unshown(run):
                if run in self._going:
                    self._going[run].take_back(entry)
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
            case Receipt() | Asked() | Answered() | Withdrawn():
                pass

    def _ends(self, entry: Finished) -> None:
        match entry:
            case Finished(run, started=started) if started or run in self._going:
                self._finish(run, entry)
            case Finished(run, Outcome.SUPERSEDED, messages, rollback=False):
                self._end(run)
                self._keep(self._take_messages(self._place(run), messages))
            case Finished(run, _, messages, rollback=False, held=True):
                self._take_messages(self._turn(run), messages)
                self._finish(run, entry)
            case _:  # they went; what is left of the turn may begin
                self._forget(entry.messages)

    def _hear(self, entry: LeftOut | Declined | Used) -> None:
        """Of a provider: what it took, or did not."""
        match entry:
            case LeftOut():
                self._leave_out(entry)
            case Declined():
                self.declined = True
            case Used():
                self.declined = False
                self._since = self._since[-1:]

    def _turn(self, run: RunId) -> LoggedTurn:
        """The turn of a run that is going; a log that lost its beginning did not tell of it."""
        if run not in self._going:
            self._going[run] = self._place(run)
        return self._going[run]

    def _place(self, run: RunId | None) -> LoggedTurn:
        turn = LoggedTurn(run)
        self._turns.append(turn)
        self._since.append(run)
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
            if said := self._said.pop(message, None):
                turn.take(said)
        return turn

    def _forget(self, messages: tuple[MessageId, ...]) -> None:
        for message in messages:
            self._said.pop(message, None)

    def _end(self, run: RunId) -> None:
        self._ended[run] = None
        if len(self._ended) > _REMEMBERED:
            del self._ended[next(iter(self._ended))]

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
        self._end(run)
        self._forget(end.messages)

    def _summarise(self, text: str, upto: RunId) -> None:
        """Once in a long while: what it covers goes, and what stands for good begins anew."""
        self._settle()
        before, places = self._settled.items, self._places
        covered = self._covered(upto)
        self._since = [None, *self._after(upto)]  # no provider has seen it
        head = [Shown("summary", text)] if text.strip() else []
        rest = _without_a_head(before[covered:])
        self._settled = ForGood([*head, *rest] if head else _with_a_head(rest))
        moved = len(self._settled.items) - len(before)
        self._places = {run: end + moved for run, end in places.items() if end > covered}

    def _after(self, upto: RunId) -> list[RunId | None]:
        since = self._since
        return since[since.index(upto) + 1 :] if upto in since else since.copy()

    def _covered(self, upto: RunId) -> int:
        """Leave out the turns up to that one; how many items of what was settled are theirs."""
        if upto in self._places:
            return self._places[upto]
        runs = [turn.run for turn in self._turns]
        if upto not in runs:
            return 0
        for _ in range(runs.index(upto) + 1):
            if (run := self._turns.popleft().run) is not None:
                self._going.pop(run, None)
        return len(self._settled.items)

    def _leave_out(self, left: LeftOut) -> None:
        """Less is shown of a turn, however long ago it was; what stands for good begins anew."""
        self._settle()
        if left.of == ALONE:
            self._leave_alone(left)
            return
        self._left.append(left)
        if left.of not in self._places:
            return
        before = self._settled.items
        beheaded = bool(before) and _is_the_head(before[0])
        items, places, start = list[Shown](), dict[RunId, int](), int(beheaded)
        for run, end in self._places.items():
            items += without(before[start:end], [left])
            places[run], start = len(items), end
        items += without(before[start:], [left])
        self._settled = ForGood(_with_a_head(items))
        moved = len(self._settled.items) - len(items)
        self._places = {run: end + moved for run, end in places.items()}

    def _leave_alone(self, left: LeftOut) -> None:
        """Of what stands on its own, less is shown of what there is by now; more may come."""
        for turn in self._turns:
            if turn.run is None and turn.kept is not None:
                turn.kept = without(turn.kept, [left])
        self._settled = ForGood(without(self._settled.items, [left]))


def _with_a_head(items: Sequence[Shown]) -> Sequence[Shown]:
    """A log that lost its beginning is said to have."""
    beheaded = items and items[0].role not in ("user", "note", "summary")
    return (note(_BEHEADED), *items) if beheaded else items


def _without_a_head(items: list[Shown]) -> list[Shown]:
    """Without what only stands for the beginning."""
    ours = items and (items[0].role == "summary" or _is_the_head(items[0]))
    return items[1:] if ours else items


def _is_the_head(item: Shown) -> bool:
    return (item.role, item.text, item.run) == ("note", _BEHEADED, None)
