"""The rehearsal model: what it can be told to do, and that a stop ends all of it."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.exceptions import ToolFailed

from lastword import Generation, Outcome, Receipt, Run, Runtime, Session, Status
from lastword.agent import rehearsal
from lastword.agent.rehearsal import Rehearsal
from lastword.core.entries import Called, Result
from lastword.engines.pydantic_ai import PydanticAI
from lastword.testing import Recorder
from tests.promise.stories import check_log
from tests.promise.workshop import fates, until


class Talk:
    """A session with a rehearsal, and what is heard of it."""

    def __init__(self, session: Session, heard: Recorder) -> None:
        self.session = session
        self.heard = heard

    async def say(self, words: str) -> str:
        """Send it; the whole answer."""
        before = len(self.heard.texts)
        ticket = await self.session.send(words)
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        return "".join(self.heard.texts[before:])


@asynccontextmanager
async def talking(
    *tools: Callable[..., Any], model: Rehearsal | None = None, heard: Recorder | None = None
) -> AsyncGenerator[Talk]:
    agent = Agent(model or Rehearsal(pace=0))
    for tool in tools:
        agent.tool_plain(tool)
    heard = Recorder() if heard is None else heard
    async with Runtime(PydanticAI(agent), sink=heard) as runtime:
        yield Talk(runtime.session("s"), heard)
        await check_log(runtime.session("s"))


class Desk:
    """Tools that do nothing but remember that they were called."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []

    async def shell(self, command: str, timeout: float = 1.0) -> str:
        self.calls.append(("shell", command))
        return f"$ {command} => 0"

    async def read_file(self, path: str, offset: int = 1) -> str:
        self.calls.append(("read_file", path))
        return f"what is in {path}"

    async def write_file(self, path: str, text: str) -> str:
        self.calls.append(("write_file", path, text))
        return f"wrote {len(text)}"

    async def search_files(self, pattern: str, glob: str = "**") -> str:
        self.calls.append(("search_files", pattern))
        return ""

    async def delegate(self, task: str) -> str:
        self.calls.append(("delegate", task))
        return f"{task}: done"

    @property
    def tools(self) -> list[Callable[..., Any]]:
        return [self.shell, self.read_file, self.write_file, self.search_files, self.delegate]


class Held(Rehearsal):
    """Says one word, and not the next until it is cancelled."""

    def __init__(self) -> None:
        super().__init__(pace=0)
        self.between = asyncio.Event()

    async def breathe(self) -> None:
        if not self.between.is_set():
            self.between.set()
            await asyncio.Event().wait()
        await super().breathe()


# its rules


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("hello", "Hello. I am a rehearsal, not a language model"),
        ("Help!", "- badly: forever (a call of shell, again and again)"),
        ("help", "Tools that I am offered: shell, read_file, write_file"),
        ("count to 5", "1 2 3 4 5"),
        ("Tell me a story.", "parrot"),
        ("make me rich", "I have no rule for “make me rich”. I am a rehearsal"),
        ("what happened?", "Nothing that I was told of."),
        ("continue", "There is nothing to continue"),
        ("badly: politely", "I have no rule"),
    ],
)
async def test_it_answers_by_its_rules(words: str, answer: str) -> None:
    async with talking(*Desk().tools) as talk:
        assert answer in await talk.say(words)


async def test_it_says_the_same_every_time_word_by_word() -> None:
    async with talking() as talk:
        first = await talk.say("story")
        words = len(talk.heard.texts)

        assert await talk.say("story") == first
    assert words == len(first.split()) > 200


async def test_it_thinks_before_it_speaks() -> None:
    async with talking() as talk:
        answer = await talk.say("think about boats")

    kinds = [event.kind for event in talk.heard if event.kind in ("thinking", "text")]
    assert kinds == sorted(kinds, reverse=True)
    assert "boats" in "".join(event.text for event in talk.heard if event.kind == "thinking")
    assert answer == "I thought about boats, as a rehearsal can."


@pytest.mark.parametrize(
    ("words", "call", "answer"),
    [
        ("run ls -l", ("shell", "ls -l"), "shell returned: $ ls -l => 0"),
        ("$ echo a\necho b", ("shell", "echo a\necho b"), "shell returned: $ echo a"),
        ("read a.txt", ("read_file", "a.txt"), "read_file returned: what is in a.txt"),
        ("write b.txt: c: d", ("write_file", "b.txt", "c: d"), "write_file returned: wrote 4"),
        ("search old words", ("search_files", "old words"), "search_files returned: [nothing]"),
        ("delegate the rest", ("delegate", "the rest"), "delegate returned: the rest: done"),
        ("ask write_file: e | f", ("write_file", "e", "f"), "write_file returned: wrote 1"),
    ],
)
async def test_it_calls_a_tool_and_reports_what_that_returned(
    words: str, call: tuple[str, ...], answer: str
) -> None:
    desk = Desk()
    async with talking(*desk.tools) as talk:
        assert answer in await talk.say(words)
    assert desk.calls == [call]


