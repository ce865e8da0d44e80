"""What each recipe keeps, told so that it holds for frameworks that do not stream, too."""

import base64
import subprocess
import sys
from contextvars import ContextVar

import pytest

from lastword import Attachment, Outcome, Runtime, Status
from lastword.core.entries import Called, Result
from lastword.testing.provider import Call
from tests.engines.stories import said
from tests.engines.subjects import SCRIPTED
from tests.promise.stories import Latch, check_log
from tests.scenarios import ROOT

pytestmark = pytest.mark.parametrize("kind", SCRIPTED)


async def test_what_a_provider_says_after_the_stop_is_nobody_s(kind):
    heard = []
    async with SCRIPTED[kind]() as one, Runtime(one.engine, sink=heard.append) as r:
        old = one.answer("old ", *["words "] * 50, paced=True)
        session = r.session("s")
        await session.send("talk")
        await one.provider.asked()
        receipt = await session.stop()
        old.free()
        await receipt.settled()
        one.answer("new")
        assert await (await session.send("again")).outcome() == Outcome.COMPLETED
        await check_log(session)

    assert said(heard) == "new"


async def test_what_is_not_allowed_is_not_made_and_its_model_is_told(kind):
    called = []

    async def wipe(name: str) -> str:
        called.append(name)
        return "wiped"

    def forbid(call):
        raise PermissionError("not on a Friday")

    async with SCRIPTED[kind]() as one, Runtime(one.engine, before_tool=forbid) as r:
        one.tool(wipe)
        one.answer(Call("wipe", {"name": "a"}))
        one.answer("As you like.")
        session = r.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        [result] = [entry for entry in await session.log() if isinstance(entry, Result)]
        assert "not on a Friday" in str(one.provider.requests[1].messages)

    assert result.status == Status.NOT_STARTED
    assert called == []


async def test_what_steered_it_stays_where_it_was_said(kind):
    latch = Latch()

    async def look(n: int) -> str:
        if n == 1:
            await latch.wait()
        return f"saw {n}"

    async with SCRIPTED[kind]() as one, Runtime(one.engine) as r:
        one.tool(look)
        one.answer(Call("look", {"n": 1}))
        one.answer(Call("look", {"n": 2}))
        one.answer("Left, then.")
        session = r.session("s")
        ticket = await session.send("go")
        await latch.came.wait()
        await session.send("to the left", on_message="steer")
        latch.open.set()
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        told = str(one.provider.requests[2].messages)

    assert told.count("to the left") == 1
    assert told.index("saw 1") < told.index("to the left") < told.index("saw 2")


async def test_an_agent_inside_a_tool_calls_nothing_after_the_stop_and_what_it_called_is_named(
    kind,
):
    latch, made = Latch(), []

    async def dig(n: int) -> str:
        made.append(n)
        await latch.wait_stubbornly()
        return f"dug {n}"

    async with SCRIPTED[kind]() as one, Runtime(one.engine, deadline=0.5, grace=0.1) as r:
        delegate = one.inside(dig)
        one.tool(delegate)
        inner = one.provider.conversation("treasure")
        inner.answer(Call("dig", {"n": 1}))
        inner.always(lambda request: Call("dig", {"n": 2}))
        one.answer(Call("delegate", {one.task: "find the treasure"}))
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        receipt = await session.stop()
        assert "tool dig" in map(str, receipt.unconfirmed)
        latch.open.set()
        await receipt.settled()
        one.answer("fine")
        assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
        calls = [entry for entry in await session.log() if isinstance(entry, Called)]
        assert [(call.name, call.nature) for call in calls] == [("delegate", ""), ("dig", "inner")]
        assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED] * 2
        assert str(one.provider.requests[-1].messages).count("[may have executed]") == 1
        await check_log(session)

    assert made == [1]


async def test_of_two_sessions_the_one_that_is_not_stopped_goes_on(kind):
    latch = Latch()

    async def look(name: str) -> str:
        await (latch.wait() if name == "a" else Latch().wait())
        return f"saw {name}"

    async with SCRIPTED[kind]() as one, Runtime(one.engine) as r:
        one.tool(look)
        tickets = []
        for name in ("a", "b"):
            asked = one.provider.conversation(f"look at {name}")
            asked.answer(Call("look", {"name": name}))
            asked.answer(one.end("A cat."))
            tickets.append(await r.session(name).send(f"look at {name}"))
        await latch.came.wait()
        await one.provider.asked(2)
        stopped = await r.session("b").stop()
        latch.open.set()
        assert stopped
        assert await tickets[0].outcome() == Outcome.COMPLETED, tickets[0].error
        assert await tickets[1].outcome() == Outcome.STOPPED
        assert "saw a" in str(one.provider.requests[-1].messages)


async def test_a_tool_finds_its_run_in_a_context_variable(kind):
    current = ContextVar("run")

    async def look() -> str:
        return f"in {current.get().session}"

    async with SCRIPTED[kind]() as one:

        async def engine(run):
            current.set(run)
            await one.engine(run)

        one.tool(look)
        one.answer(Call("look", {}))
        one.answer("There.")
        async with Runtime(engine) as r:
            ticket = await r.session("ada").send("where?")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert "in ada" in str(one.provider.requests[1].messages)


async def test_malformed_arguments_do_not_outlive_their_turn(kind):
    async def look(path: str) -> str:
        return path

    async with SCRIPTED[kind]() as one, Runtime(one.engine) as r:
        one.tool(look)
        one.answer(Call("look", raw='{"path'))
        one.answer("Sorry.")
        session = r.session("s")
        await (await session.send("go")).outcome()  # how it ends is the framework's
        one.provider.requests.clear()
        one.answer("Bye.")
        ticket = await session.send("bye")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        await check_log(session)


async def test_a_file_is_told_by_name(kind):
    file = Attachment("image/png", base64.b64encode(b"no picture").decode(), name="cat.png")
    async with SCRIPTED[kind]() as one, Runtime(one.engine) as r:
        one.answer("A cat.")
        ticket = await r.session("s").send("what is it?", attachments=[file])
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert "cat.png" in str(one.provider.requests[0].messages)


def killed_in_a_tool(kind, database):
    """Let a process call a tool, and kill it there; the address of what it left."""
    argv = [sys.executable, "-m", "recipes.proof.victim", kind, str(database)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, cwd=ROOT) as victim:
        for line in victim.stdout:  # a framework may say something, too
            if line == b"looking\n":
                break
        victim.kill()
    return f"sqlite:{database}"


async def test_after_a_kill_in_a_tool_its_calls_may_have_executed_and_the_next_answer_knows(
    kind, tmp_path
):
    store = killed_in_a_tool(kind, tmp_path / "d.db")

    async with SCRIPTED[kind]() as one, Runtime(one.engine, store=store) as r:
        one.answer("It was cut off.")
        session = r.session("s")
        ticket = await session.send("what became of it?")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        statuses = {entry.status for entry in await session.log() if isinstance(entry, Result)}
        assert Status.MAY_HAVE_EXECUTED in statuses
        assert statuses <= {Status.MAY_HAVE_EXECUTED, Status.NOT_STARTED}
        [request] = one.provider.requests
        assert "[may have executed]" in str(request.messages)
        await check_log(session)
