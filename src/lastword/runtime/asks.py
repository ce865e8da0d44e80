"""What waits for a person in a session, and in those of the runs below it.

The rules are in `core/asks`. Here whoever asks waits for a future, and what becomes of an ask is on
record and told wherever it was shown: in its own session and in every one above it. Whether a run
may act is asked under its session's lock, in the step that tells of its ask or takes an answer; so
an answer is taken before the fence, or refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from lastword.core import asks
from lastword.core.asks import Answer, AnswerSent, Ask, AskEnd, AskMachine, Closed
from lastword.core.cell import CellId, StoredCell
from lastword.core.entries import Answered, Asked, Withdrawn
from lastword.core.model import CallId, Message, MessageId, RunId, SessionId
from lastword.core.question import Question, Scope
from lastword.core.receipt import AnswerReport
from lastword.core.resume import promise_in
from lastword.core.story import Fact, FeedEvent
from lastword.errors import CellError, UnknownQuestion
from lastword.runtime.asking import acting
from lastword.runtime.hold import Hold
from lastword.runtime.journal import Journal
from lastword.runtime.rendering import cut

News: TypeAlias = Asked | Answered | Withdrawn
ForGood: TypeAlias = Callable[[bool, Scope], object]
"""Who asks is told what was allowed, or forbidden, for good: in the step that takes the answer."""


class ToldIn(Protocol):
    """The session of a run, as far as something is told there of it."""

    @property
    def journal(self) -> Journal: ...
    @property
    def asks(self) -> Asks: ...

    def publish(self, fact: Fact) -> object: ...


class AskingRun(Protocol):
    """A run that asks."""

    hold: Hold
    answers: list[AnswerReport]  # what people said to it

    def tell(self, event: FeedEvent) -> None:
        """Its sink, if it has one, is told."""
        ...

    @property
    def home(self) -> ToldIn: ...
    @property
    def chain(self) -> Sequence[AskingRun]:
        """It, and the runs that it works for."""
        ...


@dataclass(eq=False, slots=True)
class _Waiting:
    """A run's ask, and who waits for it."""

    question: Question
    told: Sequence[AskingRun]  # the run that asks, and those above it
    answer: asyncio.Future[Answer]
    for_good: ForGood | None

    @property
    def current(self) -> bool:
        return self.told[0].hold.current and not self.answer.done()  # else it was given up


