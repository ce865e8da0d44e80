"""Histories of one session, fact by fact, as its runtime would tell them and its log keep them.

Each move gives the facts that follow, in order. What happens is small (a run or two, a few
messages, one call at a time), and told in every order there is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lastword.core import story
from lastword.core.model import CallId, Generation, Message, Outcome, Reason, RunId, Status
from lastword.core.question import Question
from lastword.core.queue import QueueNews
from lastword.core.receipt import MessageReport, Receipt, ToolReport, Unconfirmed
from lastword.core.recovery import Recovery
from lastword.core.scene import Phase, Span
from tests.core.picture_doings import NOBODY, SESSION, Doings, Moment

__all__ = ["SESSION", "World"]


class World(Doings):
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

    # ends

    def _over(self, outcome: Outcome, status: Status) -> tuple[ToolReport, ...]:
        run, call, self.call = self.run, self.call, None
        asked, self.question, self.below = (self.question, self.below), None, None
        self.active = None  # all of it in one move, of which is told after that
        reports: tuple[ToolReport, ...] = ()
        for question in filter(None, asked):
            self.tell(story.Withdrawn(run, CallId(question.call), ask=question.id))
        if call:
            done = status if call[1] else Status.NOT_STARTED
            self.tell(story.Result(run, call[0], done))
            reports = (ToolReport(call[0], "tool", done),)
        if self.typing:
            self.typing = False
            self.tell(story.Typing(run, on=False))
        self.tell(story.Finished(run, outcome, (), started=True))
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
        receipt = Receipt(
            SESSION,
            Generation(self.generation),
            Reason.STOPPED,
            float(len(self.events) + 1),
            runs=(run,),
            calls=calls,
            messages=tuple(MessageReport(message, "dropped") for message in dropped),
            unconfirmed=() if quiet else (Unconfirmed("task", "slow"),),
        )
        self.ending = self.ending if quiet else receipt
        self.fences.append(self.runs)
        self.tell(receipt)

    def _settle(self) -> None:
        assert self.ending
        receipt, self.ending = replace(self.ending, unconfirmed=()), None
        self.tell(story.Settled(receipt))

    def _die(self) -> None:
        """Another process finds what this one left: what it settles is in the log, and not told."""
        run, call = self.run, self.call
        self.generation += 1
        self.active = self.call = None
        reports: tuple[ToolReport, ...] = ()
        if call:
            status = Status.MAY_HAVE_EXECUTED
            reports = (ToolReport(call[0], "tool", status),)
            self._keep(story.Result(run, call[0], status))
        self._keep(story.Finished(run, Outcome.LOST, (), started=True))
        self.tell(Recovery(lost=(run,), calls=reports))

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
    def moment(self) -> Moment:
        return Moment(
            seen=len(self.events),
            log=tuple(entry for _, entry in self.log),
            phase=self.phase,
            queue=self.queue,
            questions=tuple(self.questions),
            programs=(self.program,) if self.program else (),
            processes=self.spans,
            begun=self.begun,
        )

    @property
    def questions(self) -> list[Question]:
        return list(filter(None, (self.question, self.below, self.kept)))

    @property
    def begun(self) -> dict[CallId, float]:
        made = [(e.fact, e.at) for e in self.events if isinstance(e.fact, story.Begun)]
        return {fact.call: at for fact, at in made if self.call == (fact.call, True)}

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
