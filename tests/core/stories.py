"""Logs as sessions write them: entries in short, and `Story`, which makes one move by move."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from lastword.core.entries import (
    Began,
    Called,
    Entry,
    Finished,
    Native,
    Nature,
    Note,
    Result,
    Said,
    Summary,
    Text,
    Thinking,
)
from lastword.core.model import (
    CallId,
    Generation,
    Message,
    MessageId,
    Origin,
    Outcome,
    Reason,
    RunId,
    SessionId,
    Status,
)
from lastword.core.receipt import Receipt
from tests.core.providers import sign


def said(name: str, run: RunId, text: str = "", origin: Origin = "person") -> Said:
    return Said(Message(MessageId(name), text or f"text of {name}", origin=origin), run)


def began(run: RunId, *names: str) -> Began:
    return Began(run, Generation(1), tuple(map(MessageId, names)))


def called(run: RunId, call: str) -> Called:
    return Called(run, CallId(call), "tool", "{}")


def result(run: RunId, call: str, status: Status, content: str = "") -> Result:
    return Result(run, CallId(call), status, content)


def finished(
    run: RunId,
    outcome: Outcome,
    *names: str,
    started: bool = True,
    rollback: bool = False,
    error: str = "",
    kind: str = "",
) -> Finished:
    ids = tuple(map(MessageId, names))
    return Finished(run, outcome, ids, started, rollback, error, kind=kind)


def stopped(run: RunId) -> Receipt:
    return Receipt(SessionId("s"), Generation(2), Reason.STOPPED, 0.0, runs=(run,))


def recovery(log: Iterable[Entry]) -> list[Entry]:
    """What is written at the next start for runs that a crash left as the log tells."""
    going: dict[RunId, list[CallId]] = {}
    for entry in log:
        match entry:
            case Began(run):
                going.setdefault(run, [])
            case Called(run, call) if run in going:
                going[run].append(call)
            case Result(run, call) if call in going.get(run, []):
                going[run].remove(call)
            case Finished(run):
                going.pop(run, None)
            case _:
                pass
    return [
        entry
        for run, calls in going.items()
        for entry in (
            *(Result(run, call, Status.MAY_HAVE_EXECUTED) for call in calls),
            finished(run, Outcome.LOST),
        )
    ]


@dataclass(slots=True)
class Story:
    """A session and its engine, seen from the log. A move that is not possible is none."""

    engine: str
    log: list[Entry] = field(default_factory=list[Entry])
    run: RunId | None = None
    messages: list[str] = field(default_factory=list[str])  # of the run that is going
    open: list[CallId] = field(default_factory=list[CallId])
    closed: list[Called] = field(default_factory=list[Called])  # calls of runs that ended
    waiting: list[tuple[str, RunId]] = field(default_factory=list[tuple[str, RunId]])
    thought: str = ""  # of a thinking that is not signed yet
    reasoning: str = ""  # that the rest of the model's response comes of
    fresh: bool = False  # nothing came of it yet
    count: int = 0

    def tell(self, moves: Iterable[str]) -> Story:
        for move in moves:
            MOVES[move](self)
        return self

    def number(self) -> int:
        self.count += 1
        return self.count

    # the person, and others who send

    def say(self, *, rollback: bool = False) -> None:
        self.end(Outcome.SUPERSEDED, rollback=rollback)
        overtaken, self.waiting = self.waiting, []
        for name, run in overtaken:
            ends = finished(run, Outcome.SUPERSEDED, name, started=False, rollback=rollback)
            self.log.append(ends)
        self.wait()
        self.next()

    def wait(self, origin: Origin = "person") -> None:
        name, run = f"m{self.number()}", RunId(f"r{self.count}")
        self.waiting.append((name, run))
        words = " " if self.count % 7 == 0 else ""  # who sends nothing in words also sends
        self.log.append(said(name, run, words, origin))

    def queue(self, origin: Origin = "person") -> None:
        self.wait(origin)
        if not self.run:
            self.next()

    def withdraw(self) -> None:
        if self.waiting:
            name, run = self.waiting.pop()
            self.log.append(finished(run, Outcome.WITHDRAWN, name, started=False))

    def steer(self) -> None:
        if self.run:
            self.wait()
            name, _ = self.waiting.pop()
            self.messages.append(name)
            self.log.append(began(self.run, name))

    def stop(self, outcome: Outcome = Outcome.STOPPED) -> None:
        run = self.run
        self.end(outcome)
        for name, waits in self.waiting:
            self.log.append(finished(waits, outcome, name, started=False))
        self.waiting = []
        self.log += [stopped(run)] if run else []

    def next(self) -> None:
        if self.waiting and not self.run:
            name, self.run = self.waiting.pop(0)
            self.messages = [name]
            self.log.append(began(self.run, name))

    def end(self, outcome: Outcome, *, rollback: bool = False) -> None:
        """The run ends; what it left open is settled, as the ledger does."""
        if self.run:
            for n, call in enumerate(self.open):
                never = n % 2 and outcome is not Outcome.LOST
                status = Status.NOT_STARTED if never else Status.MAY_HAVE_EXECUTED
                self.log.append(Result(self.run, call, status))
            self.log.append(finished(self.run, outcome, *self.messages, rollback=rollback))
            self.vanish()

    def vanish(self) -> None:
        """The process died, and nobody has looked yet; or the end of any other end."""
        self.closed += [e for e in self.log if isinstance(e, Called) and e.run == self.run]
        self.run, self.open = None, []
        self.thought, self.reasoning, self.fresh = "", "", False

    def end_and_next(self, outcome: Outcome) -> None:
        self.end(outcome)
        self.next()

    # the model, as its engine writes it down

    def speak(self, text: str = "") -> None:
        if self.run:
            words = text or f" w{self.number()}\n"
            self.log.append(Text(self.run, words, self.native("msg")))
            self.thought, self.fresh = "", self.fresh and not words.strip()

    def think(self, *, signed: bool = True, redacted: bool = False) -> None:
        if not self.run or (self.engine == "responses" and self.fresh):
            return
        text = "" if redacted else f"t{self.number()} "
        self.thought += text
        native = self.signature() if signed else None
        self.log.append(Thinking(self.run, text, native))
        if signed:
            self.thought = ""

    def signature(self) -> Native | None:
        if self.engine == "responses":
            self.reasoning, self.fresh = f"rs_{self.number()}", True
            return Native("responses", self.reasoning)
        return Native("anthropic", sign(self.thought)) if self.engine else None

    def native(self, kind: str) -> Native | None:
        if self.engine == "responses" and self.reasoning:
            return Native("responses", f"{kind}_{self.number()}.{self.reasoning}")
        return None

    def call(self, many: int = 1, nature: Nature = "", arguments: str = "{}") -> None:
        for _ in range(many if self.run else 0):
            call = CallId(f"s#1.{self.number()}")
            native = self.native("fc")
            self.log.append(
                Called(self.run or RunId(""), call, "<tool>", arguments, nature, native)
            )
            self.open.append(call)
            self.thought, self.fresh = "", False

    def settle(self, status: Status, content: str = "", *, error: bool = False) -> None:
        if self.run and self.open:
            self.log.append(Result(self.run, self.open.pop(), status, content, error))
            if not self.open:
                self.reasoning = ""  # the model answers anew

    def late(self) -> None:
        self.log += [
            Result(made.run, made.call, Status.COMPLETED, "too late") for made in self.closed[-2:]
        ]

    # the session

    def compact(self, *, going: bool = False) -> None:
        runs = [entry.run for entry in self.log if isinstance(entry, Began)]
        upto = [run for run in runs if going or run != self.run]
        if upto:
            self.log.append(Summary(f"summed up {self.number()}", upto[-1]))


MOVES: dict[str, Callable[[Story], object]] = {
    "say": Story.say,
    "say instead": lambda story: story.say(rollback=True),
    "queue": Story.queue,
    "child": lambda story: story.queue("child"),
    "withdraw": Story.withdraw,
    "steer": Story.steer,
    "stop": Story.stop,
    "shut down": lambda story: story.stop(Outcome.SHUTDOWN),
    "parent": lambda story: story.stop(Outcome.PARENT),
    "complete": lambda story: story.end_and_next(Outcome.COMPLETED),
    "fail": lambda story: story.end_and_next(Outcome.FAILED),
    "crash": lambda story: story.end(Outcome.LOST),
    "vanish": Story.vanish,
    "speak": Story.speak,
    "breathe": lambda story: story.speak(" \n"),
    "think": Story.think,
    "muse": lambda story: story.think(signed=False),
    "redact": lambda story: story.think(redacted=True),
    "call": Story.call,
    "calls": lambda story: story.call(3),
    "look": lambda story: story.call(1, "read_only"),
    "mumble": lambda story: story.call(1, "idempotent", '{"cut": [1, '),
    "return": lambda story: story.settle(Status.COMPLETED, "done"),
    "return nothing": lambda story: story.settle(Status.COMPLETED),
    "raise": lambda story: story.settle(Status.COMPLETED, "Error()", error=True),
    "refuse": lambda story: story.settle(Status.NOT_STARTED, "no"),
    "late": Story.late,
    "remark": lambda story: story.log.append(Note(story.run, "by the way")),
    "announce": lambda story: story.log.append(Note(None, "in general")),
    "work": lambda story: story.tell(["think", "speak", "calls", "return", "raise", "return"]),
    "answer": lambda story: story.tell(["think", "speak", "complete"]),
    "compact": Story.compact,
    "compact all": lambda story: story.compact(going=True),
}


def story(engine: str, moves: Sequence[str]) -> tuple[Entry, ...]:
    return tuple(Story(engine).tell(moves).log)
