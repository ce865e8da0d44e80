"""What a process that died left behind, as the log tells it, and what is to be written about it.

A run that had begun is lost: it may have gone on for a while, and nobody knows how far. Its open
calls may have executed, and are never made again; what it had asked a person is withdrawn, and that
call was not made. What was accepted and had not begun still waits, and so does a program.
What was stopped stays stopped, because the stop itself is in the log; what was only paused, moved
or hushed, in the session's standing.
"""

from __future__ import annotations

from collections.abc import Iterable

from lastword.core.brief import without_middle
from lastword.core.entries import (
    Answered,
    Asked,
    Began,
    Called,
    Entry,
    Finished,
    Result,
    Said,
    Withdrawn,
)
from lastword.core.model import CallId, Message, MessageId, Outcome, RunId, Status, Turn
from lastword.core.receipt import ToolReport
from lastword.core.value import value

_NAMED = 5  # calls that a person is told by name


@value
class Recovery:
    """What was found of an earlier process."""

    lost: tuple[RunId, ...] = ()
    calls: tuple[ToolReport, ...] = ()  # those of lost runs that may have executed
    waiting: tuple[Turn, ...] = ()
    asked: tuple[str, ...] = ()  # the tools that lost runs had asked for, and nobody had answered

    def __str__(self) -> str:
        runs = f"lost: {', '.join(self.lost)}" if self.lost else ""
        calls = ", ".join(call.name for call in self.calls)
        doubt = f"may have executed: {calls}" if calls else ""
        messages = sum(len(turn.messages) for turn in self.waiting)
        waits = f"{messages} waiting" if messages else ""
        asked = f"no longer asked for: {', '.join(self.asked)}" if self.asked else ""
        return (
            "Found after a restart: " + "; ".join(filter(None, (runs, doubt, asked, waits))) + "."
        )

    @property
    def words(self) -> str:
        """The same without an id, for where a person talks."""
        named = [without_middle(call.name) for call in self.calls[:_NAMED]]
        more = [f"{len(self.calls) - _NAMED} more"] if len(self.calls) > _NAMED else []
        asked = ", ".join(without_middle(tool) for tool in self.asked[:_NAMED])
        messages = sum(len(turn.messages) for turn in self.waiting)
        waits = "1 message waits" if messages == 1 else f"{messages} messages wait"
        parts = [
            "the answer that was going is lost" if self.lost else "",
            f"may have executed: {', '.join([*named, *more])}" if named else "",
            f"you are not asked any more about: {asked}" if asked else "",
            f"{waits} until you say something, or resume the queue" if messages else "",
        ]
        return f"After a restart: {'; '.join(filter(None, parts))}."


class _Log:
    def __init__(self, entries: Iterable[Entry]) -> None:
        self.said: dict[MessageId, tuple[Message, RunId]] = {}
        self.began: dict[RunId, list[MessageId]] = {}
        self.open: dict[CallId, Called] = {}
        self.asked: dict[tuple[RunId, CallId, str], Asked] = {}
        self.over: set[RunId] = set()
        self.ended: set[MessageId] = set()
        for entry in entries:
            self._take(entry)

    def _take(self, entry: Entry) -> None:  # noqa: C901, PLR0912 - one match
        match entry:
            case Said(message, run):
                self._say(message, run)
            case Began(run, _, messages):
                self.began.setdefault(run, []).extend(messages)
            case Called(call=call):
                self.open[call] = entry
            case Result(call=call):
                self.open.pop(call, None)
            case Asked(run, call, ask=ask):
                self.asked[run, call, ask] = entry
            case Answered(run, call, ask=ask) | Withdrawn(run, call, ask=ask):
                self.asked.pop((run, call, ask), None)
            case Finished(run=run, messages=messages, started=started):
                self.ended.update(messages)
                if started:
                    self.over.add(run)
            case _:
                pass

    def _say(self, message: Message, run: RunId) -> None:
        if message.id in self.said:  # edited, or given back by a run that had taken it up
            for begun in self.began.values():
                begun[:] = [id_ for id_ in begun if id_ != message.id]
        self.said[message.id] = (message, run)


def recover(
    entries: Iterable[Entry], order: tuple[MessageId, ...] = (), *, child: bool = False
) -> tuple[Recovery, tuple[Entry, ...]]:
    """What was found, and the entries that settle it; a child's run has nobody to wait for."""
    log = _Log(entries)
    lost = {run: ids for run, ids in log.began.items() if run not in log.over}
    calls = [called for called in log.open.values() if called.run in lost]
    asked = [asked for asked in log.asked.values() if asked.run in lost]
    settled: list[Entry] = [Withdrawn(one.run, one.call, ask=one.ask) for one in asked]
    unbegun = {one.call for one in asked}  # what is asked for has not been made
    settled += [Result(c.run, c.call, Status.NOT_STARTED) for c in calls if c.call in unbegun]
    calls = [called for called in calls if called.call not in unbegun]
    settled += [Result(c.run, c.call, Status.MAY_HAVE_EXECUTED) for c in calls]
    for run, messages in lost.items():
        left = tuple(message for message in messages if message not in log.ended)
        settled.append(Finished(run, Outcome.LOST, left, started=True))
    begun = {message for messages in log.began.values() for message in messages}
    turns: dict[RunId, list[Message]] = {}
    for id_, (message, run) in log.said.items():
        if id_ not in log.ended and id_ not in begun:
            turns.setdefault(run, []).append(message)
    if child:
        for run, messages in turns.items():
            ids = tuple(message.id for message in messages)
            settled.append(Finished(run, Outcome.LOST, ids, started=False))
        turns = {}
    places = {message: place for place, message in enumerate(order)}
    waiting = [Turn(run, tuple(messages)) for run, messages in turns.items()]
    found = Recovery(
        lost=tuple(lost),
        calls=tuple(ToolReport(c.call, c.name, Status.MAY_HAVE_EXECUTED) for c in calls),
        waiting=tuple(
            sorted(waiting, key=lambda turn: places.get(turn.messages[0].id, len(places)))
        ),
        asked=tuple(one.tool for one in asked),
    )
    return found, tuple(settled)
