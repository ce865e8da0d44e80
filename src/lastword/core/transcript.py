"""What happened in a session, and what of it the model is shown.

The entries are the log: neutral, in order, never changed. `build` is the one place that decides
what a model sees of them. Of an interrupted turn that is what the person saw of it, marked, with
the reason; every call has exactly one result, right behind it; a message that was stopped before
its turn came is not shown, and one that was overtaken is context for what overtook it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from lastword.core.model import CallId, Generation, Message, MessageId, Outcome, RunId, Status
from lastword.core.receipt import Receipt

Partial: TypeAlias = Literal["shown", "omitted"]


@dataclass(frozen=True, slots=True)
class Said:
    """A message was accepted, or edited while it waited; `run` is the run that would answer it."""

    message: Message
    run: RunId


@dataclass(frozen=True, slots=True)
class Began:
    """A run started, or took up messages that were sent to steer it."""

    run: RunId
    generation: Generation
    messages: tuple[MessageId, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """What a run said and the person was shown."""

    run: RunId
    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """A run set out to call a tool."""

    run: RunId
    call: CallId
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a call."""

    run: RunId
    call: CallId
    status: Status
    content: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """Messages reached their outcome, and the run that answered them, if it began, ended."""

    run: RunId
    outcome: Outcome
    messages: tuple[MessageId, ...]
    started: bool
    rollback: bool = False
    error: str = ""


Entry: TypeAlias = Said | Began | Text | Called | Result | Finished | Receipt


@dataclass(frozen=True, slots=True)
class Shown:
    """One item of what the model is shown."""

    role: Literal["user", "assistant", "call", "result", "note"]
    text: str
    call: CallId | None = None
    name: str = ""
    message: Message | None = None


@dataclass(slots=True)
class _Turn:
    """A run as the log tells it."""

    items: list[Said | Text | Called] = field(default_factory=list[Said | Text | Called])
    results: dict[CallId, Result] = field(default_factory=dict[CallId, Result])
    finished: Finished | None = None


def build(entries: Iterable[Entry], partial: Partial = "shown") -> tuple[Shown, ...]:
    """What the model is shown of a session."""
    return tuple(item for turn in _turns(entries) for item in _show(turn, partial))


def _turns(entries: Iterable[Entry]) -> list[_Turn]:  # noqa: C901 - one match, one arm an entry
    """The turns in the order in which they began, or were overtaken without having begun."""
    said: dict[MessageId, Said] = {}
    turns: dict[RunId, _Turn] = {}
    for entry in entries:
        match entry:
            case Said(message):
                said[message.id] = entry
            case Began(run, _, messages):
                turns.setdefault(run, _Turn()).items += [said[m] for m in messages if m in said]
            case Text(run) | Called(run):
                turns[run].items.append(entry)
            case Result(run, call):
                turns[run].results.setdefault(call, entry)  # one result, whatever comes late
            case Finished(run, Outcome.SUPERSEDED, messages, started=False, rollback=False):
                turns.setdefault(run, _Turn()).items += [said[m] for m in messages if m in said]
            case Finished(run) if run in turns:
                turns[run].finished = entry
            case Finished() | Receipt():
                pass
    return list(turns.values())


def _show(turn: _Turn, partial: Partial) -> Iterator[Shown]:
    end = turn.finished
    cut = end is not None and end.outcome is not Outcome.COMPLETED
    if end and end.rollback:
        yield from _rolled_back(turn)
        return
    for item in turn.items:
        match item:
            case Said(message):
                yield Shown("user", message.text, message=message)
            case Text(text=text):
                if text and not (cut and partial == "omitted"):
                    yield Shown("assistant", text)
            case Called(_, call, name, arguments):
                yield Shown("call", arguments, call, name)
                yield Shown("result", _content(turn, call), call, name)
    if end and cut:
        yield Shown("note", _reason(turn, end))


def _content(turn: _Turn, call: CallId) -> str:
    result = turn.results.get(call)
    if result is None:
        return f"[{Status.MAY_HAVE_EXECUTED}]"
    return result.content if result.status is Status.COMPLETED else f"[{result.status}]"


def _rolled_back(turn: _Turn) -> Iterator[Shown]:
    done = [
        f"{item.name} ({result.status if result else Status.MAY_HAVE_EXECUTED})"
        for item in turn.items
        if isinstance(item, Called)
        for result in [turn.results.get(item.call)]
        if result is None or result.status is not Status.NOT_STARTED
    ]
    if done:
        yield Shown("note", f"An answer was taken back, but it had called: {', '.join(done)}.")


def _reason(turn: _Turn, end: Finished) -> str:
    undone = [
        item.name
        for item in turn.items
        if isinstance(item, Called)
        for result in [turn.results.get(item.call)]
        if result and result.status is Status.NOT_STARTED
    ]
    match end.outcome:
        case Outcome.STOPPED:
            return "The person stopped this answer here. Do not resume it unless they ask."
        case Outcome.SUPERSEDED:
            what = f": {', '.join(undone)}" if undone else ""
            return f"The person's next message took over here. The rest was left undone{what}."
        case Outcome.FAILED:
            return f"This answer failed here: {end.error}"
        case _:
            return f"This answer was cut off here ({end.outcome}); it is not known to be complete."
