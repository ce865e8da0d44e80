"""What the runtime speaks in, as the wire has it.

A principal's sessions have names of their own; inside they begin with the principal's space, which
is taken off whatever leaves.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from lastword.agent.left import left_question
from lastword.agent.permission import Questions
from lastword.core.cell import Ending, PendingCall, StoredCell
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
from lastword.core.model import Message, MessageId, RunId, SessionId
from lastword.core.plain import written
from lastword.core.question import Question
from lastword.core.queue import Queued, QueueNews
from lastword.core.receipt import Receipt, Unconfirmed
from lastword.core.rows import at_length
from lastword.core.scene import Span
from lastword.core.shown import Shown
from lastword.runtime.ticket import Ticket
from lastword.server import cell_wire, process_wire, question_wire, wire
from lastword.server.naming import renamed
from lastword.server.who import known_as
from lastword.surfaces.words import worded

encode = msgspec.json.Encoder().encode
_NAMED = frozenset({"run", "child"})  # what has an id for a name
_UNTOLD = "(not shown)"
_OUTPUT = 8_000  # characters of what a process has written
PAGE = 16 << 20  # bytes of entries that are given at once; one entry may be more


class Shapes:
    """For one principal's space: "" for whoever started the server, "bob/" for bob."""

    def __init__(self, space: str, questions: Questions | None = None) -> None:
        self.space = space
        self._questions = questions

    def inside(self, name: str) -> str:
        """A session, run or call by its name within."""
        return self.space + name

    def out(self, name: str) -> str:
        """The same as its principal knows it."""
        return known_as(name, self.space)

    def ticket(self, ticket: Ticket, session: str, generation: int) -> wire.TicketOut:
        outcome = ticket.known_outcome
        run, placed = self.out(ticket.run), ticket.placed
        return wire.TicketOut(session, ticket.message.id, run, placed, generation, outcome)

    def message(self, message: Message) -> wire.MessageOut:
        attached = [
            wire.AttachmentOut(a.media_type, a.uri, a.name, len(a.data))
            for a in message.attachments
        ]
        by = self.out(message.by) if message.origin == "child" else message.by
        return wire.MessageOut(message.id, message.text, by, message.origin, attached)

    def receipt(self, receipt: Receipt, *, settled: bool = False) -> wire.ReceiptOut:
        """With the names that its principal knows; `settled` if what was still ending has ended."""
        known = renamed(receipt, self.out) if self.space else receipt
        known = replace(known, unconfirmed=tuple(self.left(one) for one in known.unconfirmed))
        fields: dict[str, Any] = {one.name: getattr(known, one.name) for one in written(Receipt)}
        fields["messages"] = [
            wire.MessageFate(self.message(m.message), m.fate) for m in known.messages
        ]
        return wire.ReceiptOut(
            **fields,
            idle=not known,
            quiet=known.quiet,
            words=at_length(known.rows(settled=settled)),
            rows=list(known.rows(ids=False, settled=settled)),
        )

    def left(self, one: Unconfirmed) -> Unconfirmed:
        """What has not ended yet, by the name that its principal knows."""
        return replace(one, name=self.out(one.name)) if one.kind in _NAMED else one

    def queue(self, news: QueueNews) -> wire.QueueOut:
        return wire.QueueOut([self.queued(one) for one in news.messages], news.hushed)

    def queued(self, one: Queued) -> wire.QueuedOut:
        message = one.message
        where = self.out(one.run), one.placed, one.held
        return wire.QueuedOut(message.id, message.text, message.by, *where)

    def question(self, question: Question) -> question_wire.QuestionOut:
        said = worded(question)
        return question_wire.QuestionOut(
            question.id,
            self.out(question.session),
            question.generation,
            self.out(question.run),
            question.tool,
            question.text,
            question.subject,
            self.out(question.call),
            question.at,
            said.asks,
            said.kind,
            said.summary,
            [question_wire.LineOut(mark, text) for mark, text in said.lines],
            list(said.notes),
            [question_wire.ChoiceOut(c.label, c.allow, c.always, c.scope) for c in said.choices],
        )

    def process(self, span: Span, output: str = "") -> process_wire.ProcessOut:
        news = span.news
        what = news.job, news.pid, news.command, news.kept, news.takes_input, self.out(news.run)
        return process_wire.ProcessOut(
            *what, span.started_at, span.ended_at, news.code, output[-_OUTPUT:]
        )

    def cell(self, cell: StoredCell, ending: Ending | None = None) -> cell_wire.CellOut:
        """A cell as the store has it; or, if it is known better, how it ended."""
        record, over = cell.record, ending or cell.record.ending
        frontier = record.frontier
        waits = frontier.pending if frontier and record.paused and not over else ()
        return cell_wire.CellOut(
            id=record.cell,
            session=self.out(cell.session),
            run=self.out(cell.run),
            kind=record.kind,
            standing="ended" if over else "paused" if record.paused else "running",
            generation=frontier.generation if frontier else 0,
            pending=self.waiting(cell.session, waits),
            ending=cell_ending(over) if over else None,
            source=cell.source,
        )

    def waiting(self, session: str, calls: Iterable[PendingCall]) -> list[cell_wire.WaitingOut]:
        """Calls that a cell waits on, each as a person is asked whether it may be made."""
        return [self._waiting(session, call) for call in calls]

    def _waiting(self, session: str, call: PendingCall) -> cell_wire.WaitingOut:
        asked = self._questions
        question = asked.left(session, call) if asked else left_question(session, call)
        told = self.question(question)
        return cell_wire.WaitingOut(
            call.id,
            call.name,
            call.arguments,
            told.tool,
            told.asks,
            told.kind,
            told.summary,
            told.lines,
            told.notes,
            told.choices,
        )

    def shown(self, item: Shown) -> wire.ShownOut:
        call, status = self.out(item.call or ""), item.status or ""
        return wire.ShownOut(item.role, item.text, item.name, call, status)

    # the log

    def newest(self, entries: Sequence[Entry], before: int) -> list[msgspec.Raw]:
        """The newest of entries that come after so many, oldest first: no more than fit a page, but
        one. Those of a page take a while."""
        found, size = deque[msgspec.Raw](), 0
        for at in reversed(range(len(entries))):
            entry = encode({"number": before + at + 1, **self._entry(entries[at])})
            size += len(entry)
            if found and size > PAGE:
                break
            found.appendleft(msgspec.Raw(entry))
        return list(found)

    def _entry(self, entry: Entry) -> dict[str, Any]:  # noqa: C901, PLR0911, PLR0912 - one match
        kind: dict[str, Any] = {"kind": type(entry).__name__.lower()}
        kind["at"] = entry.fenced_at if isinstance(entry, Receipt) else getattr(entry, "at", 0.0)
        if isinstance(run := getattr(entry, "run", None), str):
            kind["run"] = self.out(run)
        match entry:
            case Said(message, instead=instead):
                took = {"instead": self.out(instead)} if instead else {}
                return kind | {"message": self.message(message)} | took
            case Began(_, generation, messages):
                return kind | {"generation": generation, "messages": messages}
            case Text(_, text) | Thinking(_, text) | Note(_, text) | Summary(text):
                return kind | {"text": text}
            case Unshown(_, back, length, of):
                return kind | {"back": back, "length": length, "of": of}
            case LeftOut(_, of, part, text):
                return kind | {"of": self.out(of), "part": part, "text": text}
            case Declined(_, status):
                return kind | {"status": status}
            case Called(_, call, name, arguments, nature):
                told = {"call": self.out(call), "name": name, "arguments": arguments}
                return kind | told | {"nature": nature}
            case Result(_, call, status, content, error):
                told = {"call": self.out(call), "status": status, "content": content}
                return kind | told | {"error": error}
            case Asked(_, call, tool, subject):
                return kind | {"call": self.out(call), "tool": tool, "subject": subject}
            case Answered(_, call, allowed, by, scope):
                told = {"call": self.out(call), "allowed": allowed}
                return kind | told | {"by": by, "scope": scope}
            case Withdrawn(_, call):
                return kind | {"call": self.out(call)}
            case Used(_, model, read, written):
                return kind | {"model": model, "input_tokens": read, "output_tokens": written}
            case Finished(_, outcome, messages):
                told = {"messages": messages, "outcome": outcome, "error": entry.error}
                return kind | told | {"started": entry.started, "rollback": entry.rollback}
            case Receipt():
                return kind | msgspec.structs.asdict(self.receipt(entry))


