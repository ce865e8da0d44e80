"""The server of the storm, in a process of its own: as `lastword serve` has it, with a scripted
engine, and a meter in its event loop.

It answers a line on its input with what it has measured since the line before.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import selectors
import sys
import threading
import time
from pathlib import Path

from bench.server_client import answer
from bench.server_sides import cpu
from bench.storm_clients import LARGE, PRINCIPALS, SPEAKS, stood_in_line, token_of
from bench.turns import quantile
from lastword.agent.config import Config
from lastword.agent.permission import Questions
from lastword.agent.rules import Rules
from lastword.cli.serve import search_rarely
from lastword.runtime.run import Run
from lastword.runtime.runtime import Runtime
from lastword.server.asgi import LOOPBACK
from lastword.server.desk import ServerState
from lastword.server.limits import ServerLimits
from lastword.server.serve import listen, serving
from lastword.server.who import ApiToken, Keys

RULES = 20_000
LINES, LINE = 20_000, "a line of a long answer, which is exported whole. " * 4
LARGE_AT_ONCE = 50  # lines between which others have a turn


class Meter(selectors.EpollSelector):
    """Between two looks at its sockets, the loop has one round: how long each was, by the clock of
    its thread and by that on the wall. Whatever arrives has to wait for the end of one."""

    def __init__(self) -> None:
        super().__init__()
        self._began = 0.0, 0.0
        self._counts = False  # not the round in which it is read
        self.ran = list[float]()
        self.passed = list[float]()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ran, passed = self._began
        if self._counts:
            self.ran.append(time.thread_time() - ran)
            self.passed.append(time.perf_counter() - passed)
        self._counts = True
        found = super().select(timeout)
        self._began = time.thread_time(), time.perf_counter()
        return found

    def take(self) -> tuple[list[float], list[float]]:
        taken = self.ran, self.passed
        self.ran, self.passed, self._counts = [], [], False
        return taken


async def shell(command: str) -> str:
    """What rules are about; nothing is run."""
    return command


async def engine(run: Run) -> None:
    """Says a word a second; and some of them call a tool with each."""
    how = run.message.text
    if how == LARGE:
        for number in range(LINES):
            await run.emit(LINE)
            if number % LARGE_AT_ONCE == 0:
                await asyncio.sleep(0)
        return
    while True:
        await asyncio.sleep(1.0)
        await run.emit("word ")
        if how != SPEAKS:
            await run.call(shell, "sudo -u deploy make check && git push --force-with-lease")


def rules_in(folder: Path) -> Rules:
    """Read from a file, as a person would have it."""
    file = folder / "lastword.toml"
    lines = [f'  "deny shell rm -rf /srv/data/{number}/*",' for number in range(RULES)]
    file.write_text("\n".join(["rules = [", '  "allow shell",', *lines, "]"]), encoding="utf-8")
    return Rules.parse(Config.read(file).rules)


def measured(meter: Meter) -> None:
    ran, passed = meter.take()
    answer(
        cpu=cpu(),
        loop=time.thread_time(),
        line=stood_in_line(Path(f"/proc/self/task/{threading.get_native_id()}")),
        rounds=len(ran),
        ran=max(ran),
        ran_p99=quantile(ran, 0.99),
        passed=max(passed),
        passed_p99=quantile(passed, 0.99),
    )


async def obey(folder: Path, meter: Meter) -> None:
    """Serve until the input ends."""
    questions = Questions(rules_in(folder))
    tokens = [ApiToken(token_of(name), name) for name in PRINCIPALS]
    listening, limits = listen("127.0.0.1", 0), ServerLimits().within_reach()
    store = f"sqlite:{folder}/storm.db"
    runtime = Runtime(engine, store=store, before_tool=questions.as_before_tool(), grace=0.25)
    async with runtime:
        desk = ServerState(runtime, questions, Keys(tokens), limits, "bench")
        search_rarely()
        async with serving(desk, listening, hosts=LOOPBACK):
            reader = asyncio.StreamReader()
            loop = asyncio.get_running_loop()
            await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
            answer(port=listening.getsockname()[1])
            while await reader.readline():
                measured(meter)


def main(folder: Path) -> None:
    logging.basicConfig(filename=folder / "log")  # of bad requests, thousands are told
    gc.disable()
    meter = Meter()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(meter)) as runner:
        runner.run(obey(folder, meter))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
