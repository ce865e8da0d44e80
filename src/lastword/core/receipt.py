"""The account a stop gives of itself.

Once you hold a receipt, nothing it names can act again. What had not ended by the time it was
written is in `unconfirmed`, by name: it is fenced, it is being ended, and `settled()` waits for it.
It speaks of what went through the run. What an engine starts by itself, past the run (a thread, a
task, a process), nobody here can see, and its words say so. Of an isolated run there is nothing
that could not be seen: it is all in the processes that ended. At the level `group`, whoever leaves
its group can outlive that, so no run is told as isolated there.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import field
from itertools import groupby
from typing import Any, Literal, Self

from lastword.core.model import (
    CallId,
    Generation,
    Message,
    Reason,
    RunId,
    SessionId,
    Status,
)
from lastword.core.plain import from_plain, to_plain
from lastword.core.rows import Row, RowKind, Tone, at_length, count, headline, row, short, some
from lastword.core.undo import FilesReport
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
        about = f" `{short(self.subject)}`" if self.subject else ""
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
    waits: tuple[str, ...]  # the names of the calls it waited on


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

    kind: Literal["run", "task", "delivery", "tool", "write", "child", "process", "session"]
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def given_up(self) -> bool:
        """Whether it was cancelled, and is in doubt for good: nothing of it is ending any more."""
        return self.kind == "delivery" and self.name.endswith(_DOUBT)


def in_doubt(delivery: str) -> Unconfirmed:
    """A delivery that was given up."""
    return Unconfirmed("delivery", delivery.removesuffix(_DOUBT) + _DOUBT)


_DOUBT = ", which may have arrived"
_MOST_NAMED = 5  # processes of one fate
_FATES = ("ended", "killed", "kept", "unconfirmed")  # of a process
_CAVEATS = {"group": "what left its process group cannot be seen, and may live on"}
_VERBS = {
    Reason.STOPPED: "Stopped{it}",
    Reason.SUPERSEDED: "Replaced by a new message{there}",
    Reason.SHUTDOWN: "Shut down{it}",
    Reason.PARENT: "Ended{it} with its parent",
    Reason.LOST: "Lost{it} to another process",
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
    files: tuple[FilesReport, ...] = ()  # what the runs have changed there
    isolated: tuple[RunId, ...] = ()  # of the runs: had a process, which nobody of them outlives
    later: Callable[[], Awaitable[Receipt]] | None = field(default=None, compare=False, repr=False)

    def __bool__(self) -> bool:
        """False when there was nothing to stop."""
        return bool(self.runs or self.messages or self.cells)

    @property
    def quiet(self) -> bool:
        """Whether everything that was stopped has ended."""
        return not self.unconfirmed

    @property
    def ending(self) -> tuple[Unconfirmed, ...]:
        """What had not ended when it was written, and was not given up either."""
        return tuple(one for one in self.unconfirmed if not one.given_up)

    @property
    def tools(self) -> dict[Status, tuple[ToolReport, ...]]:
        """The tool calls of what was ended, by what became of them."""
        return {
            status: tuple(call for call in self.calls if call.status == status)
            for status in (Status.COMPLETED, Status.NOT_STARTED, Status.MAY_HAVE_EXECUTED)
        }

    def has_settled(self, ending: Iterable[Unconfirmed]) -> bool:
        """The log keeps a receipt as it was written: whether what was still ending then has ended
        since, if no more than this is `ending` now."""
        return bool(self.ending) and not set(self.ending) & set(ending)

    async def settled(self) -> Receipt:
        """Wait until what was still dying has ended; return the receipt that says so."""
        return self if self.later is None else await self.later()

    def to_dict(self) -> dict[str, Any]:
        """This receipt as plain data, as JSON has it."""
        return {"quiet": self.quiet, **to_plain(self)}

    def to_json(self) -> str:
        """This receipt as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The receipt that `to_json` wrote."""
        try:
            plain = json.loads(text)
            plain.pop("quiet", None)  # it follows from the rest
            return from_plain(cls, plain)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"this is not a receipt's JSON: {error!r}") from error

    def __str__(self) -> str:
        return at_length(self.rows())

    @property
    def words(self) -> str:
        """The same without an id, for where a person talks, who knows neither."""
        return at_length(self.rows(ids=False))

    @property
    def last_words(self) -> str:
        """What is told when what was still ending has ended."""
        return f"What was still ending has ended. {headline(self.rows(ids=False, settled=True))}"

    def rows(self, *, ids: bool = True, settled: bool = False) -> tuple[Row, ...]:
        """All there is to know of it, in the order in which it is told: the one wording.

        Without `ids`, the words name no session and no run. `settled` is for one from the log, of
        which is known that what was still ending then has ended since.
        """
        tools = self.tools
        late = settled and not self.quiet and not self._beyond
        every = (
            self._head(ids=ids),
            self._quiet(late=late),
            row("beyond", "not stopped from here", self._beyond if self else (), "doubt"),
            self._ending(ids=ids, late=late),
            _tools("doubtful", tools[Status.MAY_HAVE_EXECUTED], "doubt"),
            _tools("uncalled", tools[Status.NOT_STARTED], "news"),
            _tools("called", tools[Status.COMPLETED], "fine"),
            row("files", "changed", map(str, self.files), "news"),
            row("answers", "people said", map(str, self.answers)),
            self._processes(),
            _programs(self.cells, ids=ids),
            _children(self.children, ids=ids),
            row("dropped", "messages dropped", self._quoted("dropped"), "news"),
            row("waiting", "messages waiting", self._quoted("paused"), "news"),
            _lost(self.lost, ids=ids),
            _refused(self.dropped, self.refused),
            row("unstored", "not stored yet", self._unstored, "doubt"),
            row("unseen", "cannot be seen", (_UNSEEN,) if {*self.runs} - {*self.isolated} else ()),
        )
        return tuple(one for one in every if one)

    def _head(self, *, ids: bool) -> Row | None:
        it, there = (f" {self.session}", f" in {self.session}") if ids else ("", "")
        if self:
            words = f"{_VERBS[self.reason].format(it=it, there=there)}: {self._ended}"
        elif self._beyond:
            words = f"{it.strip() or 'It'} could not be stopped from here"
            words += f": {'; '.join(self._beyond).rstrip('.')}"
        elif self.lost:
            words = f"Nothing runs{there} any more, so there was nothing left to stop"
        else:
            words = f"Nothing was running{there}"
        return row("head", "", (*self.runs, f"generation {self.generation}"), words=words)

    @property
    def _ended(self) -> str:
        if self.runs:
            return f"{count(len(self.runs), 'answer')} cut off"
        if self.messages:
            return f"{count(len(self.messages), 'message')} that had not started"
        return f"{count(len(self.cells), 'program')} frozen"

    def _quiet(self, *, late: bool) -> Row | None:
        seen = " as far as can be seen" if self.level in _CAVEATS else ""
        when = f"quiet{seen} after {self.took * 1000:.0f} ms" if self.quiet else "not all quiet yet"
        words = f"quiet{seen} by now" if late else when
        tone = "fine" if late or self.quiet else "doubt"
        return row("quiet", "", (), tone, words=words if self else "")

    @property
    def _beyond(self) -> list[str]:
        """Why there may be something that is out of reach."""
        return [one.name for one in self.unconfirmed if one.kind == "session"]

    def _ending(self, *, ids: bool, late: bool) -> Row | None:
        left = [one for one in self.unconfirmed if one.kind != "session"]
        if late:  # of a delivery the log does not have whether it was given up
            left = [in_doubt(one.name) if one.kind == "delivery" else one for one in left]
        names = list(map(str, left))
        told = names if ids else [f"{one.kind} {_PLAINLY.get(one.kind, one.name)}" for one in left]
        if late:
            return row("ending", "ended only later", names, "news", without_ids=told)
        return row("ending", "still ending", names, "doubt", without_ids=told)

    def _processes(self) -> Row | None:
        """Those that were killed, kept or not confirmed by name; the polite ones are counted."""
        caveat = _CAVEATS.get(self.level, "")
        how = f" (level {self.level}{'; ' if caveat else ''}{caveat})" if self.level else ""
        if not self.processes:
            words = f"none was left in its group{how}" if self and caveat else ""
            return row("processes", "processes", (), words=words)
        named = {fate: [_process(p) for p in self.processes if p.fate == fate] for fate in _FATES}
        parts = [f"{len(named['ended'])} ended"] if named["ended"] else []
        parts += [f"{fate}: {some(named[fate], _MOST_NAMED)}" for fate in _FATES[1:] if named[fate]]
        tone = "doubt" if caveat or named["unconfirmed"] else "news"
        names = [f"{name} {fate}" for fate in _FATES for name in named[fate]]
        told = "; ".join(parts)
        brief = f"{told} ({caveat})" if caveat else told
        words = f"{told}{how}"
        return row("processes", "processes", names, tone, words=words, brief=brief)

    @property
    def _unstored(self) -> tuple[str, ...]:
        late = self and not self.durable and not self._beyond
        return ("no new message is taken until it is",) if late else ()

    def _quoted(self, fate: str) -> list[str]:
        return [f"“{short(m.message.text)}”" for m in self.messages if m.fate == fate]


def _tools(kind: RowKind, calls: Sequence[ToolReport], tone: Tone) -> Row | None:
    became = calls[0].status if calls else ""
    return row(kind, f"tools {became}", (call.name for call in calls), tone)


def _process(one: ProcessReport) -> str:
    command = short(one.command)
    return f"{one.pid} {command}" if one.pid > 0 else command


def _programs(cells: Sequence[CellReport], *, ids: bool) -> Row | None:
    did = [f"waited on {', '.join(one.waits)}" if one.waits else "was running" for one in cells]
    named = [f"{one.cell} ({what})" for one, what in zip(cells, did, strict=True)]
    plainly = [f"one that {what}" for what in did]
    return row("programs", "programs frozen", named, "news", without_ids=named if ids else plainly)


def _children(children: Sequence[ChildReport], *, ids: bool) -> Row | None:
    named = [f"{child.session} {child.fate}" for child in children]
    fates = [child.fate for child in children]
    counted = [f"{fates.count(fate)} {fate}" for fate in dict.fromkeys(fates)]
    return row("children", "children", named, "news", without_ids=named if ids else counted)


def _lost(runs: Sequence[RunId], *, ids: bool) -> Row | None:
    label, plainly = "lost with the process that had it", [count(len(runs), "run")] if runs else []
    return row("lost", label, runs, "news", without_ids=runs if ids else plainly)


def _refused(many: int, first: Sequence[Refusal]) -> Row | None:
    names: list[str] = []
    for what, same in groupby(first, key=lambda one: one.what):
        times = [one.after * 1000 for one in same]
        often = f", {len(times)} times" if len(times) > 1 else ""
        names.append(f"{short(what)}{often}, {times[0]:.0f} ms later")
    if names and many > len(first):
        names.append(f"{many - len(first)} more that are only counted")
    every = max(many, len(first))
    words = count(every, "effect") if every else ""
    return row("refused", "refused after the stop", names, "news", words=words)
