"""A session speaks to its conversation by a few verbs, so that may be somewhere else."""

from __future__ import annotations

import ast
import asyncio
import inspect
import threading

import pytest

from lastword import Outcome, Receipt, Run, Runtime
from lastword.core.entries import Asked, Finished, Said, Text
from lastword.core.model import Message
from lastword.core.question import Question, Scope
from lastword.errors import (
    AlreadyAnswered,
    NotWaiting,
    OwnedElsewhere,
    QuestionWithdrawn,
    StaleAnswer,
    UnknownQuestion,
)
from lastword.runtime import session as session_module
from lastword.runtime.protocol import Counterpart
from tests.runtime.far_away import far_away


class Speaker:
    """Says a word, and goes on until it is stopped."""

    def __init__(self) -> None:
        self.threads: set[int] = set()

    async def __call__(self, run: Run) -> None:
        self.threads.add(threading.get_ident())
        await run.emit(f"about {run.message.text}")
        await asyncio.Event().wait()


@pytest.mark.scenario("W54")
async def test_a_session_can_speak_to_a_conversation_that_is_somewhere_else() -> None:
    speaker = Speaker()
    async with far_away(speaker, "s") as (session, there):
        events = session.events(after=0)
        ticket = await session.send("apples", id="mine")
        async for event in events:
            if isinstance(event.fact, Text):
                break

        assert ticket.message == Message(ticket.message.id, "apples")
        assert await ticket.started() == "s#1"
        assert session.active == "s#1"
        assert speaker.threads.isdisjoint({threading.get_ident()})

        receipt = await session.stop(said="enough")

        assert receipt.runs == ("s#1",)
        assert receipt.quiet
        assert await ticket.outcome() is Outcome.STOPPED
        assert not session.busy
        assert {"send", "become", "stop", "stand"} == set(there.told)


@pytest.mark.scenario("W54")
async def test_what_happened_somewhere_else_is_read_and_followed_here() -> None:
    async with far_away(Speaker(), "s") as (session, _):
        first = await session.send("apples")
        await first.started()
        second = await session.send("pears")  # which takes over
        await second.started()
        receipt = await asyncio.wrap_future(session.stop_soon())
        log = await session.log()

        assert receipt.runs == ("s#2",)
        assert [e.message.text for e in log if isinstance(e, Said)] == ["apples", "pears"]
        assert [e.outcome for e in log if isinstance(e, Finished)] == [
            Outcome.SUPERSEDED,
            Outcome.STOPPED,
        ]
        assert await first.outcome() is Outcome.SUPERSEDED
        async for event in session.events(after=0):
            if isinstance(event.fact, Receipt) and event.fact.runs == receipt.runs:
                break  # it is heard here, too


@pytest.mark.scenario("W54")
async def test_the_queue_is_changed_somewhere_else_as_it_is_here() -> None:
    async with far_away(Speaker(), "s") as (session, _):
        await session.send("apples")
        for text in ("pears", "plums", "figs"):
            await session.send(text, id=text, on_message="queue")
        await session.edit("plums", "quinces")
        await session.move("figs", 0)
        await session.remove("pears")

        assert [message.text for message in session.queue] == ["figs", "quinces"]
        with pytest.raises(NotWaiting):
            await session.remove("pears")
        await session.stop()


@pytest.mark.scenario("W72")
async def test_a_question_that_is_asked_somewhere_else_is_answered_from_here() -> None:
    meant, wide = list[tuple[bool, Scope]](), Scope("wider", "folder", "write_file", "docs")

    async def asking(run: Run) -> None:
        scopes = Scope("this", "file", "write_file", "docs/a"), wide
        asked = Question("q1", run.session, run.generation, run.id, "write_file", "", scopes=scopes)
        answer = await run.ask(asked, lambda allow, scope: meant.append((allow, scope)))
        await run.emit(f"{answer.allowed}, said {answer.by}: {answer.scope}")

    async with far_away(asking, "s") as (session, there):
        ticket = await session.send("go")
        async for event in session.events(after=0):
            if isinstance(event.fact, Asked):
                break
        [question] = session.questions
        with pytest.raises(StaleAnswer):
            await session.answer(question.id, True, question.generation + 1)
        with pytest.raises(ValueError, match="offers no scope"):
            await session.answer(question.id, True, question.generation, scope="all")
        assert session.questions == (question,)

        seen = question.generation
        await session.answer(question.id, True, seen, always=True, scope="wider", by="ann")
        with pytest.raises(AlreadyAnswered):
            await session.answer(question.id, False, seen, by="bob")

        assert await ticket.outcome() is Outcome.COMPLETED
        [said] = [entry.text for entry in await session.log() if isinstance(entry, Text)]
        assert said == "True, said ann: any change below docs/"
        assert meant == [(True, wide)]
        assert session.questions == session.asks == ()
        assert "answer" in there.told


@pytest.mark.scenario("W72")
async def test_a_question_is_answered_in_the_session_that_it_is_shown_in_and_in_no_other() -> None:
    async def asking(run: Run) -> None:
        asked = Question("q1", run.session, run.generation, run.id, "shell", "make")
        await run.emit(str((await run.ask(asked)).allowed))

    async with Runtime(asking) as runtime:
        session, other = runtime.session("s"), runtime.session("t")
        ticket = await session.send("go")
        async for event in session.events(after=0):
            if isinstance(event.fact, Asked):
                break
        [question] = session.questions
        with pytest.raises(UnknownQuestion):
            await other.answer(question.id, True, question.generation)
        await session.stop()
        with pytest.raises(QuestionWithdrawn):
            await session.answer(question.id, True, question.generation)

        assert await ticket.outcome() is Outcome.STOPPED


async def test_what_is_held_where_a_session_is_cannot_be_had_somewhere_else() -> None:
    async with far_away(Speaker(), "s") as (session, _):
        with pytest.raises(OwnedElsewhere):
            session.process("p1")
        with pytest.raises(OwnedElsewhere):
            session.shelf  # noqa: B018 - it is asked for


def test_a_session_knows_nothing_of_what_is_behind_its_counterpart() -> None:
    tree = ast.parse(inspect.getsource(session_module))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    inside = {
        "conversation",
        "work",
        "runs",
        "messages",
        "seat",
        "journal",
        "stop",
        "hold",
    }

    assert {f"lastword.runtime.{name}" for name in inside} & imported == set()


def test_there_are_about_ten_verbs() -> None:
    verbs = [name for name in vars(Counterpart) if not name.startswith("_")]

    assert len(verbs) <= 13, verbs
