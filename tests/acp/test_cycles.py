"""I5. Sixty stops and sixty takeovers later there is as much of everything as before."""

import asyncio
import gc
import os
from collections import Counter
from pathlib import Path

import pytest

from lastword.acp.peer import ClientRequest
from lastword.acp.talk import Prompt
from lastword.runtime.ticket import Ticket
from tests.acp.client import Client, editor
from tests.acp.inside import inside
from tests.promise.workshop import until

CYCLES = 60
WARM_UP = 20
A_LITTLE = 6 << 20  # bytes: what was said is kept, and an allocator keeps something for itself
WAITED_FOR = (ClientRequest, Prompt, Ticket)


async def stopped(client: Client, session: str, words: str, sign: str) -> None:
    """A prompt that is cancelled once there is a sign of it."""
    since = len(client.heard)
    prompt = client.prompt(session, words)
    client.write(prompt)
    await until(lambda: client.updates(sign, since))
    client.write(client.cancel(session))
    assert (await client.answered(prompt))["result"]["stopReason"] == "cancelled"
    client.heard.clear()


async def taken_over(client: Client, session: str) -> None:
    since = len(client.heard)
    first, second = client.prompt(session, "tell me a story"), client.prompt(session, "count to 1")
    client.write(first)
    await until(lambda: client.text(since))
    client.write(second)
    assert (await client.answered(first))["result"]["stopReason"] == "cancelled"
    assert (await client.answered(second))["result"]["stopReason"] == "end_turn"
    client.heard.clear()


async def cycles(client: Client, count: int) -> None:
    """Stops and takeovers, half of them in sessions that are closed after a while."""
    session = await client.new()
    for number in range(count):
        if number % 20 == 0:
            await client.ask("session/close", sessionId=session)
            session = await client.new()
        await stopped(client, session, "tell me a story", "agent_message_chunk")
        await taken_over(client, session)
        if number % 10 == 0:
            await stopped(client, session, "run sleep 1000", "tool_call_update")
    await client.ask("session/close", sessionId=session)


def descendants(pid: int) -> int:
    tasks = list(Path(f"/proc/{pid}/task").iterdir())
    below = [int(one) for task in tasks for one in (task / "children").read_text().split()]
    return len(below) + sum(descendants(one) for one in below if Path(f"/proc/{one}").exists())


def stock(pid: int) -> dict[str, int]:
    here = Path(f"/proc/{pid}")
    return {
        "descriptors": len(list((here / "fd").iterdir())),
        "threads": len(list((here / "task").iterdir())),
        "processes": descendants(pid),
    }


def memory(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.scenario("I5", part="processes")
async def test_sixty_stops_and_sixty_takeovers_leave_nothing_in_the_process(
    tmp_path: Path,
) -> None:
    async with editor(tmp_path, "--yes") as client:
        pid = client.process.pid
        await cycles(client, WARM_UP)
        before, used = stock(pid), memory(pid)
        await cycles(client, CYCLES)
        await until(lambda: stock(pid)["processes"] <= before["processes"])  # the last may be dying

        after = stock(pid)
        assert after["descriptors"] <= before["descriptors"], (before, after)
        assert after["threads"] <= before["threads"] + 1, (before, after)  # one may be idle
        assert memory(pid) - used < A_LITTLE


@pytest.mark.scenario("I5", part="library")
async def test_sixty_stops_and_sixty_takeovers_leave_no_task_and_nobody_waiting(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, pace=0.001) as client:
        await cycles(client, WARM_UP)
        before = counted()
        await cycles(client, CYCLES)
        await until(lambda: not counted() - before)  # the last may still be on its way out


def counted() -> "Counter[str]":
    gc.collect()
    kinds = Counter(type(one).__name__ for one in gc.get_objects() if isinstance(one, WAITED_FOR))
    kinds["tasks"] = len(asyncio.all_tasks())
    return kinds