def asked_before(entries: Sequence[Entry]) -> set[MessageId]:
    """What the runs were asked that began in some entries, where it was said before those.

    A message may wait for its turn for long, and who sees the turn is to see the words.
    """
    asked = {id_ for one in entries if isinstance(one, Began) for id_ in one.messages}
    return asked - {one.message.id for one in entries if isinstance(one, Said)}


def unread(receipt: Receipt) -> Receipt:
    """For who may stop and not read: nothing of what was said, and no command line, child's name,
    refused effect, or what an answer was about."""
    messages = [
        replace(m, message=replace(m.message, text="", attachments=())) for m in receipt.messages
    ]
    return replace(
        receipt,
        messages=tuple(messages),
        processes=tuple(replace(one, command=_UNTOLD) for one in receipt.processes),
        children=tuple(
            replace(one, session=SessionId(_UNTOLD), run=RunId(_UNTOLD)) for one in receipt.children
        ),
        refused=tuple(replace(one, what=_UNTOLD) for one in receipt.refused),
        unconfirmed=tuple(replace(one, name=_UNTOLD) for one in receipt.unconfirmed),
        cells=tuple(replace(one, waits=(_UNTOLD,) * len(one.waits)) for one in receipt.cells),
        files=tuple(
            replace(one, names=(_UNTOLD,) * len(one.names), notes=()) for one in receipt.files
        ),
        answers=tuple(replace(one, subject=_UNTOLD, scope="") for one in receipt.answers),
    )


def _pending(call: PendingCall) -> cell_wire.PendingOut:
    """A call that a cell waits on."""
    return cell_wire.PendingOut(call.id, call.name, call.arguments)


def cell_ending(ending: Ending) -> cell_wire.CellEnding:
    """How a cell ended."""
    doubtful = [_pending(call) for call in ending.may_have_executed]
    return cell_wire.CellEnding(ending.outcome, ending.result, ending.error, doubtful)
