"""W71. A session is loaded while its run goes on, by a client that reads slowly."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from lastword import Run
from tests.acp.client import Message
from tests.acp.slow_reader import SlowClient, slowly_read
from tests.promise.workshop import until

pytestmark = pytest.mark.scenario("W71", part="acp")
LONG = "x" * (1 << 20)  # more than waits for a reader before who speaks does


class Engine:
    """Says something long; or something, calls a tool that ends when it is told to, and goes on."""

    def __init__(self) -> None:
        self.called = asyncio.Event()
        self.ends = asyncio.Event()
        self.goes_on = asyncio.Event()

    async def __call__(self, run: Run) -> None:
        if run.message.text == "long":
            await run.emit(LONG)
            return
        await run.emit(f"[before {run.message.text}]")
        await run.call(self.look)
        await run.emit(f"[after {run.message.text}]")
        await self.goes_on.wait()

    async def look(self) -> str:
        self.called.set()
        await self.ends.wait()
        return "seen"


async def opened(client: SlowClient, engine: Engine) -> tuple[str, Message]:
    """A session with much in it, and a prompt whose run calls."""
    session = await client.new()
    for _ in range(3):
        await client.say(session, "long")
    prompt = client.prompt(session, "go")
    client.write(prompt)
    await engine.called.wait()
    await until(lambda: client.statuses() == ["pending", "in_progress"])
    return session, prompt


async def loading(client: SlowClient, session: str) -> tuple[Message, int]:
    """A load that waits for who reads, and how much had been heard before it."""
    load = client.request(
        "session/load", sessionId=session, cwd=str(client.folder), mcpServers=list[str]()
    )
    since = len(client.heard)
    client.reads.clear()
    client.write(load)
    await client.no_room()
    return load, since


def brief(client: SlowClient, since: int) -> list[str]:
    """What was said and called, in order, with a letter for what is long."""
    told: list[str] = []
    for update in client.updates(since=since):
        match update:
            case {"sessionUpdate": "user_message_chunk" | "agent_message_chunk" as kind}:
                text = update["content"]["text"].replace(LONG, "x")
                told.append(f"> {text}" if kind.startswith("user") else text)
            case {"toolCallId": _}:
                told.append(update["status"])
            case _:
                pass
    return told


HISTORY = [*(["> long", "x"] * 3), "> go", "[before go]"]


@pytest.mark.parametrize("how", ["cancel", "word", "command", "elsewhere", "takeover"])
async def test_a_stop_while_history_is_told_is_answered_at_once_and_what_it_ended_is_history(
    tmp_path: Path, how: str
) -> None:
    engine = Engine()
    async with slowly_read(tmp_path, engine) as client:
        session, prompt = await opened(client, engine)
        load, since = await loading(client, session)
        runtime_session = client.runtime.session(session)
        run = runtime_session.active

        match how:
            case "cancel":
                client.write(client.cancel(session))
            case "elsewhere":
                await runtime_session.stop()
            case _:
                words = {"word": "stop", "command": "/stop", "takeover": "next"}[how]
                client.write(client.prompt(session, words))
        await client.answers(prompt)  # though nobody reads
        assert runtime_session.active != run
        client.reads.set()
        await client.answered(load)
        next_ = ["[before next]", "pending", "in_progress"] if how == "takeover" else []
        await until(lambda: client.statuses()[-1:] == (next_ or ["failed"])[-1:])
        told = brief(client, since)

    cancelled = client.answer_to(prompt)
    assert client.heard[cancelled]["result"]["stopReason"] == "cancelled"
    assert cancelled < client.answer_to(load)
    of_it = [one for one in told if not one.startswith("Stopped")]  # what is said of a command
    # of the call: that it was made, and how it ended
    assert of_it == [*HISTORY, "failed", "failed", *next_]


async def test_what_happens_while_history_is_told_comes_after_it_once(tmp_path: Path) -> None:
    engine = Engine()
    async with slowly_read(tmp_path, engine) as client:
        session, prompt = await opened(client, engine)
        load, since = await loading(client, session)

        for one in (engine.ends, engine.goes_on):
            one.set()
        await until(lambda: client.runtime.session(session).active is None)
        client.reads.set()
        await client.answered(load)
        await client.answered(prompt)

    going = ["pending", "in_progress"]
    assert brief(client, since) == [*HISTORY, *going, "completed", "[after go]"]
    said = client.place(lambda one: "[after go]" in str(one))
    assert said < client.answer_to(prompt)  # which is answered after what its run said


async def test_words_said_before_during_and_after_a_load_are_told_once_in_order(
    tmp_path: Path,
) -> None:
    turn, said = asyncio.Semaphore(0), list[int]()

    async def engine(run: Run) -> None:
        if run.message.text == "long":
            await run.emit(LONG)
            return
        for number in range(30):
            await turn.acquire()
            await run.emit(f"<{number}>")
            said.append(number)

    async def say(many: int) -> None:
        wanted = len(said) + many
        for _ in range(many):
            turn.release()
        await until(lambda: len(said) == wanted)

    async with slowly_read(tmp_path, engine) as client:
        session = await client.new()
        for _ in range(3):
            await client.say(session, "long")
        prompt = client.prompt(session, "count")
        client.write(prompt)
        await say(10)
        load, since = await loading(client, session)
        await say(10)
        client.reads.set()
        await client.answered(load)
        await say(10)
        await client.answered(prompt)

    told = brief(client, since)[len(HISTORY) - 1 :]
    assert [int(one) for one in re.findall(r"<(\d+)>", "".join(told))] == list(range(30))


async def test_what_happened_is_told_though_the_load_is_called_off(tmp_path: Path) -> None:
    engine = Engine()
    async with slowly_read(tmp_path, engine) as client:
        session, prompt = await opened(client, engine)
        load, since = await loading(client, session)

        for one in (engine.ends, engine.goes_on):
            one.set()
        await until(lambda: client.runtime.session(session).active is None)
        off = {"requestId": load["id"]}
        client.write({"jsonrpc": "2.0", "method": "$/cancel_request", "params": off})
        client.reads.set()
        answer = await client.answered(prompt)

    assert answer["result"]["stopReason"] == "end_turn"
    assert brief(client, since)[-2:] == ["completed", "[after go]"]


async def test_of_two_loads_at_once_each_is_told_all_of_it_and_a_stop_waits_for_none(
    tmp_path: Path,
) -> None:
    engine = Engine()
    async with slowly_read(tmp_path, engine) as client:
        session, prompt = await opened(client, engine)
        first, since = await loading(client, session)
        second, _ = await loading(client, session)
        client.write(client.cancel(session))
        await client.answers(prompt)
        client.reads.set()
        await client.answered(second)

    assert since <= client.answer_to(prompt) < client.answer_to(first) < client.answer_to(second)
    assert brief(client, since) == [*HISTORY, "failed", "failed"] * 2
