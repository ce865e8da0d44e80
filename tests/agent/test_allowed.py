"""Who allowed what, and when, is in the log before it is done, in the receipt and in the export."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lastword import Run, Runtime
from lastword.agent.permission import Question, Questions
from lastword.agent.rules import Rules
from lastword.cli import records
from lastword.core.entries import Answered, Asked, Called, Finished, Result, Withdrawn
from lastword.core.receipt import Receipt
from tests.agent.to_the_letter import call, talking
from tests.promise.workshop import until


async def shell(command: str) -> str:
    return command


@asynccontextmanager
async def asking(
    store: str, *commands: str, wait: bool = False
) -> AsyncGenerator[tuple[Runtime, Questions]]:
    """A run that asks for commands, one after the other."""

    async def engine(run: Run) -> None:
        for command in commands:
            try:
                await run.call(shell, command)
            except PermissionError:
                continue
        if wait:
            await asyncio.Event().wait()

    questions = Questions(Rules())
    async with Runtime(engine, store=store, before_tool=questions.as_before_tool()) as runtime:
        yield runtime, questions


async def asked(questions: Questions) -> Question:
    await until(questions.open)
    return questions.open()[0]


@pytest.mark.scenario("W19", part="agent")
@pytest.mark.scenario("W19", part="server")
async def test_who_allowed_what_is_in_the_log_after_a_restart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = f"sqlite:{tmp_path / 'kept.db'}"
    async with asking(store, "git status x", "rm x", "git status -s") as (runtime, questions):
        ticket = await runtime.session("s").send("go")
        for allow, by, scope in ((True, "ann", "wider"), (False, "bob", "")):
            one = await asked(questions)
            questions.answer(one.id, allow, one.generation, always=bool(scope), scope=scope, by=by)
        await ticket.outcome()

    async with asking(store) as (runtime, _):
        log = await runtime.session("s").log()
    told = [entry for entry in log if isinstance(entry, Called | Asked | Answered | Result)]
    calls = [entry.call for entry in told if isinstance(entry, Called)]
    run = told[0].run
    assert [entry for entry in told if isinstance(entry, Asked | Answered)] == [
        Asked(run, calls[0], "shell", "git status x"),
        Answered(run, calls[0], True, "ann", "`git status *`"),
        Asked(run, calls[1], "shell", "rm x"),
        Answered(run, calls[1], False, "bob"),
    ]
    times = [entry.at for entry in told]
    assert times == sorted(times)
    assert times[0] > 0

    await asyncio.to_thread(records.main, "export", store, "s")
    exported = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = [line for line in exported if line["kind"] == "answered"]
    assert [(line["by"], line.get("allowed", False)) for line in found] == [
        ("ann", True),
        ("bob", False),
    ]
    assert all(line["at"] for line in found)


@pytest.mark.scenario("W19", part="agent")
async def test_a_receipt_says_who_allowed_what_in_the_run_that_it_ended() -> None:
    async with asking("memory:", "make", wait=True) as (runtime, questions):
        session = runtime.session("s")
        await session.send("go")
        one = await asked(questions)
        questions.answer(one.id, True, one.generation, by="ann")
        await until(lambda: not questions.open())
        receipt = await session.stop()

    [answer] = receipt.answers
    assert (answer.name, answer.subject, answer.allowed, answer.by) == (
        "shell",
        "make",
        True,
        "ann",
    )
    assert answer.at > 0
    assert "people said: ann allowed shell `make`" in str(receipt)
    assert Receipt.from_json(receipt.to_json()).answers == receipt.answers


@pytest.mark.scenario("W19", part="agent")
async def test_that_a_call_waited_is_in_the_log_also_if_a_stop_withdrew_the_question() -> None:
    async with asking("memory:", "make") as (runtime, questions):
        session = runtime.session("s")
        await session.send("go")
        await asked(questions)
        await session.stop()
        log = await session.log()

    kinds = [type(entry) for entry in log]
    assert kinds[2:] == [Called, Asked, Withdrawn, Result, Finished, Receipt]
    assert all(entry.at for entry in log if isinstance(entry, Asked | Withdrawn))


@pytest.mark.scenario("W6", part="agent")
async def test_a_scope_that_was_not_offered_is_refused_and_nothing_is_done() -> None:
    async with asking("memory:", "git log | sh") as (runtime, questions):
        await runtime.session("s").send("go")
        one = await asked(questions)
        with pytest.raises(ValueError, match="offers no scope 'wider'"):
            questions.answer(one.id, True, one.generation, always=True, scope="wider")
        assert questions.open() == (one,)


@pytest.mark.scenario("W6", part="agent")
@pytest.mark.scenario("W22", part="server")
async def test_a_write_is_asked_for_with_what_it_changes_and_always_means_that_file(
    tmp_path: Path,
) -> None:
    (tmp_path / "build.sh").write_text("one\ntwo\n")
    async with talking(tmp_path) as talk:
        talk.answering(True, always=True)
        await talk.does(
            call("write_file", path="build.sh", text="one\nthree\n"),
            call("edit_file", path="build.sh", old="three", new="four"),
            call("write_file", path="other.sh", text="x"),
        )

    first, second = talk.asked
    assert first.change is not None
    assert first.change.lines == ((" ", "one"), ("-", "two"), ("+", "three"))
    assert second.subject == "other.sh"
    assert second.change is not None
    assert second.change.new
