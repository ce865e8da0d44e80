"""The agent that comes with lastword, with its real tools: what it does, asks for and leaves."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from lastword import FeedEvent, Outcome, Runtime, Session
from lastword.agent.assistant import Assistant, assistant
from lastword.agent.permission import Question
from lastword.agent.rehearsal import Rehearsal
from tests.promise.heard import hearing
from tests.promise.stories import check_log
from tests.promise.workshop import gone, until


@asynccontextmanager
async def talking(
    folder: Path, *rules: str, heard: list[FeedEvent] | None = None
) -> AsyncGenerator[tuple[Session, Assistant]]:
    agent = assistant(Rehearsal(pace=0), roots=[folder], rules=rules)
    before, sink = agent.questions.as_before_tool(), heard.append if heard is not None else None
    async with Runtime(agent.engine, before_tool=before, sink=sink, grace=0.25) as runtime:
        yield runtime.session("s"), agent


async def said(session: Session, text: str) -> str:
    ticket = await session.send(text)
    assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    return " ".join(item.text for item in await session.history() if item.role == "assistant")


async def test_reading_is_not_asked_for(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("the sea is salt", encoding="utf-8")
    async with talking(tmp_path) as (session, _):
        assert "the sea is salt" in await said(session, "read notes.txt")
        assert "notes.txt" in await said(session, "search salt")


async def test_nothing_is_read_outside_of_the_roots(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    inside = tmp_path / "inside"
    inside.mkdir()
    async with talking(inside) as (session, _):
        answer = await said(session, "read ../secret")
        assert "secret" not in answer.replace("../secret", "")


async def test_writing_is_asked_for_and_done_when_it_is_allowed(tmp_path: Path) -> None:
    async with talking(tmp_path) as (session, agent):
        asked: list[Question] = []

        def allow(news: str, question: Question) -> None:
            if news == "opened":
                asked.append(question)
                agent.questions.answer(question.id, True, question.generation)

        with hearing(session, allow):
            await said(session, "write a.txt: hello")
        assert [question.tool for question in asked] == ["write_file"]
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "hello"


async def test_a_stop_withdraws_the_question_and_nothing_is_written(tmp_path: Path) -> None:
    async with talking(tmp_path) as (session, agent):
        await session.send("write a.txt: hello")
        await until(agent.questions.open)
        receipt = await session.stop()
        assert receipt.quiet
        assert not agent.questions.open()
        await check_log(session)
    assert not (tmp_path / "a.txt").exists()


async def test_a_command_ends_with_the_stop(tmp_path: Path) -> None:
    async with talking(tmp_path, "allow shell") as (session, _):
        await session.send("run echo $$ > pid; sleep 1000")
        file = tmp_path / "pid"
        await until(lambda: file.exists() and file.read_text(encoding="utf-8").strip())
        receipt = await session.stop()
        assert receipt.quiet
        assert receipt.processes
        assert all(gone(process.pid) for process in receipt.processes)
        assert "may have executed" in await said(session, "what happened?")


async def test_a_task_is_delegated_to_another_and_ends_with_the_stop(tmp_path: Path) -> None:
    heard: list[FeedEvent] = []
    async with talking(tmp_path, "allow shell", heard=heard) as (session, _):
        assert "1 2 3" in await said(session, "delegate count to 3")
        await session.send("delegate run echo $$ > pid; sleep 1000")
        file = tmp_path / "pid"
        await until(lambda: file.exists() and file.read_text(encoding="utf-8").strip())
        receipt = await session.stop()
        assert receipt.quiet
        assert [child.fate for child in receipt.children] == ["ended"]
        assert not [process for process in receipt.processes if not gone(process.pid)]


async def test_what_is_wrong_with_a_tool_s_arguments_is_for_the_model_to_read(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path) as (session, _):
        assert "lost.txt" in await said(session, "read lost.txt")
        assert "failed" in await said(session, "search (")
        await asyncio.sleep(0)
        await check_log(session)
