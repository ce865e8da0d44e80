"""What is asked before it is done; and a question ends with the run that asked it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from lastword import Outcome, Run, Runtime, Session, Status
from lastword.agent.permission import (
    AlreadyAnswered,
    AnswerRefused,
    Question,
    Questions,
    QuestionWithdrawn,
    StaleAnswer,
    UnknownQuestion,
)
from lastword.agent.rules import Rules
from lastword.testing.seeded import explore
from tests.promise.heard import hearing
from tests.promise.stories import check_log, runtime, stop
from tests.promise.workshop import until

RULES = Rules.parse(
    ["allow read_file", "ask shell", "deny shell rm -rf *", "allow shell git status*"]
)


async def shell(command: str) -> str:
    return f"ran {command}"


async def write_file(path: str, text: str) -> str:
    return f"wrote {len(text)} to {path}"


class Desk:
    """Whoever is asked; and an agent that wants to do several things."""

    def __init__(self, *calls: Callable[[Run], Awaitable[str]], rules: Rules = RULES) -> None:
        self.questions = Questions(rules)
        self.news: list[tuple[str, str]] = []
        self.done: list[str] = []
        self._calls = calls

    async def engine(self, run: Run) -> None:
        for call in self._calls:
            try:
                self.done.append(await call(run))
            except PermissionError as error:
                self.done.append(str(error))

    @asynccontextmanager
    async def open(self, **settings: Any) -> AsyncGenerator[Session]:
        before = self.questions.as_before_tool()
        async with Runtime(self.engine, before_tool=before, **settings) as r:
            session = r.session("s")
            with hearing(session, lambda news, asked: self.news.append((news, asked.text))):
                yield session
                await asyncio.sleep(0)  # what was told in this step is heard in the next

    async def asked(self) -> Question:
        await until(self.questions.open)
        [question] = self.questions.open("s")
        return question


def sh(line: str) -> Callable[[Run], Awaitable[str]]:
    return lambda run: run.call(shell, line)


async def test_a_call_is_made_refused_or_asked_for_by_the_rules() -> None:
    desk = Desk(sh("git status"), sh("rm -rf /"), sh("make"), sh("make clean"))

    async with desk.open() as session:
        ticket = await session.send("go")
        make = await desk.asked()
        desk.questions.answer(make.id, True, make.generation)
        await until(lambda: len(desk.done) == 3)
        clean = await desk.asked()
        desk.questions.answer(clean.id, False, clean.generation)
        assert await ticket.outcome() == Outcome.COMPLETED

    assert (make.tool, make.subject, make.session) == ("shell", "make", "s")
    assert desk.done == [
        "ran git status",
        "shell was not called: the rule 'deny shell rm -rf *' forbids it",
        "ran make",
        "shell was not called: the person did not allow it",
    ]
    assert [news for news, _ in desk.news] == ["opened", "answered"] * 2


async def test_the_person_is_shown_the_whole_call_and_not_only_its_path() -> None:
    desk = Desk(lambda run: run.call(write_file, "./a/../b.txt", "evil"))

    async with desk.open() as session:
        await session.send("go")
        question = await desk.asked()

        assert question.text == '{"path": "./a/../b.txt", "text": "evil"}'
        assert question.subject == "b.txt"


async def test_the_first_answer_wins_and_the_second_hears_so() -> None:
    desk = Desk(sh("make"), sh("sleep"))

    async with desk.open() as session:
        await session.send("go")
        question = await desk.asked()
        desk.questions.answer(question.id, False, question.generation)
        with pytest.raises(AlreadyAnswered, match="that answer holds"):
            desk.questions.answer(question.id, True, question.generation)
        await until(lambda: desk.done)

        assert desk.done == ["shell was not called: the person did not allow it"]


async def test_an_answer_to_another_generation_or_to_nothing_is_refused() -> None:
    desk = Desk(sh("make"))

    async with desk.open() as session:
        await session.send("go")
        question = await desk.asked()
        with pytest.raises(StaleAnswer, match=f"asked at generation {question.generation}"):
            desk.questions.answer(question.id, True, question.generation - 1)
        with pytest.raises(UnknownQuestion, match="there is no question x"):
            desk.questions.answer("x", True, question.generation)
        with pytest.raises(TypeError, match="the id of a question must be a str, not a list"):
            desk.questions.answer([], True, question.generation)  # pyright: ignore[reportArgumentType] - so it is

        assert desk.questions.open() == (question,)
        assert desk.done == []


@pytest.mark.scenario("G5", part="library")
def test_a_stop_withdraws_the_question_and_a_late_answer_is_refused(schedules: int) -> None:
    async def story() -> None:
        made, news, refused = list[str](), list[tuple[str, str]](), list[AnswerRefused]()
        questions = Questions(RULES)
        opened = asyncio.Event()

        def watch(what: str, question: Question) -> None:
            news.append((what, question.subject))
            opened.set()

        async def tool(command: str) -> None:
            made.append(command)

        async def engine(run: Run) -> None:
            gated = run.gate(tool, name="shell")
            await asyncio.gather(gated("first"), gated("second"))

        async with runtime(engine, before_tool=questions.as_before_tool()) as r:
            session = r.session("s")
            with hearing(session, watch):
                await session.send("go")
                await opened.wait()
                [question] = questions.open()
                stopping = asyncio.create_task(stop(session))
                await asyncio.sleep(0)
                try:
                    questions.answer(question.id, True, question.generation)
                except AnswerRefused as error:
                    refused.append(error)
                receipt = await stopping
                for _ in range(100):
                    await asyncio.sleep(0)

            assert questions.open() == ()
            if refused:  # the stop was first
                assert made == []
                assert isinstance(refused[0], QuestionWithdrawn)
                only = question.subject  # the other one never appears
                assert news == [("opened", only), ("withdrawn", only)]
            assert set(made) <= {question.subject}
            assert receipt.quiet
            with pytest.raises(AnswerRefused):
                questions.answer(question.id, True, question.generation)
            await check_log(session)

    explore(story, schedules)


async def test_an_answer_right_after_the_stop_is_refused_although_nothing_has_unwound() -> None:
    questions, news = Questions(), list[str]()

    async def engine(run: Run) -> None:
        for _ in range(3):  # deaf to cancellation; and whatever it asks later never appears
            with suppress(asyncio.CancelledError):
                await questions.ask(run, "shell", "make")

    async with Runtime(engine) as r:
        session = r.session("s")
        with hearing(session, lambda what, _: news.append(what)):
            await session.send("go")
            await until(questions.open)
            [question] = questions.open()
            await until(lambda: news)
            stopping = session.stop()

            assert questions.open() == ()  # at the instant of the stop
            with pytest.raises(QuestionWithdrawn, match="the answer came too late"):
                questions.answer(question.id, True, question.generation)
            await stopping
            await until(lambda: len(news) > 1)
            assert news == ["opened", "withdrawn"]


async def test_a_question_from_a_task_that_nobody_cancels_is_withdrawn_by_the_stop() -> None:
    questions, tasks = Questions(), list[asyncio.Task[bool]]()

    async def engine(run: Run) -> None:
        tasks.append(asyncio.create_task(questions.ask(run, "shell", "make")))
        await asyncio.Event().wait()

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await until(questions.open)
        receipt = await session.stop()

        assert receipt.quiet
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]


async def test_a_takeover_withdraws_the_question_and_the_next_run_asks_its_own() -> None:
    desk = Desk(lambda run: run.call(shell, run.message.text))

    async with desk.open() as session:
        await session.send("one")
        first = await desk.asked()
        await session.send("two")
        await until(lambda: ("opened", '{"command": "two"}') in desk.news)
        second = await desk.asked()

        with pytest.raises(QuestionWithdrawn):
            desk.questions.answer(first.id, True, first.generation)
        with pytest.raises(StaleAnswer):
            desk.questions.answer(second.id, True, first.generation)
        desk.questions.answer(second.id, True, second.generation)
        await until(lambda: desk.done)

    assert desk.done == ["ran two"]


async def test_a_call_that_its_engine_gave_up_is_no_longer_asked_for() -> None:
    questions, given_up = Questions(), asyncio.Event()

    async def engine(run: Run) -> None:
        asking = run.task(run.call(shell, "make"))
        await until(questions.open)
        [question] = questions.open()
        asking.cancel()
        with pytest.raises(QuestionWithdrawn):
            questions.answer(question.id, True, question.generation)
        given_up.set()

    async with Runtime(engine, before_tool=questions.as_before_tool()) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    assert given_up.is_set()


async def test_what_is_always_allowed_is_so_in_its_session_and_in_no_other() -> None:
    rules = Rules.parse(["ask shell"])
    desk = Desk(sh("git status -s"), sh("git status -s"), sh("git status -b"), rules=rules)

    async with desk.open() as session:
        await session.send("go")
        question = await desk.asked()
        desk.questions.answer(question.id, True, question.generation, always=True)
        await until(lambda: len(desk.done) == 2)
        again = await desk.asked()
        await session.answer(again.id, True, again.generation, always=True, scope="wider")

        assert again.subject == "git status -b"
        assert desk.questions.rules("s").decide("shell", "git status -v")[0] == "allow"
        assert desk.questions.rules("t").decide("shell", "git status -v")[0] == "ask"


async def test_one_answer_for_always_spares_the_questions_that_wait_behind_it() -> None:
    async def thrice(run: Run) -> str:
        return " ".join(await asyncio.gather(*(run.call(shell, "make") for _ in range(3))))

    desk = Desk(thrice)

    async with desk.open() as session:
        ticket = await session.send("go")
        question = await desk.asked()
        desk.questions.answer(question.id, True, question.generation, always=True)
        await ticket.outcome()

    assert [news for news, _ in desk.news] == ["opened", "answered"]


async def test_arguments_that_cannot_be_read_are_allowed_by_no_pattern() -> None:
    long = "git status " + "x" * 30_000
    desk = Desk(sh(long), rules=Rules.parse(["allow shell git status*"]))

    async with desk.open() as session:
        await session.send("go")
        question = await desk.asked()

        assert question.text.endswith("characters)")


async def test_a_call_from_outside_of_its_run_is_refused() -> None:
    questions, runs, called = Questions(Rules.parse(["allow *"])), list[Run](), asyncio.Event()

    async def engine(run: Run) -> None:
        runs.append(run)
        await called.wait()

    async with Runtime(engine, before_tool=questions.as_before_tool()) as r:
        session = r.session("s")
        await session.send("go")
        await until(lambda: runs)
        with pytest.raises(PermissionError, match="from outside of its run"):
            await runs[0].call(shell, "make")
        receipt = await session.stop()

        assert [call.status for call in receipt.calls] == [Status.NOT_STARTED]
