"""The stories of calls, kept by every engine: what its model asks for, and a stop in between."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from lastword import Outcome, Runtime, Status, Token
from lastword.agent.permission import Questions, QuestionWithdrawn
from lastword.agent.rules import Rules
from lastword.core.entries import Result
from lastword.runtime.call import Call as Made
from lastword.testing.provider import Call
from tests.agent.test_mcp import SERVER, called_off, recorded
from tests.engines.stories import run_here
from tests.engines.subjects import TALKING
from tests.promise.stories import Latch, check_log, heard_by
from tests.promise.workshop import until
from tests.scenarios import ROOT

pytestmark = pytest.mark.parametrize("kind", TALKING)


@pytest.mark.scenario("G1")
@pytest.mark.scenario("G4")
async def test_of_five_calls_those_that_were_not_allowed_yet_never_begin(kind: str) -> None:
    made: list[int] = []
    second = Latch()

    async def step(n: int) -> str:
        made.append(n)
        if n == 2:
            await second.wait()
        return f"did {n}"

    async def ask(call: Made[object]) -> None:
        if "1" not in str(call.arguments) and "2" not in str(call.arguments):
            await Latch().wait()

    async with TALKING[kind]() as one, Runtime(one.engine, before_tool=ask) as r:
        one.tool(step)
        one.answer(*[Call("step", {"n": n}) for n in range(1, 6)])
        session = r.session("s")
        heard = heard_by(session)
        await session.send("go")
        await second.came.wait()
        await until(lambda: [event for event in heard if event.kind == "result"])
        receipt = await session.stop()
        assert receipt.quiet
        assert [call.status for call in receipt.calls] == [
            Status.COMPLETED,
            Status.MAY_HAVE_EXECUTED,
            *[Status.NOT_STARTED] * 3,
        ]
        one.answer("fine")
        assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
        told = str(one.provider.requests[-1].messages)
        assert told.count("[not started]") == 3
        assert "did 1" in told
        await check_log(session)
    assert sorted(made) == [1, 2]


@pytest.mark.scenario("G2", part="thread")
@pytest.mark.scenario("X5")
async def test_of_four_calls_one_holds_its_thread_and_its_late_result_is_nobody_s(
    kind: str,
) -> None:
    began, end = threading.Event(), threading.Event()

    def wedge() -> str:
        began.set()
        end.wait(20)
        return "too late"

    async def quick() -> str:
        return "done"

    async with TALKING[kind]() as one, Runtime(one.engine) as r:
        one.tool(wedge)
        one.tool(quick)
        one.answer(Call("wedge", {}), *[Call("quick", {})] * 3)
        session = r.session("s")
        await session.send("go")
        await until(began.is_set)
        receipt = await session.stop()
        assert receipt.calls[0].status == Status.MAY_HAVE_EXECUTED
        end.set()
        assert (await receipt.settled()).quiet
        one.answer("fine")
        assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
        results = [entry for entry in await session.log() if isinstance(entry, Result)]
        await check_log(session)
        assert len(results) == 4
        assert "too late" not in str(one.provider.requests[1].body)


@pytest.mark.scenario("G5", part="library")
async def test_a_stop_withdraws_the_question_before_a_call(kind: str) -> None:
    called: list[str] = []
    questions = Questions(Rules.parse(["ask wipe"]))

    async def wipe(name: str) -> str:
        called.append(name)
        return "wiped"

    before = questions.as_before_tool()
    async with TALKING[kind]() as one, Runtime(one.engine, before_tool=before) as r:
        one.tool(wipe)
        one.answer(Call("wipe", {"name": "a"}), Call("wipe", {"name": "b"}))
        session = r.session("s")
        await session.send("go")
        await until(questions.open)
        question = questions.open()[0]
        receipt = await session.stop()
        assert not questions.open()
        with pytest.raises(QuestionWithdrawn):
            questions.answer(question.id, True, question.generation)
        assert [call.status for call in receipt.calls] == [Status.NOT_STARTED] * 2
        one.answer("fine")
        assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
        await check_log(session)
    assert called == []


async def test_what_is_not_allowed_is_the_model_s_to_hear_and_the_answer_goes_on(kind: str) -> None:
    called: list[str] = []
    questions = Questions(Rules.parse(["ask wipe"]))

    async def wipe(name: str) -> str:
        called.append(name)
        return f"wiped {name}"

    before = questions.as_before_tool()
    async with TALKING[kind]() as one, Runtime(one.engine, before_tool=before) as r:
        one.tool(wipe)
        one.answer(Call("wipe", {"name": "a"}))
        one.answer(Call("wipe", {"name": "b"}))
        one.answer("As you like.")
        session = r.session("s")
        ticket = await session.send("go")
        for allowed in (False, True):
            await until(questions.open)
            question = questions.open()[0]
            questions.answer(question.id, allowed, question.generation)
            await until(lambda asked=question: asked not in questions.open())
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        statuses = [e.status for e in await session.log() if isinstance(e, Result)]
        assert statuses == [Status.NOT_STARTED, Status.COMPLETED]
        [_, refused, allowed_] = one.provider.requests
        assert "did not allow" in refused.results[-1]
        assert allowed_.results[-1] == "wiped b"
        await check_log(session)
    assert called == ["b"]


@pytest.mark.scenario("G6", part="engines")
async def test_a_call_that_waits_for_a_team_s_mcp_server_is_called_off(
    kind: str, tmp_path: Path
) -> None:
    async def wait() -> str:
        return str(await server.call_tool("wait", {}))

    started = StdioServerParameters(command=sys.executable, args=[str(SERVER), str(tmp_path)])
    async with stdio_client(started) as ends, ClientSession(*ends) as server:
        await server.initialize()
        async with TALKING[kind]() as one, Runtime(one.engine) as r:
            one.tool(wait)
            one.answer(Call("wait", {}))
            session = r.session("s")
            await session.send("go")
            await until(lambda: "waits" in recorded(tmp_path))
            receipt = await session.stop()
            assert receipt.quiet
            may_have = [("wait", Status.MAY_HAVE_EXECUTED)]
            assert [(c.name, c.status) for c in receipt.calls] == may_have
            await until(lambda: called_off(tmp_path))
            one.answer("fine")
            assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
            await check_log(session)


@pytest.mark.scenario("G7")
async def test_a_tool_has_a_token_by_which_a_resource_refuses_the_older_answer(kind: str) -> None:
    tokens: list[Token] = []

    async def write() -> str:
        tokens.append(run_here().token)
        return "written"

    async with TALKING[kind]() as one, Runtime(one.engine) as r:
        one.tool(write)
        session = r.session("s")
        for _ in range(2):
            one.answer(Call("write", {}))
            one.answer("Written.")
            assert await (await session.send("write")).outcome() == Outcome.COMPLETED
            await session.stop()
    assert tokens[0].session == tokens[1].session
    assert tokens[0].generation < tokens[1].generation


@pytest.mark.scenario("X6", part="agent")
async def test_malformed_arguments_are_an_error_for_the_model_and_brick_nothing(kind: str) -> None:
    async def look(path: str) -> str:
        return path

    async with TALKING[kind]() as one, Runtime(one.engine) as r:
        one.tool(look)
        one.answer(Call("look", raw='{"path'), Call("nowhere", {"x": 1}))
        one.answer("Sorry.")
        session = r.session("s")
        first = await session.send("go")
        assert await first.outcome() == Outcome.COMPLETED, first.error
        one.answer("Bye.")
        second = await session.send("bye")
        assert await second.outcome() == Outcome.COMPLETED, second.error
        results = [entry for entry in await session.log() if isinstance(entry, Result)]
        assert [result.status for result in results] == [Status.NOT_STARTED] * 2
        await check_log(session)


def killed_in_a_tool(kind: str, database: Path) -> str:
    """Let a process call a tool, and kill it there; the address of what it left."""
    argv = [sys.executable, "-m", "tests.engines.victim", kind, str(database)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, cwd=ROOT) as victim:
        assert victim.stdout is not None
        assert victim.stdout.readline() == b"looking\n"
        victim.send_signal(signal.SIGKILL)
    return f"sqlite:{database}"


@pytest.mark.scenario("D1", part="sqlite")
async def test_killed_in_a_tool_its_calls_may_have_executed_and_the_next_answer_knows(
    kind: str, tmp_path: Path
) -> None:
    store = killed_in_a_tool(kind, tmp_path / "d.db")

    async def look() -> str:
        raise AssertionError("it is not run again")

    async with TALKING[kind]() as one, Runtime(one.engine, store=store) as r:
        one.tool(look)
        one.answer("It was cut off.")
        session = r.session("s")
        ticket = await session.send("what became of it?")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        statuses = {e.status for e in await session.log() if isinstance(e, Result)}
        assert Status.MAY_HAVE_EXECUTED in statuses
        assert statuses <= {Status.MAY_HAVE_EXECUTED, Status.NOT_STARTED}
        [request] = one.provider.requests
        assert len(request.results) == 2
        assert "[may have executed]" in str(request.messages)
        await check_log(session)
