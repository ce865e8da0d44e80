"""One story: all that can become known of a session, for its log and for whoever watches it.

A fact is either an entry, which the log keeps, or it passes: it is told as it happens, and what it
came to is told again to whoever comes later. Every place where people talk handles every fact, by
its type. Some are *effects*: a run does something by them. Those are let through and then told, to
watchers that read slowly, over wires that are full. If the run was stopped or replaced meanwhile,
they must not be told as if they were happening. What the session itself tells (what was said,
began, ended, was stopped; how a call ended) may be told at any time. This is the one place that
says which is which.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias, assert_never, cast, get_args

from lastword.core.cell import StoredCell
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
from lastword.core.model import CallId, Generation, RunId, SessionId
from lastword.core.queue import QueueNews
from lastword.core.receipt import ProcessNews, Receipt
from lastword.core.recovery import Recovery
from lastword.core.value import value


@value
class Typing:
    """The typing mark of a run is up, or down."""

    run: RunId
    on: bool


@value
class Progress:
    """What a run is doing, beside its answer; what a call of it writes, if it is of one."""

    run: RunId
    text: str
    call: CallId | None = None


@value
class Begun:
    """A call that was written down is made: its tool's first line is next."""

    run: RunId
    call: CallId
    name: str


@value
class ProgramNews:
    """How a program stands, as the store has it."""

    run: RunId  # for which it last worked
    cell: StoredCell


@value
class Settled:
    """What was still ending when its receipt was written has ended."""

    receipt: Receipt


Passing: TypeAlias = (
    Typing | Progress | Begun | ProcessNews | QueueNews | ProgramNews | Recovery | Settled
)
Fact: TypeAlias = Entry | Passing
FACTS: tuple[type, ...] = (*get_args(Entry), *get_args(Passing))
_KINDS = {one: one.__name__.lower().removesuffix("news") for one in FACTS}


def kind_of(fact: Fact) -> str:
    """A fact's name: that of its class, in one word."""
    return _KINDS[type(fact)]


def run_of(fact: Fact) -> RunId | None:
    """The run that a fact is about; None if it is the session's own."""
    return cast("RunId | None", getattr(fact, "run", None))


def is_effect(fact: Fact) -> bool:
    """Whether a run does something by it, rather than the session telling what became of it."""
    match fact:
        case Text() | Thinking() | Progress() | Called() | Begun() | Asked() | Used():
            return True
        case Typing(on=on):
            return on
        case ProcessNews(state=state):
            return state == "starting"
        case Said() | Began() | Finished() | Receipt() | Settled() | Recovery():
            return False
        case Result() | Answered() | Withdrawn() | Note() | Summary() | LeftOut():
            return False
        case Unshown() | Declined() | QueueNews() | ProgramNews():
            return False
        case _:
            assert_never(fact)


def is_elsewhere(fact: Fact, session: SessionId) -> bool:
    """Whether it is what a run asks that is not this session's, nor any run's of it: one below
    that was kept. It is told here because a person is, and no fence from here reaches it."""
    asked = fact.question if isinstance(fact, Asked) else None
    return asked is not None and asked.session != session and asked.run == run_of(fact)


def words_of(fact: Fact) -> str:  # noqa: C901, PLR0911, PLR0912 - one match
    """The words in a fact, for who reads no more of it."""
    match fact:
        case Said(message):
            return message.text
        case Text(text=text) | Thinking(text=text) | Progress(text=text):
            return text
        case Note(text=text) | Summary(text=text) | LeftOut(text=text):
            return text
        case Called(name=name) | Begun(name=name):
            return name
        case Asked(tool=tool):
            return tool
        case ProcessNews(command=command):
            return command
        case ProgramNews(cell=cell):
            return cell.id
        case Finished(outcome=outcome):
            return outcome.value
        case Receipt():
            return fact.words
        case Settled(receipt):
            return receipt.words
        case Recovery():
            return str(fact)
        case Began() | Unshown() | Result() | Answered() | Withdrawn() | Used() | Declined():
            return ""
        case Typing() | QueueNews():
            return ""
        case _:
            assert_never(fact)


class FeedEvent(NamedTuple):
    """One thing that happened in a session. A tuple, because a token makes one."""

    number: int
    session: SessionId
    generation: Generation
    fact: Fact
    at: float = 0.0  # seconds since 1970

    @property
    def kind(self) -> str:
        """The fact's name."""
        return kind_of(self.fact)

    @property
    def run(self) -> RunId | None:
        """The run that it is about; None if it is the session's own."""
        return run_of(self.fact)

    @property
    def text(self) -> str:
        """The words in it."""
        return words_of(self.fact)

    def __str__(self) -> str:
        return self.text


def is_silenced(generation: int, fenced: int, *, taken: bool = False) -> bool:
    """Whether what a run did at a generation must not be told as if it were happening.

    `fenced` is where the last stop or takeover of its session has moved the generation to. If
    another process has `taken` the session, nothing that a run did here is ours to tell.
    """
    return taken or generation < fenced


def may_leave(event: FeedEvent, fenced: int, *, taken: bool = False) -> bool:
    """Whether what was let through may be told now, as it happened."""
    if not is_effect(event.fact) or not is_silenced(event.generation, fenced, taken=taken):
        return True
    return not taken and is_elsewhere(event.fact, event.session)
