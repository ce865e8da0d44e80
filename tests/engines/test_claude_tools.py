"""E41, E42, E44. What the CLI of the Claude Agent SDK does is the run's, from before it begins."""

import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from claude_agent_sdk import (
    AgentDefinition,
    query,
)

from lastword import Outcome, Runtime, Status
from lastword.core.entries import Called
from lastword.testing.provider import Answer, Request
from lastword.testing.provider import Call as Asks
from tests.engines.claude_shell import bash, calls, shell
from tests.engines.subject_claude import claude
from tests.promise.stories import Latch, check_log
from tests.promise.workshop import gone, until


def homes(place: Path) -> list[Path]:
    return list(place.glob("lastword-claude-*"))


@pytest.mark.scenario("E41")
async def test_all_that_the_cli_started_is_gone_with_the_stop_and_is_named(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    deaf = f"setsid sh -c 'trap \"\" TERM; echo $$ >> {pids}; sleep 3001' &"
    line = f"{deaf} (sh -c 'echo $$ >> {pids}; exec sleep 3002' &) ; echo $$ >> {pids}; sleep 3003"

    async with shell() as one, Runtime(one.engine, grace=0.5) as r:
        one.answer("I run it. ", bash(line))
        session = r.session("s")
        ticket = await session.send("run it")
        await until(lambda: pids.exists() and len(pids.read_text().split()) == 3)
        receipt = await session.stop()
        started = [int(pid) for pid in pids.read_text().split()]
        assert receipt.quiet
        assert all(map(gone, started))
        named = " ".join(one.command for one in receipt.processes)
        assert "sleep" in named
        assert [(call.name, call.status) for call in receipt.calls] == [
            ("Bash", Status.MAY_HAVE_EXECUTED)
        ]
        assert await ticket.outcome() == Outcome.STOPPED
        one.answer("It may have run.")
        again = await session.send("and?")
        assert await again.outcome() == Outcome.COMPLETED, again.error
        await check_log(session)
    shown = str(one.provider.requests[-1].messages)
    assert "[may have executed]" in shown
    assert "[The person stopped this answer here." in shown
    assert "No response requested" not in shown  # which the CLI would have its model say


@pytest.mark.scenario("E41")
@pytest.mark.parametrize("how", ["answered", "stopped", "killed"])
async def test_the_cli_s_files_are_gone_when_it_is(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    up = tmp_path / "up"
    then = {"answered": "true", "stopped": "sleep 300", "killed": "kill -9 $PPID"}[how]

    async with shell() as one, Runtime(one.engine) as r:
        one.answer(bash(f"touch {up}; {then}"))
        one.answer("Done.")
        session = r.session("s")
        ticket = await session.send("run it")
        await until(up.exists)
        if how == "stopped":
            assert (await session.stop()).quiet
        outcome = await ticket.outcome()
        await until(lambda: homes(tmp_path) == [])

    assert outcome == {"answered": "completed", "stopped": "stopped", "killed": "failed"}[how]
    if how == "killed":
        assert ticket.error == "the Claude CLI ended before it had answered: exit code -9"


@pytest.mark.scenario("E42")
async def test_a_server_of_the_cli_s_is_in_the_ledger_and_ends_with_the_run(tmp_path: Path) -> None:
    up = tmp_path / "up"
    source = f"""
import os, time
from mcp.server.mcpserver import MCPServer
server = MCPServer("far")
@server.tool()
def wait() -> str:
    open({str(up)!r}, "w").write(str(os.getpid()))
    time.sleep(300)
    return "never"
server.run()
"""
    program = tmp_path / "server.py"
    program.write_text(source)
    async with claude() as one, Runtime(one.engine) as r:
        one.options.mcp_servers = {"far": {"command": sys.executable, "args": [str(program)]}}
        one.options.allowed_tools = ["mcp__far__wait"]
        one.answer(Asks("mcp__far__wait", {}))
        session = r.session("s")
        await session.send("go")
        await until(lambda: up.exists() and up.read_text())
        receipt = await session.stop()

    assert gone(int(up.read_text()))
    assert [(call.name, call.status) for call in receipt.calls] == [
        ("mcp__far__wait", Status.MAY_HAVE_EXECUTED)
    ]


def with_an_agent(of: Callable[[Request], Answer | str]) -> Callable[[Request], Answer | str]:
    def script(request: Request) -> Answer | str:
        text = str(request.body["system"])
        if "You are the helper" in text:
            return of(request)
        if request.results:
            return "It helped."
        asked = {"description": "help", "prompt": "do it", "subagent_type": "helper"}
        return Answer(Asks("Agent", asked))

    return script


@pytest.mark.scenario("E44")
@pytest.mark.parametrize("how", ["answered", "stopped"])
async def test_an_agent_inside_the_cli_is_held_and_its_calls_are_in_receipts(
    how: str, tmp_path: Path
) -> None:
    up = tmp_path / "up"

    def help_(request: Request) -> Answer | str:
        if request.results:
            return "helped"
        return Answer(bash(f"touch {up}; {'true' if how == 'answered' else 'sleep 300'}"))

    async with claude() as one, Runtime(one.engine) as r:
        one.options.tools = ["Agent", "Bash"]
        one.options.allowed_tools = ["Agent", "Bash"]
        helper = AgentDefinition("helps", "You are the helper.", tools=["Bash"], model="inherit")
        one.options.agents = {"helper": helper}
        one.provider.always(with_an_agent(help_))
        session = r.session("s")
        ticket = await session.send("go")
        await until(up.exists)
        if how == "stopped":
            receipt = await session.stop()
            assert [call.name for call in receipt.calls] == ["Agent", "Bash"]
        outcome = await ticket.outcome()
        log = await session.log()
        shown = await session.history()
        await check_log(session)

    assert outcome == ("completed" if how == "answered" else "stopped"), ticket.error
    natures = {entry.name: entry.nature for entry in log if isinstance(entry, Called)}
    assert natures == {"Agent": "", "Bash": "inner"}
    assert [item.name for item in shown if item.role == "call"] == ["Agent"]
    statuses = [status for _, status, _ in await calls(session)]
    ended = Status.COMPLETED if how == "answered" else Status.MAY_HAVE_EXECUTED
    assert statuses == [ended, ended]


# the SDK's own client leaves a stream open if it is cancelled while it leaves
@pytest.mark.filterwarnings("ignore:Exception ignored in.*MemoryObjectReceiveStream")
@pytest.mark.scenario("E44")
async def test_a_cli_that_a_tool_starts_by_itself_ends_with_the_run(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    async with claude() as one, Runtime(one.engine) as r:

        async def delegate() -> str:
            alone = replace(one.options, tools=["Bash"], allowed_tools=["Bash"], mcp_servers={})
            async for _ in query(prompt="nested", options=alone):
                pass
            return "done"

        def script(request: Request) -> Answer:
            if "nested" in request.prompt:
                return Answer(bash(f"echo $$ > {pid}; sleep 300"))
            return Answer(Asks("delegate", {}))

        one.tool(delegate)
        one.provider.always(script)
        session = r.session("s")
        await session.send("go")
        await until(lambda: pid.exists() and pid.read_text().strip())
        receipt = await session.stop()
        assert gone(int(pid.read_text()))
        assert len(receipt.processes) >= 3


def looks_once(request: Request) -> Answer | str:
    return "done" if request.results else Answer(Asks("look", {"n": 1}))


async def test_two_sessions_at_once_do_not_disturb_each_other() -> None:
    latch, came = Latch(), list[int]()

    async def look(n: int) -> str:
        came.append(n)
        await latch.wait()
        return f"seen {n}"

    async with claude() as one, Runtime(one.engine) as r:
        one.tool(look)
        one.provider.always(looks_once)
        tickets = [await r.session(name).send("go") for name in "ab"]
        await until(lambda: len(came) == 2)
        await r.session("a").stop()
        latch.open.set()
        outcomes = [await ticket.outcome() for ticket in tickets]

    assert outcomes == [Outcome.STOPPED, Outcome.COMPLETED]
