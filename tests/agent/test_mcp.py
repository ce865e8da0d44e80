"""MCP servers as tools: real ones, which end with the run and are told when a call is off."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lastword import Outcome, Run, Runtime, Session, Status
from lastword.agent.assistant import assistant
from lastword.agent.rehearsal import Rehearsal
from lastword.agent.tools.mcp import McpServer, http, stdio
from lastword.core.entries import Result, Text
from tests.promise.stories import check_log, heard_by
from tests.promise.workshop import fates, gone, until

SERVER = Path(__file__).with_name("mcp_server_to_start.py")
NEVER_ANSWERS = ["/bin/sh", "-c", "echo hello; exec sleep 1000"]
PROMPT = 60.0  # seconds: a guard; whoever waits for a timeout waits for longer


@asynccontextmanager
async def talking(
    *servers: McpServer, rules: Sequence[str] = ("allow *",), roots: Sequence[Path] = (Path(),)
) -> AsyncGenerator[Session]:
    """A session of an assistant with these servers, in which a process knows its own number."""
    mine = assistant(Rehearsal(pace=0), rules=rules, roots=roots, toolsets=servers)
    before = mine.questions.as_before_tool()
    async with Runtime(mine.engine, before_tool=before, level="tree", deadline=30) as runtime:
        yield runtime.session("s")


async def answer(session: Session, words: str) -> str:
    ticket = await session.send(words)
    assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    log = await session.log()
    return "".join(
        entry.text for entry in log if isinstance(entry, Text) and entry.run == ticket.run
    )


def local(folder: Path, *how: str, timeout: float = 600.0, grace: float = 20.0) -> McpServer:
    command = [sys.executable, str(SERVER), str(folder), *how]
    return stdio("mine", command, timeout=timeout, grace=grace)


def recorded(folder: Path) -> list[str]:
    file = folder / "record"
    return file.read_text().splitlines() if file.exists() else []


def number(folder: Path) -> int:
    return int((folder / "pid").read_text())


@asynccontextmanager
async def serving(folder: Path) -> AsyncGenerator[str]:
    """A server that speaks HTTP, on a port of its own; its address."""
    process = await asyncio.create_subprocess_exec(sys.executable, SERVER, folder, "http")
    try:
        port = folder / "port"
        await until(lambda: port.exists() and port.read_text().endswith("\n"))
        yield f"http://127.0.0.1:{port.read_text().strip()}/mcp"
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def called_off(folder: Path, tool: str = "wait") -> bool:
    """Whether the very call that was made was called off, once."""
    record = recorded(folder)
    [called] = [line.split()[1] for line in record if line.startswith("call ") and tool in line]
    return record.count(f"cancelled {called}") == 1


# what comes back


async def test_a_tool_of_a_server_is_listed_and_called_and_the_server_ends_with_the_run(
    tmp_path: Path,
) -> None:
    async with talking(local(tmp_path)) as session:
        assert "mine_say, mine_know, mine_wait" in await answer(session, "help")
        text = await answer(session, "ask mine_say: hello")
        await until(lambda: gone(number(tmp_path)))
        await check_log(session)

    assert text.endswith("mine_say returned: you said hello")


async def test_what_a_server_gives_is_given_and_no_more_than_can_be_read(tmp_path: Path) -> None:
    async with serving(tmp_path) as url, talking(http("mine", url)) as session:
        for tool in ("fail", "picture", "long", "dotted_name_and_more"):
            await answer(session, f"ask mine_{tool}")
        failed, picture, long, dotted = [e for e in await session.log() if isinstance(e, Result)]

    assert failed.error
    assert "it cannot be done" in failed.content
    assert (picture.error, picture.content) == (
        False,
        "[image/png]\n[from mine_picture]\n[image/png, 8 bytes]",
    )
    assert long.content.endswith("(50028 characters)")  # of 300,000
    assert dotted.content == "called"


async def test_a_server_is_given_nothing_of_the_environment_but_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    command = [sys.executable, str(SERVER), str(tmp_path)]
    server = stdio("mine", command, env={"WORD": "hello"}, cwd=tmp_path)
    path = os.environ["PATH"]

    async with talking(server) as session:
        text = await answer(session, "ask mine_know: SOME_API_KEY WORD PATH PWD")

    assert text.endswith(f"returned: nothing hello {path} {tmp_path}")


async def test_a_server_may_print_what_does_not_belong_there_and_nobody_sees_its_errors(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with talking(local(tmp_path)) as session:
        assert "returned: done" in await answer(session, "ask mine_chatter")

    assert capfd.readouterr() == ("", "")


async def test_what_a_server_asks_of_us_is_refused_and_its_call_goes_on(tmp_path: Path) -> None:
    async with talking(local(tmp_path)) as session:
        text = await answer(session, "ask mine_ask")

    assert "Sampling not supported; Elicitation not supported; List roots not supported" in text


async def test_a_server_s_tools_are_under_the_same_rules_as_all_others(tmp_path: Path) -> None:
    rules = ("allow mine_*", "deny mine_say *no*")
    async with serving(tmp_path) as url, talking(http("mine", url), rules=rules) as session:
        assert "returned: you said yes" in await answer(session, "ask mine_say: yes")
        assert "mine_say was not called" in await answer(session, "ask mine_say: no")

    assert len([line for line in recorded(tmp_path) if line.startswith("call ")]) == 1


async def test_once_its_tools_are_known_a_server_is_started_only_to_be_called(
    tmp_path: Path,
) -> None:
    async with talking(local(tmp_path)) as session:
        await answer(session, "hello")
        await answer(session, "help")
        assert recorded(tmp_path).count("initialize") == 1
        await answer(session, "ask mine_say: hello")

    assert recorded(tmp_path).count("initialize") == 2


# a stop


@pytest.mark.scenario("G6", part="mcp")
async def test_a_stop_ends_the_server_calls_off_the_call_and_says_what_may_have_happened(
    tmp_path: Path,
) -> None:
    async with talking(local(tmp_path, "patient")) as session:
        await session.send("ask mine_wait")
        await until(lambda: "waits" in recorded(tmp_path))
        receipt = await session.stop()

        assert receipt.quiet
        assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]
        assert set(fates(receipt).values()) == {"ended"}  # by itself, at the end of its input
        assert gone(number(tmp_path))
        assert called_off(tmp_path)
        assert recorded(tmp_path)[-1] == "ended"
        assert "may have executed" in await answer(session, "what happened?")
        assert "returned: you said hello" in await answer(session, "ask mine_say: hello")
        await check_log(session)


async def test_a_server_that_a_signal_ends_hears_first_what_was_called_off(tmp_path: Path) -> None:
    async with talking(local(tmp_path)) as session:
        await session.send("ask mine_wait")
        await until(lambda: "waits" in recorded(tmp_path))
        receipt = await session.stop()

        assert receipt.quiet
        assert gone(number(tmp_path))
        assert called_off(tmp_path)


async def test_of_two_open_calls_each_is_called_off(tmp_path: Path) -> None:
    server = local(tmp_path)

    async def engine(run: Run) -> None:
        link = server.link(run)
        await link.ready()
        await asyncio.gather(link.call("wait", {}), link.call("wait", {}))

    async with Runtime(engine, deadline=30) as runtime:
        session = runtime.session("s")
        await session.send("go")
        await until(lambda: recorded(tmp_path).count("waits") == 2)
        assert (await session.stop()).quiet

    calls = [line.split()[1] for line in recorded(tmp_path) if line.startswith("call ")]
    assert len(calls) == 2
    assert [recorded(tmp_path).count(f"cancelled {call}") for call in calls] == [1, 1]


async def test_a_stop_while_a_server_starts_ends_it(tmp_path: Path) -> None:
    program = (
        f"import os; open('{tmp_path}/pid', 'w').write(f'{{os.getpid()}}\\n'); input(); input()"
    )
    async with talking(stdio("mine", [sys.executable, "-c", program])) as session:
        await session.send("hello")
        await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        receipt = await session.stop()

        assert receipt.quiet
        assert receipt.calls == ()
        assert gone(number(tmp_path))


async def test_a_stop_is_bounded_although_the_server_reads_nothing_and_will_not_end(
    tmp_path: Path,
) -> None:
    async with talking(local(tmp_path, "patient", grace=0.3)) as session:
        await session.send("ask mine_wait")
        await until(lambda: "waits" in recorded(tmp_path))
        os.kill(number(tmp_path), signal.SIGSTOP)
        receipt = await session.stop()

        assert receipt.quiet
        assert gone(number(tmp_path))


async def test_a_stop_reaches_the_server_of_a_child(tmp_path: Path) -> None:
    async with talking(local(tmp_path, "patient")) as session:
        await session.send("delegate ask mine_wait")
        await until(lambda: "waits" in recorded(tmp_path))
        receipt = await session.stop()

        assert receipt.quiet
        assert gone(number(tmp_path))
        assert called_off(tmp_path)


async def test_a_new_message_takes_over_and_finds_a_server_of_its_own(tmp_path: Path) -> None:
    async with talking(local(tmp_path, "patient")) as session:
        first = await session.send("ask mine_wait")
        await until(lambda: "waits" in recorded(tmp_path))
        old = number(tmp_path)
        text = await answer(session, "ask mine_say: now this")

        assert await first.outcome() == Outcome.SUPERSEDED
        assert "returned: you said now this" in text
        assert gone(old)
        assert called_off(tmp_path)
        await check_log(session)


# a server in trouble


async def test_a_server_that_dies_in_a_call_is_the_tool_s_failure_and_is_started_again(
    tmp_path: Path,
) -> None:
    async with talking(local(tmp_path)) as session:
        text = await answer(session, "ask mine_die")
        assert "mine has ended (exit code 3; its errors end: something has broken)" in text
        assert "die may have been executed" in text
        assert "returned: you said hello" in await answer(session, "ask mine_say: hello")
        await check_log(session)


async def test_a_broken_answer_is_the_tool_s_failure_at_once(tmp_path: Path) -> None:
    async with asyncio.timeout(PROMPT), talking(local(tmp_path)) as session:
        text = await answer(session, "ask mine_garble")

        assert 'it wrote, where only messages belong: {"jsonrpc": "2.0", "id":' in text
        await until(lambda: gone(number(tmp_path)))


async def test_a_call_that_takes_too_long_is_called_off_and_the_server_goes_on(
    tmp_path: Path,
) -> None:
    async with talking(local(tmp_path, timeout=1.0)) as session:
        text = await answer(session, "ask mine_wait")

    assert "took longer than 1 seconds" in text
    assert called_off(tmp_path)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["/no/such/program"], "there is no file '/no/such/program'"),
        ([sys.executable, "-c", "import sys; sys.exit('no license')"], "no license"),
        (NEVER_ANSWERS, "did not answer in 2 seconds (it wrote, where only messages belong: he"),
        (["/bin/sh", "-c", "yes"], "it wrote, where only messages belong: y"),
        (["/bin/sh", "-c", "tr '\\0' x < /dev/zero"], "where only messages belong: xxx"),
    ],
    ids=["missing", "leaves", "says hello", "says too much", "never ends a line"],
)
async def test_a_server_that_cannot_be_used_is_told_of_and_no_run_fails(
    command: list[str], why: str
) -> None:
    server = stdio("mine", command, patience=2 if command is NEVER_ANSWERS else 20)
    async with asyncio.timeout(PROMPT), talking(server) as session:
        heard = heard_by(session)
        text = await answer(session, "ask mine_server")
        await until(lambda: [e for e in heard if e.kind == "progress" and why in e.text])

        assert "mine_server failed: the MCP server mine" in text
        assert why in text
        assert "Hello." in await answer(session, "hello")


async def test_a_server_that_can_be_used_later_is_found_by_trying_again(tmp_path: Path) -> None:
    command = f"test -e {tmp_path}/now && exec {sys.executable} {SERVER} {tmp_path}"
    async with talking(stdio("mine", ["/bin/sh", "-c", command])) as session:
        assert "exit code 1" in await answer(session, "ask mine_server")
        (tmp_path / "now").touch()
        await answer(session, "ask mine_server")
        assert "returned: you said hello" in await answer(session, "ask mine_say: hello")


@pytest.mark.parametrize("name", ["", "my server", "x" * 33, "a.b"])
def test_a_name_that_no_tool_can_have_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name of an MCP server"):
        stdio(name, ["true"])


def test_what_is_no_command_and_no_address_is_refused() -> None:
    with pytest.raises(ValueError, match="a list of words"):
        stdio("mine", "npx something")
    with pytest.raises(ValueError, match="begins with http"):
        http("mine", "localhost:80")


# by HTTP


async def test_a_tool_is_called_over_http_and_the_server_is_told_when_the_run_is_over(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as url, talking(http("mine", url)) as session:
        assert "returned: you said hello" in await answer(session, "ask mine_say: hello")
        await until(lambda: "DELETE" in recorded(tmp_path))
        await check_log(session)


async def test_a_stop_calls_off_a_call_over_http_and_leaves_the_server_alone(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as url, talking(http("mine", url)) as session:
        await session.send("ask mine_wait")
        await until(lambda: "waits" in recorded(tmp_path))
        receipt = await session.stop()

        assert receipt.quiet
        assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]
        assert called_off(tmp_path)
        await until(lambda: "gave up" in recorded(tmp_path))
        record = recorded(tmp_path)
        assert record.index("gave up") < record.index("DELETE")
        assert "returned: you said hello" in await answer(session, "ask mine_say: hello")
        await check_log(session)


async def test_a_stop_is_bounded_although_a_server_over_http_does_not_answer(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as url, talking(http("mine", url)) as session:
        await session.send("ask mine_wait")
        await until(lambda: "waits" in recorded(tmp_path))
        os.kill(number(tmp_path), signal.SIGSTOP)
        receipt = await session.stop()

        assert receipt.quiet


async def test_a_server_over_http_that_dies_in_a_call_is_the_tool_s_failure(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as url, talking(http("mine", url)) as session:
        text = await answer(session, "ask mine_die")
        assert "die may have been executed" in text
        assert "mine cannot be reached" in await answer(session, "ask mine_say: hello")
        assert "Hello." in await answer(session, "hello")
