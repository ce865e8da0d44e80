"""A picture of a session: its facts, folded into what a person can see of it.

The one fold. Whoever shows a session applies each of its facts here and draws the changes. Its
laws, explored in the tests:

1. A picture of the log at any fact, and the rest of the facts, are the picture of all of them.
2. A fact that is heard twice changes nothing.
3. No live change follows the fence of its generation. What a run had let out before the fence, and
   had not been told by then, is shown as what was said, with the end of its run.
4. Whoever applies the changes to what it had has the picture.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from lastword.core import story
from lastword.core.asks import Answer
from lastword.core.cell import CellId, StoredCell
from lastword.core.entries import Entry, Finished
from lastword.core.model import (
    CallId,
    Generation,
    MessageId,
    Outcome,
    RunId,
    SessionId,
    Status,
)
from lastword.core.question import Question
from lastword.core.queue import QueueNews
from lastword.core.receipt import ProcessNews, Receipt, Unconfirmed
from lastword.core.scene import (
    AskClosed,
    AskOpened,
    CallPart,
    Change,
    Item,
    Part,
    Phase,
    PhaseIs,
    ProcessIs,
    ProcessStarts,
    ProgramIs,
    QueueIs,
    SaidMessage,
    Span,
    TurnItem,
    UsageIs,
    Wait,
    WaitIs,
)
from lastword.core.story import Fact, FeedEvent, is_effect, is_elsewhere, is_silenced, run_of
from lastword.core.turns import Turns

_MOST_WAITS = 200
_ENDED_PROCESSES = 100
_NOBODY = QueueNews((), hushed=False)  # waits


class Picture:
    """One session's, from some fact on."""

    def __init__(self, session: SessionId, *, notes: str = "note") -> None:
        self.session = session
        self.seen = 0  # the number of the last event that is in it
        self.phase = Phase()
        self.queue = _NOBODY
        self.questions: dict[str, Question] = {}
        self.waits: dict[CallId, Wait] = {}
        self.programs: dict[CellId, StoredCell] = {}
        self.processes: dict[int | str, Span] = {}
        self._changes: list[Change] = []
        self._turns = Turns(self._changes.append, notes=notes)
        self._over: set[RunId] = set()
        self._held: dict[
            RunId, list[FeedEvent]
        ] = {}  # let out before a fence, and not told by then
        self._fence = 0

    @property
    def items(self) -> list[Item]:
        """What stands below one another."""
        return self._turns.items

    @property
    def messages(self) -> dict[MessageId, SaidMessage]:
        """What was said, by id."""
        return self._turns.messages

    @property
    def pending(self) -> list[MessageId]:
        """What was accepted, and does not stand among the items yet."""
        return self._turns.pending

    def part(self, run: RunId, place: int) -> Part:
        """A part of a turn, as it is now."""
        return self._turns.part(run, place)

    # facts

    def record(self, entries: Iterable[Entry]) -> None:
        """What the log has, before anything is heard: nothing is to be drawn of it yet."""
        for entry in entries:
            at = entry.fenced_at if isinstance(entry, Receipt) else getattr(entry, "at", 0.0)
            self._take(entry, Generation(0), at, live=False)
        self._changes.clear()

    def stands(
        self,
        *,
        seen: int,
        phase: Phase,
        queue: QueueNews,
        questions: Iterable[Question] = (),
        programs: Iterable[StoredCell] = (),
        processes: Iterable[Span] = (),
        begun: Mapping[CallId, float] | None = None,
    ) -> None:
        """How all stands that the log does not have, at one moment: that of an event's number."""
        self.seen = seen
        self._queue_is(queue)
        self.questions = {question.id: question for question in questions}
        self.programs = {cell.id: cell for cell in programs}
        self.processes = {span.key: span for span in processes}
        self._turns.being_made(begun or {})
        self.settle(phase.ending)
        # what ends without a stop is told to nobody, so nobody would be told that it has ended
        ending, level = self._turns.ending, phase.level or self.phase.level
        self.phase = replace(phase, ending=ending, level=level)
        self._changes.clear()

    def settle(self, ending: Collection[Unconfirmed]) -> None:
        """No more than this is still ending, whatever the receipts in the log say."""
        self._turns.settle(ending)

    def hear(self, event: FeedEvent, fenced: int = 0, *, taken: bool = False) -> list[Change]:
        """What is different with this event; nothing if it was heard before.

        `fenced` is where the last stop or takeover has moved the session's generation to. If
        another process has `taken` it, what a run did and was not told is not ours to tell.
        """
        if event.number <= self.seen:
            return []
        self.seen = event.number
        fact, run = event.fact, run_of(event.fact)
        if taken:
            self._held.clear()
            if is_effect(fact):
                return []
        if run is not None and self._holds(event, run, fenced):
            return []
        self._release(fact)
        if event.generation > self.phase.generation:
            self._phase(generation=event.generation, typing=False)  # whose mark it was has lost it
        self._take(fact, event.generation, event.at, live=is_effect(fact))
        return self._told()

    def _holds(self, event: FeedEvent, run: RunId, fenced: int) -> bool:
        """Whether it is to be told with the end of its run, or not at all: what was let out before
        a fence, and all that its run's facts say after that, so that their order stays."""
        effect, fence = is_effect(event.fact), max(self._fence, fenced)
        if isinstance(event.fact, story.Said | Finished):
            return False
        if effect and run in self._over:
            return True
        if run in self._held or (effect and is_silenced(event.generation, fence)):
            if is_elsewhere(event.fact, self.session):
                return False  # its run goes on, and its end is not told here
            self._held.setdefault(run, []).append(event)
            return True
        return False

    def _told(self) -> list[Change]:
        told, self._changes[:] = list(self._changes), []
        return told

    def _release(self, end: Fact) -> None:
        """What was held back of a run is, with its end, part of what was said."""
        if not self._held:
            return
        match end:
            case Finished():
                runs: tuple[RunId, ...] = (end.run,)
            case Receipt():
                runs = end.runs
            case story.Recovery():
                runs = end.lost
            case _:
                return
        for run in runs:
            for event in self._held.pop(run, ()):
                if not isinstance(event.fact, story.Typing) or not event.fact.on:
                    self._take(event.fact, event.generation, event.at, live=False)

    def _take(  # noqa: C901, PLR0912, PLR0915 - one match
        self, fact: Fact, generation: Generation, at: float, *, live: bool
    ) -> None:
        turns = self._turns
        match fact:
            case story.Said(message, instead=instead):
                turns.said(message, at, instead)
            case story.Began(run, began_at, messages):
                turns.began(run, began_at, messages, at)
                self._phase(active=run, generation=max(self.phase.generation, began_at))
            case story.Text(run, text):
                turns.uttered("text", run, generation, text, at, live=live)
            case story.Thinking(run, text):
                turns.uttered("thinking", run, generation, text, at, live=live)
            case story.Progress(run, text, call):
                turns.progressed(run, generation, call, text, at, live=live)
            case story.Typing(run, on):
                if self.phase.active == run:
                    self._phase(live=live, typing=on)
            case story.Called():
                turns.called(fact, generation, at, live=live)
            case story.Begun(run, call, name):
                turns.begun(run, call, name, at, live=live)
            case story.Result():
                self._unasked(at, lambda wait: wait.call == fact.call)
                turns.ended(fact, at)
            case story.Asked():
                self._asked(fact, at, live=live)
            case story.Answered():
                self._answered(fact, at)
            case story.Withdrawn(call=call, ask=ask):
                self._closed(ask)
                self._unasked(at, lambda wait: wait.call == call)
            case ProcessNews():
                self._process(fact, at, live=live)
            case story.ProgramNews(cell=cell):
                self._program(cell)
            case QueueNews():
                self._queue_is(fact)
            case story.Used(run, model, read, written):
                if live:
                    self._changes.append(UsageIs(run, model, read, written, live=True))
            case story.Note(run, text):
                turns.noted(run, text)
            case story.LeftOut(run=run, text=text):
                turns.noted(run, text)
            case story.Summary():
                turns.noted(None, "Earlier turns were summarised for the model.")
            case story.Recovery():
                self._lost(fact, at)
                turns.noted(None, fact.words)
            case Finished():
                self._finished(fact, at)
            case Receipt():
                self._receipt(fact, settled=False)
            case story.Settled(receipt):
                self._receipt(receipt, settled=True)
            case story.Declined() | story.Unshown():
                pass  # for the model
            case _:
                assert_never(fact)

    # what stands beside

    def _phase(self, *, live: bool = False, **changed: object) -> None:
        phase = replace(self.phase, **changed)
        if phase != self.phase:
            self.phase = phase
            self._changes.append(PhaseIs(phase, live))

    def _queue_is(self, queue: QueueNews) -> None:
        if not queue.messages:
            queue = _NOBODY  # whether something would start is told with what waits
        if queue == self.queue:
            return
        self.queue = queue
        for one in queue.messages:
            self._turns.said(one.message, 0.0)
        self._changes.append(QueueIs(queue))

    def _asked(self, told: story.Asked, at: float, *, live: bool) -> None:
        elsewhere = is_elsewhere(told, self.session)
        if told.question and live:  # else nobody can be asked any more
            self.questions[told.question.id] = told.question
            self._changes.append(AskOpened(told.question, not elsewhere))
        if told.call not in self.waits and not elsewhere:  # whose call stands in a turn of this one
            self.waits[told.call] = Wait(told.call, told.run, told.tool, at)
            self._changes.append(WaitIs(self.waits[told.call]))
            for old in list(self.waits)[:-_MOST_WAITS]:
                del self.waits[old]

    def _answered(self, told: story.Answered, at: float) -> None:
        run, call, answer = told.run, told.call, told.answer
        asked = self.questions.get(told.ask)
        self._closed(told.ask, answer)
        if asked and asked.run == run and asked.session != self.session:
            return  # of a run elsewhere
        wait = self.waits.get(call) or Wait(call, run)  # asked before what is known here
        if not wait.until:
            self.waits[call] = replace(wait, until=at, answer=answer)
            self._changes.append(WaitIs(self.waits[call]))
        self._turns.answered(run, call, answer, at)

    def _closed(self, ask: str, answer: Answer | None = None) -> None:
        if self.questions.pop(ask, None):
            self._changes.append(AskClosed(ask, answer))

    def _unasked(self, at: float, is_over: Callable[[Wait], bool]) -> None:
        for wait in [one for one in self.waits.values() if not one.until and is_over(one)]:
            self.waits[wait.call] = replace(wait, until=at)
            self._changes.append(WaitIs(self.waits[wait.call]))

    def _process(self, news: ProcessNews, at: float, *, live: bool) -> None:
        if news.state == "starting":  # it has no number yet
            if live:
                self._changes.append(ProcessStarts(news, live))
            return
        key = news.job if news.kept else news.pid
        before = self.processes.get(key)
        if before is None or before.ended_at is not None:
            if news.state != "started":
                return
            before = Span(news, at)
        ended_at = at if news.state == "ended" else None
        job, run = news.job or before.news.job, before.news.run
        span = Span(replace(news, job=job, run=run), before.started_at, ended_at)
        self.processes[key] = span
        self._changes.append(ProcessIs(span))
        over = [key for key, one in self.processes.items() if one.ended_at is not None]
        for old in over[:-_ENDED_PROCESSES]:
            del self.processes[old]

    def _program(self, cell: StoredCell) -> None:
        # also if it stands as before: it is told again when it is known what its calls would do
        if cell.record.ending is None:
            self.programs[cell.id] = cell
        else:
            self.programs.pop(cell.id, None)
        self._changes.append(ProgramIs(cell))

    # ends

    def _finished(self, end: Finished, at: float) -> None:
        if (
            end.started
        ):  # else it ends for these messages alone: what waited with them may begin yet
            self._unasked(at, lambda wait: wait.run == end.run)
            self._over.add(end.run)
            if self.phase.active == end.run:
                self._phase(active=None, typing=False)
        self._turns.finished(end, at)

    def _lost(self, found: story.Recovery, at: float) -> None:
        """These went with an earlier process, and so did what they had not ended. The log has that,
        and none of it is told one by one."""
        doubtful = {report.call for report in found.calls}
        turns = [item for item in self.items if isinstance(item, TurnItem)]
        for turn in [one for one in turns if one.head.run in found.lost]:
            run = turn.head.run
            for call in [part.call for part in turn.parts if isinstance(part, CallPart)]:
                made = call in doubtful
                status = Status.MAY_HAVE_EXECUTED if made else Status.NOT_STARTED
                self._turns.ended(story.Result(run, call, status), at)
            for question in [one for one in self.questions.values() if one.run == run]:
                self._closed(question.id)
            self._finished(Finished(run, Outcome.LOST, (), started=True), at)

    def _receipt(self, receipt: Receipt, *, settled: bool) -> None:
        self._fence = max(self._fence, receipt.generation)
        self._over.update(receipt.runs)
        if self.phase.active in receipt.runs:
            self._phase(active=None, typing=False)
        self._turns.receipted(receipt, settled=settled)
        self._phase(
            ending=self._turns.ending,
            level=receipt.level or self.phase.level,
            generation=max(self.phase.generation, receipt.generation),
        )