async def test_two_files_are_read_at_the_same_time() -> None:
    both = asyncio.Barrier(2)

    async def read_file(path: str) -> str:
        await both.wait()
        return f"what is in {path}"

    async with talking(read_file) as talk:
        answer = await talk.say("read a and b")
        log = await talk.session.log()

    assert answer.endswith("returned: what is in a\nread_file returned: what is in b")
    order = [type(entry) for entry in log if isinstance(entry, Called | Result)]
    assert order == [Called, Called, Result, Result]


async def test_without_the_tool_it_says_so() -> None:
    async with talking() as talk:
        assert await talk.say("run ls") == "I cannot: I was not offered the tool shell."
        assert "not offered" in await talk.say("badly: forever")
        assert "not offered" in await talk.say("badly: garble")


async def test_a_long_result_is_shortened_and_a_failure_is_called_one() -> None:
    async def shell(command: str) -> str:
        if command == "fail":
            raise ToolFailed("it broke")
        return "x" * 1000

    async with talking(shell) as talk:
        assert (await talk.say("run yes")).endswith(f"{'x' * 600}… (1000 characters)")
        assert (await talk.say("run fail")).endswith("shell failed: it broke")


@pytest.mark.parametrize("allowed", [True, False])
async def test_it_says_what_it_was_not_allowed(allowed: bool) -> None:
    agent = Agent(Rehearsal(pace=0))
    sent: list[str] = []

    @agent.tool(requires_approval=True)
    async def send_mail(ctx: RunContext, text: str) -> str:
        sent.append(text)
        return "sent"

    async def approve(run: Run, tool: str, arguments: str) -> bool:
        assert (tool, json.loads(arguments)) == ("send_mail", {"text": "hi"})
        return allowed

    heard = Recorder()
    async with Runtime(PydanticAI(agent, approve=approve), sink=heard) as runtime:
        answer = await Talk(runtime.session("s"), heard).say("ask send_mail: hi")

    assert ("send_mail returned: sent" if allowed else "send_mail was not allowed:") in answer
    assert sent == (["hi"] if allowed else [])


async def test_it_also_answers_in_one_piece_and_counts_words() -> None:
    done = await Agent(Rehearsal(pace=0)).run("count to 4")

    assert done.output == "1 2 3 4"
    assert done.response.model_name == "rehearsal"
    assert (done.usage.input_tokens, done.usage.output_tokens) == (3, 4)


async def test_a_garbled_call_is_told_as_it_was_refused() -> None:
    desk = Desk()
    async with talking(*desk.tools) as talk:
        answer = await talk.say("badly: garble")

    assert answer.startswith("shell was refused:")
    assert "json" in answer.lower()
    assert desk.calls == []


# stopped


@pytest.mark.parametrize("how", ["swallow", "flood", "garble", "forever"])
async def test_nothing_is_said_after_a_stop_however_badly_it_behaves(how: str) -> None:
    model, desk = Held(), Desk()
    async with talking(*desk.tools, model=model) as talk:
        await talk.session.send(f"badly: {how}")
        await model.between.wait()
        receipt = await talk.session.stop()
        with talk.heard.silence_after(receipt):
            settled = await receipt.settled()
            assert await talk.say("count to 3") == "1 2 3"

    assert desk.calls == []
    assert settled.quiet
    assert settled.dropped > 0 or how in ("garble", "forever")  # it did go on


async def test_a_thread_that_it_blocks_does_not_hold_up_the_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    blocking, stopped = threading.Event(), threading.Event()

    class UntilTheStop:
        def sleep(self, _: float) -> None:
            blocking.set()
            assert stopped.wait(30)

    monkeypatch.setattr(rehearsal, "time", UntilTheStop())
    async with talking(heard=Recorder()) as talk:

        def stop() -> tuple[Future[Receipt], Generation]:
            assert blocking.wait(30)
            stopping, moved = talk.session.stop_soon(), talk.session.generation
            stopped.set()
            return stopping, moved

        stopper = asyncio.create_task(asyncio.to_thread(stop))
        await talk.session.send("badly: block")
        stopping, generation = await stopper
        receipt = await asyncio.wrap_future(stopping)
        assert await talk.say("count to 3") == "1 2 3"
    assert generation == receipt.generation  # it had moved while the loop was blocked
    assert "That was it." not in talk.heard.texts


