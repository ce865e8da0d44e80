"""Histories of one session, fact by fact, as its runtime would tell them and its log keep them.

Each move gives the facts that follow, in order. What happens is small (a run or two, a few
messages, one call at a time), and told in every order there is.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from lastword.core import story
from lastword.core.cell import (
    CellId,
    CellOutcome,
    CellRecord,
    Ending,
    Frontier,
    PendingCall,
    PendingGeneration,
    StoredCell,
)
from lastword.core.entries import Entry
from lastword.core.model import (
    CallId,
    Generation,
    Message,
    MessageId,
    Outcome,
    Reason,
    RunId,
    SessionId,
    Status,
)
from lastword.core.question import Question
from lastword.core.queue import Queued, QueueNews
from lastword.core.receipt import MessageReport, Receipt, ToolReport, Unconfirmed
from lastword.core.scene import Phase, Span
from lastword.core.story import Fact, FeedEvent

SESSION = SessionId("s")
NOBODY = QueueNews((), hushed=False)


@dataclass
class World:
    generation: int = 0
    runs: int = 0
    said: int = 0
    active: RunId | None = None
    typing: bool = False
    call: tuple[CallId, bool] | None = None  # and whether it was begun
    calls: int = 0
    question: Question | None = None
    below: Question | None = None  # of a run below the one that goes
    process: RunId | None = None
    waiting: list[Message] = field(default_factory=list[Message])
    steering: Message | None = None
    ending: Receipt | None = None
    program: StoredCell | None = None
    counts: dict[str, int] = field(default_factory=dict[str, int])
    events: list[FeedEvent] = field(default_factory=list[FeedEvent])
    log: list[tuple[int, Entry]] = field(default_factory=list[tuple[int, Entry]])  # told at
    fences: list[int] = field(default_factory=list[int])  # of each receipt: the runs begun by then

    def make(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1
        getattr(self, f"_{name}")()

    def tell(self, fact: Fact, *, log: bool = True) -> None:
        number = len(self.events) + 1
        at = float(number)
        if hasattr(fact, "at"):
            fact = replace(fact, at=at)
        if isinstance(fact, Receipt) and not fact.fenced_at:
            fact = replace(fact, fenced_at=at)
        self.events.append(FeedEvent(number, SESSION, Generation(self.generation), fact, at))
        if log and isinstance(fact, Entry):
            self.log.append((number, fact))

    @property
    def run(self) -> RunId:
        assert self.active
        return self.active

    def _message(self) -> Message:
        self.said += 1
        return Message(MessageId(f"m{self.said}"), f"message {self.said}", "ann")

    def _queue(self) -> None:
        steering = (Queued(self.steering, self.run, "steering"),) if self.steering else ()
        rest = tuple(Queued(one, RunId(f"q{one.id}"), "queued") for one in self.waiting)
        self.tell(QueueNews((*steering, *rest), hushed=False))

    # a message, and the run that answers it

    def _say(self) -> None:
        message = self._message()
        self.tell(story.Said(message, RunId(f"s#{self.runs + 1}")))
        if self.active:
            self.waiting.append(message)
            self._queue()
        else:
            self._begin((message,))

    def _collect(self) -> None:
        """Two messages wait for one turn."""
        for _ in range(2):
            message = self._message()
            self.tell(story.Said(message, RunId(f"s#{self.runs + 1}")))
            self.waiting.append(message)
        self._queue()

    def _begin(self, messages: tuple[Message, ...]) -> None:
        self.runs += 1
        self.generation += 1
        self.active = RunId(f"s#{self.runs}")
        ids = tuple(message.id for message in messages)
        self.tell(story.Began(self.run, Generation(self.generation), ids))

    def _steer(self) -> None:
        self.steering = self._message()
        self.tell(story.Said(self.steering, self.run))
        self._queue()

    def _take_up(self) -> None:
        assert self.steering
        ids = (self.steering.id,)
        self.steering = None
        self.tell(story.Began(self.run, Generation(self.generation), ids))
        self._queue()

    def _edit(self) -> None:
        self.waiting[0] = replace(self.waiting[0], text="edited")
        self.tell(story.Said(self.waiting[0], RunId("s#9")))
        self._queue()

    def _withdraw(self) -> None:
        message, run = self.waiting.pop(0), RunId(f"s#{self.runs + 1}")  # that others wait for, too
        self.tell(story.Finished(run, Outcome.WITHDRAWN, (message.id,), started=False))
        self._queue()

    # what a run does

    def _text(self) -> None:
        self.tell(story.Text(self.run, f"text {len(self.events)} "))

    def _think(self) -> None:
        self.tell(story.Thinking(self.run, f"thought {len(self.events)} "))

    def _progress(self) -> None:
        self.tell(story.Progress(self.run, f"p{len(self.events)} ", self.call and self.call[0]))

    def _mark(self) -> None:
        self.typing = not self.typing
        self.tell(story.Typing(self.run, on=self.typing))

    def _use(self) -> None:
        self.tell(story.Used(self.run, "model", 1, 2))

    def _called(self) -> None:
        self.calls += 1
        self.call = CallId(f"{self.run}.{self.calls}"), False
        self.tell(story.Called(self.run, self.call[0], "tool", "{}"))

    def _begun(self) -> None:
        assert self.call
        self.call = self.call[0], True
        self.tell(story.Begun(self.run, self.call[0], "tool"))

    def _result(self) -> None:
        assert self.call
        call, self.call = self.call[0], None
        self.tell(story.Result(self.run, call, Status.COMPLETED, "done"))

    def _ask(self) -> None:
        assert self.call
        call = self.call[0]
        asked = Generation(self.generation)
        self.question = Question(f"q{call}", SESSION, asked, self.run, "tool", "{}", call=call)
        id_ = self.question.id
        self.tell(story.Asked(self.run, call, "tool", "", ask=id_, question=self.question))

    def _answer(self) -> None:
        assert self.question
        question, self.question = self.question, None
        call = CallId(question.call)
        self.tell(story.Answered(self.run, call, allowed=True, by="ann", ask=question.id))

    def _ask_below(self) -> None:
        run, call = RunId(f"{self.run}/1"), CallId(f"{self.run}/1.1")
        asked = Generation(self.generation)
        self.below = Question("below", SESSION, asked, run, "tool", "{}", call=call)
        self.tell(story.Asked(self.run, call, "tool", "", ask="below", question=self.below))

    def _answer_below(self) -> None:
        assert self.below
        question, self.below = self.below, None
        call = CallId(question.call)
        self.tell(story.Answered(self.run, call, allowed=False, by="ann", ask=question.id))

    def _start(self) -> None:
        self.process = self.run
        self.tell(story.ProcessNews(self.run, -1, "sleep", "starting"))
        self.tell(story.ProcessNews(self.run, 7, "sleep", "started"))

    def _end(self) -> None:
        assert self.process
        run, self.process = self.process, None
        self.tell(story.ProcessNews(run, 7, "sleep", "ended", code=0))

    def _note(self) -> None:
        self.tell(story.Note(self.active, f"note {len(self.events)}"))

    def _summarise(self) -> None:
        self.tell(story.Summary("in short", self.run))

    def _leave_out(self) -> None:
        self.tell(story.LeftOut(self.run, self.run, "calls", "a picture"))

    def _pause(self) -> None:
        call = PendingCall(CallId("c.1"), "tool")
        frontier = Frontier(PendingGeneration(1), (call,))
        record = CellRecord(CellId("c"), "pausable", 1, frontier, True, (), (), (), None)
        self.program = StoredCell(SESSION, record, "", run=self.run)
        self.tell(story.ProgramNews(self.run, self.program))

    def _complete(self) -> None:
        assert self.program
        record = replace(self.program.record, ending=Ending(CellOutcome.COMPLETED))
        cell, self.program = replace(self.program, record=record), None
        self.tell(story.ProgramNews(RunId(cell.run), cell))

    # ends

    def _over(self, outcome: Outcome, status: Status) -> tuple[ToolReport, ...]:
        run, call, self.call = self.run, self.call, None
        reports: tuple[ToolReport, ...] = ()
        for question in self.questions:
            self.tell(story.Withdrawn(run, CallId(question.call), ask=question.id))
        self.question = self.below = None
        if call:
            done = status if call[1] else Status.NOT_STARTED
            self.tell(story.Result(run, call[0], done))
            reports = (ToolReport(call[0], "tool", done),)
        if self.typing:
            self.typing = False
            self.tell(story.Typing(run, on=False))
        self.tell(story.Finished(run, outcome, (), started=True))
        self.active = None
        return reports

    def _finish(self) -> None:
        if self.steering:
            self.waiting.insert(0, self.steering)
            self.steering = None
        self._over(Outcome.COMPLETED, Status.COMPLETED)
        if self.waiting:
            self._begin_waiting()

    def _begin_waiting(self) -> None:
        messages, self.waiting = tuple(self.waiting), []
        self._begin(messages)
        self._queue()

    def _finish_alone(self) -> None:
        """What waits does so for more, and is not begun."""
        self._over(Outcome.COMPLETED, Status.COMPLETED)

    def _stop(self) -> None:
        self._stopped(quiet=True)

    def _stop_slowly(self) -> None:
        self._stopped(quiet=False)

    def _stop_keeping(self) -> None:
        """What waits stays."""
        self.generation += 1
        run = self.run
        self._over(Outcome.STOPPED, Status.MAY_HAVE_EXECUTED)
        paused = tuple(MessageReport(message, "paused") for message in self.waiting)
        self._receipt(Reason.STOPPED, runs=(run,), messages=paused)

    def _stop_own(self) -> None:
        """Who may stop no more than their own did: what others sent begins with that."""
        self.generation += 1
        run = self.run
        self._over(Outcome.STOPPED, Status.MAY_HAVE_EXECUTED)
        self.fences.append(self.runs)
        self._begin_waiting()
        fenced = Generation(self.generation)
        self.tell(Receipt(SESSION, fenced, Reason.STOPPED, 0.0, runs=(run,)))

    def _stop_waiting(self) -> None:
        """One of those that wait is stopped alone, which the generation does not move for."""
        message = self.waiting.pop(0)
        end = story.Finished(RunId("q"), Outcome.WITHDRAWN, (message.id,), started=False)
        self.tell(end)
        self._queue()
        dropped = (MessageReport(message, "dropped"),)
        self._receipt(Reason.STOPPED, messages=dropped, fenced_at=0.5)  # a clock that stands still

    def _receipt(self, reason: Reason, *, fenced_at: float = 0.0, **about: Any) -> None:
        self.fences.append(self.runs)
        self.tell(Receipt(SESSION, Generation(self.generation), reason, fenced_at, **about))

    def _stopped(self, *, quiet: bool) -> None:
        self.generation += 1
        run, dropped = self.run, [*([self.steering] if self.steering else []), *self.waiting]
        self.steering, self.waiting = None, []
        calls = self._over(Outcome.STOPPED, Status.MAY_HAVE_EXECUTED)
        for message in dropped:
            end = story.Finished(RunId("q"), Outcome.STOPPED, (message.id,), started=False)
            self.tell(end)
        if dropped:
            self._queue()
        self._receipt(
            Reason.STOPPED,
            runs=(run,),
            calls=calls,
            messages=tuple(MessageReport(message, "dropped") for message in dropped),
            unconfirmed=() if quiet else (Unconfirmed("task", "slow"),),
        )
        told = self.events[-1].fact
        if not quiet and isinstance(told, Receipt):
            self.ending = told

    def _settle(self) -> None:
        assert self.ending
        receipt, self.ending = replace(self.ending, unconfirmed=()), None
        self.tell(story.Settled(receipt))

    def _take_over(self) -> None:
        message = self._message()
        self.generation += 1
        run = self.run
        dropped, self.steering = self.steering, None
        self.tell(story.Said(message, RunId(f"s#{self.runs + 1}")))
        calls = self._over(Outcome.SUPERSEDED, Status.MAY_HAVE_EXECUTED)
        if dropped:
            self.waiting.insert(0, dropped)
        self.fences.append(self.runs)
        self._begin((message,))
        fenced = Generation(self.generation)  # that of the run which has the session now
        self.tell(Receipt(SESSION, fenced, Reason.SUPERSEDED, 0.0, runs=(run,), calls=calls))

    def _replace_waiting(self) -> None:
        """A takeover, of what has not begun: its receipt is in the log before the new run is."""
        dropped, self.waiting = self.waiting, []
        message = self._message()
        ids = tuple(one.id for one in dropped)
        self.generation += 2  # what waited would have begun, and the new run does
        self.tell(story.Finished(RunId("q"), Outcome.SUPERSEDED, ids, started=False))
        self.tell(story.Said(message, RunId(f"s#{self.runs + 1}")))
        self._queue()
        receipt = Receipt(
            SESSION,
            Generation(self.generation),
            Reason.SUPERSEDED,
            float(len(self.events)),
            messages=tuple(MessageReport(one, "dropped") for one in dropped),
        )
        self.fences.append(self.runs)
        self.log.append((len(self.events), receipt))
        self.generation -= 1
        self._begin((message,))
        self.tell(receipt, log=False)

    @property
    def questions(self) -> list[Question]:
        return list(filter(None, (self.question, self.below)))

    @property
    def phase(self) -> Phase:
        ending = self.ending.unconfirmed if self.ending else ()
        return Phase(Generation(self.generation), self.active, self.typing, ending)

    @property
    def queue(self) -> QueueNews:
        told = [e.fact for e in self.events if isinstance(e.fact, QueueNews)]
        return told[-1] if told else NOBODY

    @property
    def spans(self) -> tuple[Span, ...]:
        spans: dict[int, Span] = {}
        for event in self.events:
            match event.fact:
                case story.ProcessNews(state="started", pid=pid) as news:
                    spans[pid] = Span(news, event.at)
                case story.ProcessNews(state="ended", pid=pid) as news:
                    before = spans[pid]
                    spans[pid] = Span(
                        replace(news, run=before.news.run), before.started_at, event.at
                    )
                case _:
                    pass
        return tuple(spans.values())
