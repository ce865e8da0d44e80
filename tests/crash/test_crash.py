"""D4. A real process, killed -9 at a random instant of a busy life, again and again.

The store lives on from death to death, so each round also finds what the earlier ones left. The
seed is printed; `--rounds N` and `--seed N` repeat or prolong.
"""

import asyncio
import logging
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from lastword import Outcome, Run, Runtime, Status
from lastword.core.entries import Began, Called, Entry, Finished, Result, Said
from lastword.core.model import CallId, MessageId, RunId
from lastword.stores.opening import open_store
from lastword.stores.postgres import PostgresStore
from lastword.stores.sqlite import SqliteStore

VICTIM = Path(__file__).with_name("victim.py")


def touched(tools: Path) -> list[str]:
    """Every effect that a tool ever had."""
    return tools.read_text(encoding="utf-8").splitlines()


class Promised:
    """What the victims were told, all in all."""

    def __init__(self) -> None:
        self.accepted: dict[str, set[str]] = {}
        self.stopped: dict[str, set[RunId]] = {}
        self.dropped: dict[str, set[MessageId]] = {}

    def hear(self, lines: Iterable[str]) -> None:
        for line in lines:
            match line.split():
                case ["accepted", session, message]:
                    self.accepted.setdefault(session, set()).add(message)
                case ["stopped", session, run]:
                    self.stopped.setdefault(session, set()).add(RunId(run))
                case ["dropped", session, message]:
                    self.dropped.setdefault(session, set()).add(MessageId(message))
                case _:
                    pass


def live_and_die(address: str, tools: Path, seed: int, number: int) -> list[str]:
    """Let a victim live for a while; every whole line that it said before it was killed."""
    choose = random.Random(f"{seed} {number}")
    argv = [sys.executable, str(VICTIM), address, str(tools), str(seed + number), str(number)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as victim:
        assert victim.stdout is not None
        heard = [victim.stdout.readline() for _ in range(choose.randint(1, 60))]
        time.sleep(choose.random() * 0.02)  # lastword: any instant will do
        victim.send_signal(signal.SIGKILL)
        heard += victim.stdout.readlines()
    assert heard[0] == b"ready\n", heard[0]
    return [line.decode().strip() for line in heard if line.endswith(b"\n")]


@pytest.mark.scenario("D4", part="sqlite")
@pytest.mark.scenario("D4", part="postgres")
async def test_nothing_is_lost_repeated_or_brought_back_however_often_it_dies(
    address: str, tmp_path: Path, rounds: int, seed: int
) -> None:
    logging.getLogger(__name__).warning("seed %d", seed)  # shown if it fails
    tools = tmp_path / "tools.txt"
    tools.touch()
    promised = Promised()
    if not address.startswith("sqlite:"):
        rounds = (rounds + 1) // 2  # each takes twice as long
    for number in range(rounds):
        heard = await asyncio.to_thread(live_and_die, address, tools, seed, number)
        promised.hear(heard)
        store = open_store(address)
        await store.open()
        logs = {session: await store.entries(session) for session in await store.sessions()}
        assert isinstance(store, SqliteStore | PostgresStore)
        assert await store.check() == []
        await store.close()
        where = f"seed {seed}, round {number}"
        for session, log in logs.items():
            was_promised(session, log, promised, where)
            is_consistent(log, touched(tools), where)
    await comes_to_rest(address, tools, promised)


def was_promised(session: str, log: tuple[Entry, ...], promised: Promised, where: str) -> None:
    said = {entry.message.id for entry in log if isinstance(entry, Said)}
    ends = {entry.run: entry.outcome for entry in log if isinstance(entry, Finished)}
    outcomes = {m: e.outcome for e in log if isinstance(e, Finished) for m in e.messages}
    began = {m for entry in log if isinstance(entry, Began) for m in entry.messages}
    assert promised.accepted.get(session, set()) <= said, f"a message was lost: {where}"
    for run in promised.stopped.get(session, set()):
        assert ends[run] == Outcome.STOPPED, f"what was stopped came back: {where}"
    for message in promised.dropped.get(session, set()):
        assert outcomes[message] == Outcome.STOPPED, f"what was dropped came back: {where}"
        assert message not in began, f"what was dropped began: {where}"


def is_consistent(log: tuple[Entry, ...], effects: list[str], where: str) -> None:
    outcomes = Counter(m for e in log if isinstance(e, Finished) for m in e.messages)
    assert all(count == 1 for count in outcomes.values()), f"two outcomes: {where}"
    results = {entry.call: entry for entry in log if isinstance(entry, Result)}
    assert len(results) == sum(isinstance(e, Result) for e in log), f"two results: {where}"
    ended = {entry.run for entry in log if isinstance(entry, Finished)}
    times = Counter(effects)
    calls = Counter(_effect(entry) for entry in log if isinstance(entry, Called))
    for entry in log:
        if not isinstance(entry, Called):
            continue
        result = results.get(entry.call)
        assert result or entry.run not in ended, f"a call has no result: {where}"
        assert times[_effect(entry)] <= calls[_effect(entry)], f"a tool ran twice: {where}"
        if result and result.status is Status.COMPLETED:
            assert times[_effect(entry)] == 1, f"done, and yet not done: {where}"
        if result and result.status is Status.NOT_STARTED:
            assert times[_effect(entry)] == 0, f"not started, and yet done: {where}"
    assert set(times) >= {_effect(e) for e in log if isinstance(e, Called) and _done(results, e)}


def _done(results: dict[CallId, Result], called: Called) -> bool:
    result = results.get(called.call)
    return result is not None and result.status is Status.COMPLETED


def _effect(called: Called) -> str:
    return called.arguments.rpartition('"what": "')[2].removesuffix('"}')


async def comes_to_rest(address: str, tools: Path, promised: Promised) -> None:
    """A last process that takes up what is left, and ends in an orderly way."""
    before = Counter(touched(tools))

    async def engine(run: Run) -> None:
        await run.emit("I was waiting.")

    async with Runtime(engine, store=address, on_restart="wait") as runtime:
        for name in promised.accepted:
            session = runtime.session(name)
            ticket = await session.send("and now?", on_message="queue")
            await ticket.outcome()
            await session.resume()
            while session.busy:
                await asyncio.sleep(0)
            log = await session.log()
            outcomes = {m for e in log if isinstance(e, Finished) for m in e.messages}
            assert promised.accepted[name] <= outcomes
            is_consistent(log, touched(tools), "at rest")
            await session.history()
    assert Counter(touched(tools)) == before