async def test_a_process_that_it_runs_is_a_real_one_and_ends_with_the_stop(tmp_path: Path) -> None:
    agent = Agent(Rehearsal(pace=0), deps_type=Run)
    line = f": > {tmp_path}/up; exec sleep 300"

    @agent.tool
    async def shell(ctx: RunContext[Run], command: str) -> str:
        return (await ctx.deps.shell(command)).output

    async with Runtime(PydanticAI(agent, deps=lambda run: run)) as runtime:
        await runtime.session("s").send(f"$ {line}")
        await until((tmp_path / "up").exists)
        receipt = await runtime.session("s").stop()

    assert set(fates(receipt).values()) == {"ended"}


async def test_calls_without_end_end_with_a_stop() -> None:
    calls: list[str] = []

    async def shell(command: str) -> str:
        calls.append(command)
        if len(calls) == 3:
            await asyncio.Event().wait()
        return "again"

    async with talking(shell) as talk:
        await talk.session.send("badly: forever")
        await until(lambda: len(calls) == 3)
        receipt = await talk.session.stop()
        told = await talk.say("what happened?")

    assert len(calls) == 3
    assert [call.status for call in receipt.calls][-1] == Status.MAY_HAVE_EXECUTED
    assert "shell returned: again\nshell returned: again\nshell: [may have executed]" in told


async def test_after_a_stop_it_tells_what_it_was_told_and_takes_up_its_answer() -> None:
    model = Held()
    async with talking(model=model) as talk:
        await talk.session.send("count to 9")
        await model.between.wait()
        await talk.session.stop()
        told = await talk.say("what happened?")

        assert "You had said “count to 9”. My answer, as I am shown it, ends “1 ”." in told
        assert "told: “The person stopped this answer here. Do not resume it unless" in told
        model.between.clear()
        await talk.session.send("continue")
        await model.between.wait()
        await talk.session.stop()
        assert await talk.say("go on") == "3 4 5 6 7 8 9"
        assert "nothing to continue" in await talk.say("continue")
    assert "".join(talk.heard.texts).startswith("1 ")


async def test_after_a_takeover_it_is_told_of_that() -> None:
    model = Held()
    async with talking(model=model) as talk:
        await talk.session.send("story")
        await model.between.wait()

        assert "“The person's next message took over here." in await talk.say("what happened?")
        assert (await talk.say("continue")).startswith("was a lighthouse")


async def test_what_may_have_executed_is_not_done_again_when_it_continues() -> None:
    desk, began = Desk(), asyncio.Event()

    async def shell(command: str) -> str:
        desk.calls.append(("shell", command))
        began.set()
        await asyncio.Event().wait()
        return ""

    async with talking(shell) as talk:
        await talk.session.send("run deploy")
        await began.wait()
        await talk.session.stop()

        assert (await talk.say("continue")).startswith("shell: [may have executed]")
    assert desk.calls == [("shell", "deploy")]


async def test_what_had_not_started_is_done_when_it_continues() -> None:
    agent, heard, asked = Agent(Rehearsal(pace=0)), Recorder(), asyncio.Event()
    sent: list[str] = []

    @agent.tool_plain(requires_approval=True)
    async def send_mail(text: str) -> str:
        sent.append(text)
        return "sent"

    async def approve(run: Run, tool: str, arguments: str) -> bool:
        if not asked.is_set():
            asked.set()
            await asyncio.Event().wait()
        return True

    async with Runtime(PydanticAI(agent, approve=approve), sink=heard) as runtime:
        talk = Talk(runtime.session("s"), heard)
        await talk.session.send("ask send_mail: hi")
        await asked.wait()
        receipt = await talk.session.stop()
        assert "send_mail: [not started]" in await talk.say("what happened?")

        assert await talk.say("continue") == "send_mail returned: sent"
    assert [call.status for call in receipt.calls] == [Status.NOT_STARTED]
    assert sent == ["hi"]


async def test_a_message_without_words_is_not_taken_for_a_note() -> None:
    model, desk = Held(), Desk()
    async with talking(*desk.tools, model=model) as talk:
        await talk.session.send("run deploy")
        await model.between.wait()
        await talk.session.stop()

        assert "I have no rule for “[empty message]”" in await talk.say(" ")
    assert desk.calls == []
