"""The account a stop gives of itself.

Once you hold a receipt, nothing it names can act again. What had not ended by the time it was
written is in `unconfirmed`, by name: it is fenced, it is being ended, and `settled()` waits for it.
It speaks of what went through the run. What an engine starts by itself, past the run (a thread, a
task, a process), nobody here can see, and its words say so.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, field, replace
from typing import Any, Literal, Self, cast

from lastword.core.model import (
    Attachment,
    CallId,
    Generation,
    Message,
    Reason,
    RunId,
    SessionId,
    Status,
)
from lastword.core.value import value


@value
class ToolReport:
    """One tool call of a run that was ended."""

    call: CallId
    name: str
    status: Status


@value
class AnswerReport:
    """What a person answered to a run that was ended, and when."""

    call: CallId
    name: str
    allowed: bool
    by: str
    at: float  # seconds since 1970
    subject: str = ""  # what it was about: the command line, the path
    scope: str = ""  # what was allowed, or refused, for good, in words; empty: this once

    def __str__(self) -> str:
        said = f"{self.by} {'allowed' if self.allowed else 'refused'}".strip()
        about = f" `{_short(self.subject)}`" if self.subject else ""
        return f"{said} {self.name}{about}{f' (always {self.scope})' if self.scope else ''}"


@value
class Refusal:
    """Something that a run tried to do after it had been stopped. It was not done."""

    what: str
    after: float  # seconds since the fence


@value
class ChildReport:
    """One child run, and what became of it."""

    session: SessionId
    run: RunId
    fate: Literal["ended", "kept", "unconfirmed"]


@value
class CellReport:
    """A cell that stood at a frontier, or ran, and will not go on."""

    cell: str
    frontier: int
    waits: tuple[str, ...] = ()  # the names of the calls it waited on


@value
class ProcessReport:
    """One process that was running, and what became of it."""

    pid: int  # as the host sees it; -1 if nobody can tell any more
    command: str
    fate: Literal["ended", "killed", "kept", "unconfirmed"]


@value
class ProcessNews:
    """A process, for whoever watches: that it is to start, has started, has an id, has ended."""

    run: RunId
    pid: int  # -1 if it has none yet
    command: str
    state: Literal["starting", "started", "named", "ended"]
    code: int | None = None
    kept: bool = False
    job: str = ""  # the id under which it goes on, if it has one
    takes_input: bool = False


@value
class MessageReport:
    """A message that had not had its turn: dropped with its text here, or still waiting."""

    message: Message
    fate: Literal["dropped", "paused"]


@value
class Unconfirmed:
    """Something that had not ended when the receipt was written."""

    kind: Literal["run", "task", "delivery", "tool", "child", "process", "session"]
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


_MOST_NAMED = 5
_CAVEATS = {"group": "what left its process group cannot be seen, and may live on"}
_VERBS = {
    Reason.STOPPED: "Stopped",
    Reason.SUPERSEDED: "Replaced the answer in",
    Reason.SHUTDOWN: "Shut down",
    Reason.PARENT: "Ended, with its parent,",
    Reason.LOST: "Lost, to another process,",
}
_PLAINLY = {"run": "of this conversation", "child": "run"}  # what has an id for a name
_UNSEEN = "threads, tasks and processes that the engine started by itself, past the run"


@value
class Receipt:
    """What a stop ended, dropped, skipped, kept and could not confirm."""

    session: SessionId
    generation: Generation
    reason: Reason
    fenced_at: float  # seconds since 1970
    took: float = 0.0  # seconds from the fence to this receipt
    runs: tuple[RunId, ...] = ()
    dropped: int = 0
    refused: tuple[Refusal, ...] = ()  # the first of those that were dropped
    calls: tuple[ToolReport, ...] = ()
    children: tuple[ChildReport, ...] = ()
    processes: tuple[ProcessReport, ...] = ()
    cells: tuple[CellReport, ...] = ()  # frozen
    level: str = ""  # how strictly processes are held here; empty if none was ever started
    messages: tuple[MessageReport, ...] = ()
    unconfirmed: tuple[Unconfirmed, ...] = ()
    durable: bool = True
    answers: tuple[AnswerReport, ...] = ()
    lost: tuple[RunId, ...] = ()  # found here since the process that had them is gone; not stopped
    later: Callable[[], Awaitable[Receipt]] | None = field(default=None, compare=False, repr=False)

    def __bool__(self) -> bool:
        """False when there was nothing to stop."""
        return bool(self.runs or self.messages or self.cells)

    @property
    def quiet(self) -> bool:
        """Whether everything that was stopped has ended."""
        return not self.unconfirmed

    @property
    def tools(self) -> dict[Status, tuple[ToolReport, ...]]:
        """The tool calls of what was ended, by what became of them."""
        return {
            status: tuple(call for call in self.calls if call.status == status)
            for status in (Status.COMPLETED, Status.NOT_STARTED, Status.MAY_HAVE_EXECUTED)
        }

    async def settled(self) -> Receipt:
        """Wait until what was still dying has ended; return the receipt that says so."""
        return self if self.later is None else await self.later()

    def to_dict(self) -> dict[str, Any]:
        """This receipt as plain data, as JSON has it."""
        return cast("dict[str, Any]", json.loads(self.to_json()))

    def to_json(self) -> str:
        """This receipt as one line of JSON."""
        plain: dict[str, Any] = {
            name: [asdict(part) for part in getattr(self, name)] for name in _PARTS
        }
        plain |= {name: getattr(self, name) for name in (*_PLAIN, "lost")}
        return json.dumps({"quiet": self.quiet, **plain}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The receipt that `to_json` wrote."""
        try:
            return cls._from_plain(json.loads(text))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"this is not a receipt's JSON: {error!r}") from error

    @classmethod
    def _from_plain(cls, plain: dict[str, Any]) -> Self:
        fields: dict[str, Any] = {name: plain[name] for name in _PLAIN}
        fields |= {"reason": Reason(plain["reason"]), "runs": tuple(plain["runs"])}
        fields["lost"] = tuple(plain.get("lost", ()))
        fields |= {name: tuple(map(read, plain.get(name, ()))) for name, read in _PARTS.items()}
        return cls(**fields)

    def __str__(self) -> str:
        return self._told(self.session, self.unconfirmed)

    @property
    def words(self) -> str:
        """The same without an id, for where a person talks, who knows neither."""
        left = tuple(
            replace(one, name=_PLAINLY.get(one.kind, one.name)) for one in self.unconfirmed
        )
        return self._told("", left)

    def _told(self, where: str, left: tuple[Unconfirmed, ...]) -> str:
        beyond = [one.name for one in self.unconfirmed if one.kind == "session"]
        if not self and beyond:
            return f"{where or 'It'} could not be stopped from here: {'; '.join(beyond)}"
        if not self and self.lost:
            runs = f"{_count(len(self.lost), 'run')} was" if len(self.lost) == 1 else "runs were"
            lost = f"Nothing runs{f' in {where}' if where else ''} any more: {runs} lost with"
            words = f"{lost} the process that had it, so there was nothing left to stop."
            return "\n  ".join([words, *self._body("", "")])
        if not self:
            dying = f" Still ending: {', '.join(map(str, left))}." if left else ""
            return f"Nothing was running{f' in {where}' if where else ''}.{dying}"
        waiting = f"{_count(len(self.messages), 'message')} that had not started"
        runs = f"{_count(len(self.runs), 'run')} ended" if self.runs else waiting
        if not self.runs and not self.messages:
            runs = f"{_count(len(self.cells), 'cell')} frozen"
        seen = " as far as can be seen" if self.level in _CAVEATS else ""
        when = f"quiet{seen} after {self.took * 1000:.0f} ms" if self.quiet else "not all quiet yet"
        verb = _VERBS[self.reason]
        what = f"{verb} {where}" if where else verb.removesuffix(" in").removesuffix(",")
        below = self.children
        named = [f"{c.session} {c.fate}" for c in below] if where else _fates(below)
        return "\n  ".join(
            [f"{what}: {runs}, {when}.", *self._body(", ".join(map(str, left)), ", ".join(named))]
        )

    def _body(self, left: str, children: str) -> list[str]:
        rows = [
            ("still ending", left),
            *((f"tools {status}", _names(calls)) for status, calls in self.tools.items()),
            ("people said", ", ".join(map(str, self.answers))),
            ("processes", self._processes()),
            ("cells frozen", ", ".join(map(_cell, self.cells))),
            ("children", children),
            ("messages dropped", self._quoted("dropped")),
            ("messages waiting", self._quoted("paused")),
            ("refused after the stop", _count(self.dropped, "effect")),
            ("not stored yet", "no new message is taken until it is" if self._late else ""),
            ("cannot be seen", _UNSEEN if self.runs else ""),
        ]
        return [f"{label}: {what}" for label, what in rows if what]

    @property
    def _late(self) -> bool:
        return not self.durable and not any(one.kind == "session" for one in self.unconfirmed)

    def _processes(self) -> str:
        """Those that were killed, kept or not confirmed by name; the polite ones are counted."""
        caveat = f"; {_CAVEATS[self.level]}" if self.level in _CAVEATS else ""
        if not self.processes:
            return f"none was left in its group (level {self.level}{caveat})" if caveat else ""
        ended = sum(process.fate == "ended" for process in self.processes)
        parts = [f"{ended} ended"] if ended else []
        for fate in ("killed", "kept", "unconfirmed"):
            named = [f"{p.pid} {_short(p.command)}" for p in self.processes if p.fate == fate]
            more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
            if named:
                parts.append(f"{fate}: {', '.join(named[:_MOST_NAMED])}{more}")
        return f"{'; '.join(parts)} (level {self.level}{caveat})"

    def _quoted(self, fate: str) -> str:
        return ", ".join(f"“{_short(m.message.text)}”" for m in self.messages if m.fate == fate)


