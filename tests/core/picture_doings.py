"""What a run of a picture's world does, fact by fact, and what is known of the world meanwhile."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

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
from lastword.core.model import CallId, Generation, Message, MessageId, RunId, SessionId, Status
from lastword.core.question import Question
from lastword.core.queue import Queued, QueueNews
from lastword.core.receipt import Receipt
from lastword.core.scene import Phase, Span
from lastword.core.story import Fact, FeedEvent

SESSION = SessionId("s")
NOBODY = QueueNews((), hushed=False)


@dataclass(frozen=True, slots=True)
class Moment:
    """What who comes with a fact can read and be told."""

    seen: int
    log: tuple[Entry, ...]
    phase: Phase
    queue: QueueNews
    questions: tuple[Question, ...]
    programs: tuple[StoredCell, ...]
    processes: tuple[Span, ...]
    begun: Mapping[CallId, float]


@dataclass
class Doings(ABC):
    generation: int = 0
    runs: int = 0
    said: int = 0
    active: RunId | None = None
    typing: bool = False
    call: tuple[CallId, bool] | None = None  # and whether it was begun
    calls: int = 0
    question: Question | None = None
    below: Question | None = None  # of a run below the one that goes
    kept: Question | None = None  # of one that no stop of this session ends
    process: RunId | None = None
    waiting: list[Message] = field(default_factory=list[Message])
    steering: Message | None = None
    ending: Receipt | None = None
    program: StoredCell | None = None
    counts: dict[str, int] = field(default_factory=dict[str, int])
    events: list[FeedEvent] = field(default_factory=list[FeedEvent])
    log: list[tuple[int, Entry]] = field(default_factory=list[tuple[int, Entry]])  # told at
    fences: list[int] = field(default_factory=list[int])  # of each receipt: the runs begun by then
    moments: list[Moment] = field(default_factory=list[Moment])  # with each fact, in the middle too

    @property
    @abstractmethod
    def moment(self) -> Moment:
        """How all stands now."""

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
        self.moments.append(self.moment)

    def _keep(self, entry: Entry) -> None:
        """It is in the log, and not told; at the time of what is told next."""
        number = len(self.events) + 1
        self.log.append((number, replace(entry, at=float(number))))

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

    def _ask_kept(self) -> None:
        """A run below that was kept asks: the log that has it is another session's."""
        run, call = RunId("s#1/9#1"), CallId("s#1/9#1.1")
        below = SessionId("s#1/9")
        self.kept = Question("kept", below, Generation(1), run, "tool", "{}", call=call)
        asked = story.Asked(run, call, "tool", "", ask="kept", question=self.kept)
        self.tell(asked, log=False)

    def _answer_kept(self) -> None:
        assert self.kept
        question, self.kept = self.kept, None
        call = CallId(question.call)
        told = story.Answered(question.run, call, allowed=True, by="ann", ask=question.id)
        self.tell(told, log=False)

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
