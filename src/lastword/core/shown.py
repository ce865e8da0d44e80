"""One turn as the log tells it, and what the model is shown of it.

Of an interrupted turn that is what the person saw of it, marked, with the reason, and nothing
native: not the thinking, which the person did not see, and no id that would ask for it. Natives
are given back turn by turn, all or none. Every call has exactly one result, right behind the batch
it was made in, and no item is empty.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Literal, NoReturn, TypeAlias

from lastword.core.brief import NAMED, NOTED, cut
from lastword.core.entries import Called, Finished, Native, Note, Result, Text, Thinking, Unshown
from lastword.core.model import CallId, Message, MessageId, Outcome, RunId, Status
from lastword.core.seen import Spoken
from lastword.core.value import value

Partial: TypeAlias = Literal["shown", "omitted"]
PARTIAL: Partial = "shown"  # unless somebody says otherwise
Item: TypeAlias = Message | Text | Thinking | list[Called] | Note
WORDLESS = "[empty message]"
UNTOLD = "A note was left out here: the provider did not take it."
_NATURES = {"idempotent": "is idempotent", "read_only": "only reads"}


@value
class Shown:
    """One item of what the model is shown."""

    role: Literal["user", "assistant", "thinking", "call", "result", "note", "summary"]
    text: str  # of a call: its arguments, always a JSON object
    call: CallId | None = None
    name: str = ""
    message: Message | None = None
    native: Native | None = None
    status: Status | None = None  # of a result
    error: bool = False  # the tool raised, or is not known to have completed
    run: RunId | None = field(default=None, compare=False)  # whose turn it is of
    bare: str = field(default="", compare=False)  # of a note: the same, in no words but lastword's


def note(text: str, bare: str = "", run: RunId | None = None) -> Shown:
    """What lastword itself tells the model, for as long as the session lasts: so it is short.

    What others said, a name they gave included, is not in `bare`; without it, nobody did.
    """
    return Shown("note", cut(text, NOTED), run=run, bare=bare or text)


@dataclass(slots=True)
class LoggedTurn:
    """A run as the log tells it; without one, something that stands on its own."""

    run: RunId | None
    begun: bool = False  # the log has it from its beginning
    items: list[Item] = field(default_factory=list[Item])
    messages: set[MessageId] = field(default_factory=set[MessageId])
    results: dict[CallId, Result] = field(default_factory=dict[CallId, Result])
    unasked: set[CallId] = field(default_factory=set[CallId])  # calls that its model is not shown
    spoken: Spoken | None = None  # counted, once some of it was taken back
    end: Finished | None = None
    batching: bool = False  # the next call joins the last, if nothing comes between
    stranded: bool = False  # a thinking had a result behind it, so it led to nothing
    kept: tuple[Shown, ...] | None = None  # what is shown of it, once that cannot change

    def take(self, item: Message | Text | Thinking | Called | Note) -> None:
        last = self.items[-1] if self.items else None
        if self.spoken and isinstance(item, Text | Thinking):
            self.spoken.take(item)
        elif isinstance(item, Message):
            self.messages.add(item.id)
        if not isinstance(item, Called):
            self.items.append(item)
        elif self.batching and isinstance(last, list):
            last.append(item)
        else:
            self.items.append([item])
            self.batching = True

    def take_back(self, unshown: Unshown) -> None:
        """Some of what it said was seen by nobody."""
        if self.spoken is None:
            self.spoken = Spoken()
            for item in self.items:
                if isinstance(item, Text | Thinking):
                    self.spoken.take(item)
        self.spoken.take(unshown)

    def give_back(self, message: MessageId) -> None:
        """A message that joined it never was given to its run, and waits again."""
        if message not in self.messages:
            return
        self.messages.discard(message)
        self.items = [i for i in self.items if not (isinstance(i, Message) and i.id == message)]

    def settle(self, result: Result) -> None:
        if result.call in self.unasked:
            return
        self.results.setdefault(result.call, result)  # one result, whatever comes late
        self.batching = False
        self.stranded |= bool(self.items) and isinstance(self.items[-1], Thinking)

    def status(self, call: CallId) -> Status:
        result = self.results.get(call)
        known = (Status.COMPLETED, Status.NOT_STARTED)
        return result.status if result and result.status in known else Status.MAY_HAVE_EXECUTED

    @property
    def seen(self) -> list[Item]:
        """Its items, less what of its speech nobody saw."""
        return [*map(self.spoken.reader(), self.items)] if self.spoken else self.items

    def calls(self, *statuses: Status) -> list[Called]:
        """Its calls of which this became, in order."""
        batches = [item for item in self.items if isinstance(item, list)]
        return [made for batch in batches for made in batch if self.status(made.call) in statuses]


def show(turn: LoggedTurn, partial: Partial) -> list[Shown]:
    """A turn, as far as it went."""
    return [replace(shown, run=turn.run) for shown in _show(turn, partial)]


def _show(turn: LoggedTurn, partial: Partial) -> list[Shown]:
    if turn.end and turn.end.rollback:
        return _rolled_back(turn)
    items = turn.seen
    completed = turn.end is not None and turn.end.outcome is Outcome.COMPLETED
    cut = turn.end is not None and not completed
    whole = completed and turn.begun and turn.spoken is None  # else no native fits what is shown
    native = whole and not turn.stranded and _unbroken([*_joined(items, native=True)])
    shown = [
        shown if native else replace(shown, native=None)
        for item in _joined(items, native=native)
        if not (cut and partial == "omitted" and isinstance(item, Text))
        for shown in _put(turn, item)
    ]
    if turn.end and cut:
        shown.append(_reason(turn, turn.end))
    return shown


def _joined(items: list[Item], *, native: bool) -> Iterator[Item]:
    """The items with their pieces put together; without what only natives would keep."""
    items = [item for item in items if native or not isinstance(item, Thinking)]
    pieces: list[str] = []
    for item, after in zip(items, [*items[1:], None], strict=False):
        if not isinstance(item, Text | Thinking):
            yield item
            continue
        pieces.append(item.text)
        if type(after) is not type(item) or (native and item.native):
            text = "".join(pieces)
            pieces = []
            if text.strip() or (native and item.native):
                yield replace(item, text=text)


def _unbroken(items: list[Item]) -> bool:
    """Whether natives can be given back.

    No provider takes a thinking that was cut, or that led to nothing, nor what came of it alone.
    """
    return all(
        isinstance(after, list | Thinking) or (isinstance(after, Text) and after.text.strip())
        for item, after in zip(items, [*items[1:], None], strict=False)
        if isinstance(item, Thinking)
    ) and all(item.native for item in items if isinstance(item, Thinking))


def _put(turn: LoggedTurn, item: Item) -> list[Shown]:
    match item:
        case Message(text=text):
            blank = not (text.strip() or item.attachments)
            return [Shown("user", WORDLESS if blank else text, message=item)]
        case list():
            return [*map(_called, item), *(_result(turn, made) for made in item)]
        case Thinking(_, text, native):
            return [Shown("thinking", text, native=native)]
        case Text(_, text, native) if text.strip():
            return [Shown("assistant", text, native=native)]
        case Note(_, text) if text.strip():
            return [note(text, UNTOLD)]
        case _:
            return []


def _called(made: Called) -> Shown:
    return Shown("call", as_object(made.arguments), made.call, made.name, native=made.native)


def as_object(arguments: str) -> str:
    """The arguments as a JSON object, whatever the model or a cut made of them."""
    try:
        read = json.loads(arguments, parse_constant=_refuse, parse_float=_finite)
        whole = isinstance(read, dict)
    except (ValueError, RecursionError):
        whole = False
    return arguments if whole else json.dumps({"arguments": arguments}, ensure_ascii=False)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _finite(number: str) -> float:
    return read if isfinite(read := float(number)) else _refuse(number)


def _result(turn: LoggedTurn, made: Called) -> Shown:
    status = turn.status(made.call)
    result = turn.results.get(made.call)
    content = result.content if result and result.content.strip() else ""
    error = status is not Status.COMPLETED or bool(result and result.error)
    if status is not Status.COMPLETED or not content:
        content = f"[{status}] {content}".strip()
    if status is Status.MAY_HAVE_EXECUTED and made.nature:
        content += f" It {_NATURES[made.nature]}, and can safely be called again."
    native = result.native if result else None
    return Shown("result", content, made.call, made.name, None, native, status, error)


def _rolled_back(turn: LoggedTurn) -> list[Shown]:
    made = turn.calls(Status.COMPLETED, Status.MAY_HAVE_EXECUTED)
    return [taken_back([(named(one), turn.status(one.call)) for one in made])] if made else []


def taken_back(made: Sequence[tuple[str, Status]], run: RunId | None = None) -> Shown:
    """What is left of an answer that was: what it had called, each by a name that fits a note."""
    done = [f"{name} ({status})" for name, status in made]
    begins = "An answer was taken back, but it had called"
    bare = f"{begins} {counted(status for _, status in made)}."
    return note(f"{begins}: {', '.join(done)}.", bare, run)


def counted(statuses: Iterable[Status]) -> str:
    """What became of calls, without their names."""
    many = Counter(statuses)
    return f"tools ({', '.join(f'{status}: {many[status]}' for status in Status if many[status])})"


def named(made: Called | Shown) -> str:
    """A tool, by as much of its name as can stand in a note."""
    return cut(made.name, NAMED)


def _reason(turn: LoggedTurn, end: Finished) -> Shown:
    match end.outcome:
        case Outcome.STOPPED:
            return note("The person stopped this answer here. Do not resume it unless they ask.")
        case Outcome.SUPERSEDED:
            undone = [named(made) for made in turn.calls(Status.NOT_STARTED)]
            what = f": {', '.join(undone)}" if undone else ""
            over = "The person's next message took over here. The rest was left undone"
            return note(f"{over}{what}.", f"{over}.")
        case Outcome.FAILED:
            why = f": {end.kind}" if end.kind else ""
            return note(f"This answer failed here{why}.", "This answer failed here.")
        case _:
            cut_off = (
                f"This answer was cut off here ({end.outcome}); it is not known to be complete."
            )
            calls = turn.calls(Status.MAY_HAVE_EXECUTED)
            if not calls:
                return note(cut_off)
            doubtful = [
                f"{named(made)} (can safely be called again)" if made.nature else named(made)
                for made in calls
            ]
            told = f"{cut_off} These calls may have executed: {', '.join(doubtful)}."
            return note(told, f"{cut_off} Calls that may have executed: {len(calls)}.")