def _message(plain: dict[str, Any]) -> MessageReport:
    attachments = tuple(Attachment(**one) for one in plain["message"].pop("attachments"))
    return MessageReport(Message(**plain["message"], attachments=attachments), plain["fate"])


def _tool(plain: dict[str, Any]) -> ToolReport:
    return ToolReport(plain["call"], plain["name"], Status(plain["status"]))


_PARTS: dict[str, Callable[[dict[str, Any]], object]] = {
    "refused": lambda plain: Refusal(**plain),
    "calls": _tool,
    "answers": lambda plain: AnswerReport(**plain),
    "children": lambda plain: ChildReport(**plain),
    "cells": lambda plain: CellReport(plain["cell"], plain["frontier"], tuple(plain["waits"])),
    "processes": lambda plain: ProcessReport(**plain),
    "messages": _message,
    "unconfirmed": lambda plain: Unconfirmed(**plain),
}
_PLAIN = (
    "session",
    "generation",
    "reason",
    "fenced_at",
    "took",
    "runs",
    "dropped",
    "durable",
    "level",
)


def _cell(cell: CellReport) -> str:
    waits = f" (waited on {', '.join(cell.waits)})" if cell.waits else ""
    return f"{cell.cell}{waits}"


def _fates(children: tuple[ChildReport, ...]) -> list[str]:
    fates = [child.fate for child in children]
    return [f"{fates.count(fate)} {fate}" for fate in dict.fromkeys(fates)]


def _names(calls: tuple[ToolReport, ...]) -> str:
    return ", ".join(call.name for call in calls)


def _count(number: int, what: str) -> str:
    return "" if not number else f"1 {what}" if number == 1 else f"{number} {what}s"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:59] + "…"