class Asks:
    """One session's, with those below it. For the event loop's thread."""

    def __init__(
        self, session: SessionId, publish: Callable[[Fact], object], closed: Closed | None = None
    ) -> None:
        self._session = session  # the person's
        self._publish = publish  # there
        self.machine = AskMachine(closed)  # which knows what became of each
        self._waiting: dict[str, _Waiting] = {}

    def know(self, id: str) -> bool:
        """Whether a run has asked that here, and it is known what became of it."""
        return id in self._waiting or id in self.machine.closed

    def open(self, session: SessionId) -> tuple[Ask, ...]:
        """All that can be answered now in a session: what runs ask, there and below it, and what
        programs wait on."""
        asked = {question.id for question in self.questions(session)}
        every = self.machine.open
        return tuple(a for a in every if a.id in asked or (a.cell and a.session == session))

    # what runs ask

    def questions(self, session: SessionId | None = None) -> tuple[Question, ...]:
        """What runs ask, as it is shown; of one session, with those below it."""
        every = [one.question for one in self._waiting.values() if one.current]
        return tuple(q for q in every if session is None or session in (q.session, *q.above))

    async def ask(
        self, question: Question, run: AskingRun, for_good: ForGood | None = None
    ) -> Answer:
        """Ask, and wait for the answer. Ends with CancelledError when it is withdrawn. Raises
        `Superseded` if the run may not act, and then nobody is asked."""
        try:
            waiting = self._open(question, run, for_good)
        except BaseException:
            await asyncio.sleep(0)  # a loop of refused ones must not stall the event loop
            raise
        try:
            answer = await waiting.answer
        finally:
            self._close(self.machine.apply(asks.Dropped(question.id)))
        await self._stored(waiting)
        return answer

    @staticmethod
    async def _stored(waiting: _Waiting) -> None:
        """Return when what was said is on record wherever it was told: nothing is done before."""
        for one in waiting.told:
            await one.home.journal.committed()

    def _open(
        self,
        question: Question,
        run: AskingRun,
        for_good: ForGood | None = None,
        *,
        shown: bool = True,
    ) -> _Waiting:
        asked = Asked(
            question.run,
            CallId(question.call),
            question.tool,
            question.subject,
            ask=question.id,
            question=question if shown else None,
        )
        run.hold.must_hold(f"this question about {question.tool}")
        event = run.hold.publish(asked)  # the check, in the step that tells it
        if event is None:  # a stop from another thread was quicker
            run.hold.must_hold(f"this question about {question.tool}")
        ask = Ask(
            question.id,
            question.session,
            question.generation,
            asked.call,
            question.tool,
            question.subject,
            run=question.run,
            above=tuple(one.hold.run for one in run.chain[1:]),
            at=question.at,
        )
        self.machine.apply(asks.Opened(ask, event is not None))
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        waiting = self._waiting[question.id] = _Waiting(question, run.chain, future, for_good)
        heard = [
            event,
            *(one.hold.publish(replace(asked, run=one.hold.run)) for one in waiting.told[1:]),
        ]
        for one, event in zip(waiting.told, heard, strict=True):
            if shown and event is not None:
                one.tell(event)
        self._told(waiting, asked)
        return waiting

    def _told(self, waiting: _Waiting, news: News) -> None:
        """It is on record with each run that was told of it, and stored at once: nothing else may
        be for as long as a person takes. A person is told also where no run of theirs waits."""
        if isinstance(news, Asked):
            stored: News = replace(news, subject=cut(news.subject), question=None)
        else:
            stored = news
        for one in waiting.told:
            journal = one.home.journal
            journal.add(replace(stored, run=one.hold.run, at=journal.now()))
            if not isinstance(news, Withdrawn):  # which the fence's own commit has
                journal.commit()
        if self._session not in [one.hold.sessions[-1] for one in waiting.told]:
            self._publish(news)

    def take(self, said: AnswerSent, session: SessionId | None = None) -> None:
        """Take what somebody says, if it is shown in that session. Raises as `answer` does, and
        ValueError if the question offers no such scope."""
        waiting, reach = self._waiting.get(said.question), None
        if waiting:
            question = waiting.question
            if session not in (None, question.session, *question.above):
                raise UnknownQuestion(f"there is no question {said.question}")
            meant = question.meant(said.scope)
            reach = meant if said.always else None
        words = reach.words if reach else ""
        self.answer(said.question, said.generation, Answer(said.allow, said.by, words))
        if waiting and waiting.for_good and reach:
            waiting.for_good(said.allow, reach)

    def answer(self, id: str, generation: int, answer: Answer) -> None:
        """Take an answer to what was seen at a generation. Raises AnswerRefused if it is not the
        first, or came too late; then nothing was done."""
        what = "this answer"
        with acting(what) as right:
            waiting = self._waiting.get(id)
            if waiting is None:
                self.machine.apply(asks.AnswerGiven(id, generation, answer))  # which says why not
                return
            with waiting.told[0].hold.lock:
                if right:
                    right.must_hold(what)
                given = asks.AnswerGiven(id, generation, answer, waiting.current)
                closed = self.machine.apply(given)
            self._close(closed)

    def _close(self, closed: Iterable[AskEnd]) -> None:
        for one in closed:
            waiting, ask, answer = self._waiting.pop(one.ask.id), one.ask, one.answer
            if answer is None:
                waiting.answer.cancel()
                self._tell(waiting, Withdrawn(ask.run, ask.call, ask=ask.id))
                continue
            if not waiting.answer.done():  # who waits may have been cancelled in this step
                waiting.answer.set_result(answer)
            said = Answered(ask.run, ask.call, answer.allowed, answer.by, answer.scope, ask=ask.id)
            for run in waiting.told:
                run.answers.append(_report(waiting.question, answer, run.home.journal.now()))
            self._tell(waiting, said)

    def _tell(self, waiting: _Waiting, news: Answered | Withdrawn) -> None:
        for one in waiting.told:
            one.home.publish(replace(news, run=one.hold.run))
        self._told(waiting, news)

    async def answered_before(self, question: Question, answer: Answer, run: AskingRun) -> None:
        """A call is on record as asked for and answered, which was before it came to be the run's:
        a program had left it open. Nobody is shown it now."""
        waiting = self._open(question, run, shown=False)
        self.answer(question.id, question.generation, answer)
        await self._stored(waiting)

    def ended(self, run: RunId, messages: Iterable[MessageId] = ()) -> None:
        """A run has lost its session, or ended; or messages that never began have."""
        self._close(self.machine.apply(asks.RunOver(run, tuple(messages))))

    # what programs wait on

    def found(self, session: SessionId, cells: Iterable[StoredCell]) -> None:
        """All of a session's that have not ended, as its store has them."""
        self.machine.apply(asks.ProgramsFound(session, tuple(cell.record for cell in cells)))

    def stands(self, cell: StoredCell) -> None:
        """Where one stands now."""
        self.machine.apply(asks.Stood(cell.session, cell.record))

    def said(self, message: Message) -> None:
        """A message was accepted: if it answers what a program waits on, nobody else does now."""
        if promise := promise_in(message):
            with suppress(CellError):  # its run will say that it came too late
                self.machine.apply(promise)

    def must_take(self, cell: CellId, generation: int, calls: tuple[CallId, ...]) -> None:
        """Raise as a message would be refused that answers these calls, and do nothing."""
        self.machine.must_take(cell, generation, calls)


def _report(question: Question, answer: Answer, at: float) -> AnswerReport:
    """The same for a receipt."""
    return AnswerReport(
        CallId(question.call),
        question.tool,
        answer.allowed,
        answer.by,
        at,
        cut(question.subject),
        answer.scope,
    )
