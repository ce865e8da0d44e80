"""What a lock is for, shown in every order in which the lines of two threads can fall."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, cast
from unittest.mock import Mock

from lastword.core.asks import Answer
from lastword.core.entries import Text
from lastword.core.events import Accepted, StopAsked, Stored
from lastword.core.model import Message, MessageId, RunId, SessionId, Settings
from lastword.core.question import Question
from lastword.core.receipt import AnswerReport
from lastword.core.session import SessionMachine
from lastword.core.story import Fact, FeedEvent
from lastword.errors import AlreadyAnswered, AnswerRefused, QuestionWithdrawn
from lastword.runtime import asks, hold, seat
from lastword.runtime.asks import Asks
from lastword.runtime.feed import Feed
from lastword.runtime.hold import Effect, Hold
from lastword.runtime.journal import Journal
from lastword.runtime.seat import Inbox, Move
from lastword.runtime.speech import Piece
from tests.runtime.stepping import Steps, every_order

RUN = RunId("s#1")


class Session:
    """A session whose run is going, as threads find it."""

    def __init__(self, lock: threading.Lock, *, known: bool = True) -> None:
        machine = SessionMachine(Settings())
        message = Message(MessageId("m"), "go")
        machine.apply(Accepted(message, RUN))
        machine.apply(Stored(message.id))
        loop = asyncio.get_running_loop()
        feed = Feed(SessionId("s"), loop, lambda: machine.fenced, keep=100)
        here = (SessionId("s"),)
        self.hold = Hold(machine, lock, feed, RUN, machine.generation, sessions=here)
        self.moves = Inbox(machine, lock, loop.time)
        self.moves.known = known

    def stop(self) -> Move:
        return self.moves.make(StopAsked())

    @property
    def made(self) -> list[Move]:
        """What is to be carried out, in order."""
        return list(iter(self.moves.next, None))


async def test_a_call_that_is_told_as_not_started_never_runs() -> None:
    def scene(steps: Steps) -> list[Callable[[], object]]:
        session, effect = Session(steps.lock), Effect("tool", "mail")
        return [lambda: session.hold.begin(effect), lambda: session.hold.give_up(effect)]

    told = [tuple(both) for both in every_order([hold], scene)]

    assert set(told) == {(True, False), (False, True)}  # it runs, or is told as not started


async def test_what_began_before_a_stop_is_seen_by_it_and_nothing_begins_after() -> None:
    def scene(steps: Steps) -> list[Callable[[], object]]:
        session, effect = Session(steps.lock), Effect("delivery", "sink")

        def stop() -> bool:
            session.stop()
            return effect in session.hold.under_way

        return [lambda: session.hold.begin(effect), stop]

    told = [tuple(both) for both in every_order([hold, seat], scene)]

    assert set(told) == {(True, True), (False, False)}  # it is waited for, or is refused


async def test_text_that_was_let_out_is_known_to_a_stop_and_nothing_comes_after() -> None:
    def scene(steps: Steps) -> list[Callable[[], object]]:
        session, piece = Session(steps.lock), Piece("text", 6, 6)

        def stop() -> bool:
            session.stop()
            return piece.out

        def speak() -> bool:
            return session.hold.publish(Text(RunId("s#1"), "a word"), piece) is not None

        return [speak, stop]

    told = [tuple(both) for both in every_order([hold, seat], scene)]

    assert set(told) == {(True, True), (False, False)}


class Home:
    """Where something is told of a run: nobody listens."""

    journal = cast("Journal", Mock())
    asks: Asks

    def publish(self, fact: Fact) -> None: ...


class Asker:
    """A run that asks."""

    def __init__(self, hold: Hold) -> None:
        self.hold, self.home = hold, Home()
        self.answers: list[AnswerReport] = []

    def tell(self, event: FeedEvent) -> None: ...

    @property
    def chain(self) -> tuple[Asker, ...]:
        return (self,)


async def test_an_answer_is_taken_before_a_stop_or_refused() -> None:
    waiting: list[Coroutine[Any, Any, Answer]] = []

    def scene(steps: Steps) -> list[Callable[[], object]]:
        session, asked = Session(steps.lock), Asks(SessionId("s"), bool)
        asker = Asker(session.hold)
        question = Question("q", SessionId("s"), session.hold.generation, RUN, "shell", "make")
        waiting.append(asked.ask(question, asker))
        waiting[-1].send(None)

        def answer() -> type[AnswerRefused] | None:
            try:
                asked.answer("q", question.generation, Answer(allowed=True))
            except AnswerRefused as refused:
                return type(refused)
            return None

        def stop() -> type[AnswerRefused] | None:
            session.stop()
            return answer()  # what a second one hears says what became of the first

        return [answer, stop]

    told = [tuple(both) for both in every_order([asks, seat], scene)]
    for one in waiting:
        one.close()

    assert set(told) == {(None, AlreadyAnswered), (QuestionWithdrawn, QuestionWithdrawn)}


async def test_whoever_waits_for_an_effect_is_woken_when_it_ends() -> None:
    waiting: list[tuple[Coroutine[Any, Any, None], asyncio.Future[None]]] = []

    def scene(steps: Steps) -> list[Callable[[], object]]:
        session, effect = Session(steps.lock), Effect("tool", "mail")
        session.hold.begin(effect)

        def wait() -> str:
            waits = session.hold.ended("tool")
            try:
                waiting.append((waits, waits.send(None)))
            except StopIteration:
                return "had ended"
            return "waits"

        return [wait, lambda: session.hold.finish(effect)]

    told = [both[0] for both in every_order([hold], scene)]
    for _ in range(3):
        await asyncio.sleep(0)

    assert set(told) == {"had ended", "waits"}
    asleep = [future for _, future in waiting if not future.done()]
    for waits, _ in waiting:
        waits.close()
    assert asleep == []


async def test_a_stop_that_comes_as_the_store_tells_what_there_is_is_made() -> None:
    sessions: list[Session] = []

    def scene(steps: Steps) -> list[Callable[[], object]]:
        session = Session(steps.lock, known=False)
        sessions.append(session)
        return [session.stop, lambda: session.moves.now_known(None)]

    stops = [both[0] for both in every_order([seat], scene)]

    for stop, session in zip(stops, sessions, strict=True):
        assert stop in session.made
        assert not session.hold.current


async def test_moves_are_carried_out_in_the_order_in_which_they_were_made() -> None:
    sessions: list[Session] = []

    def scene(steps: Steps) -> list[Callable[[], object]]:
        session = Session(steps.lock)
        sessions.append(session)
        other = Accepted(Message(MessageId("n"), "and now"), RunId("s#2"), "takeover")
        return [session.stop, lambda: session.moves.make(other)]

    for stop, other in every_order([seat], scene):
        assert isinstance(stop, Move)
        assert isinstance(other, Move)
        made = sessions[-1].made
        assert [step.generation for step in made] == sorted(step.generation for step in made)
        first = made[0]
        assert first.ends_something  # only the first found a run to end
        assert {id(step) for step in made} == {id(stop), id(other)}
