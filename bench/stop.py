"""How soon a stop answers among many runs that stream, and what an idle session costs."""

from __future__ import annotations

import asyncio
import gc
import random
import time
import tracemalloc
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from statistics import median
from typing import TypeAlias

from bench.turns import heading, quantile, row
from lastword.runtime.run import Run
from lastword.runtime.runtime import Runtime

RUNS = (1, 100, 1_000)
BETWEEN_TOKENS = 0.02  # a model that says fifty tokens a second
SECONDS_EACH = 6.0
IDLE = 2_000


async def main() -> None:
    for runs in RUNS:
        await one_among(runs)
    for runs in RUNS:
        await all_of(runs)
    await idle_sessions()


async def stream(run: Run) -> None:
    while True:
        await run.emit("token")
        await asyncio.sleep(BETWEEN_TOKENS)


async def stream_plainly() -> None:
    said: deque[str] = deque(maxlen=1000)
    while True:
        said.append("token")
        await asyncio.sleep(BETWEEN_TOKENS)


async def start(runtime: Runtime, name: str) -> None:
    ticket = await runtime.session(name).send("go")
    await ticket.started()


async def cancel_and_wait(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    for task in tasks:
        with suppress(asyncio.CancelledError):
            await task


def any_moment() -> float:
    return BETWEEN_TOKENS * (0.25 + random.random())  # noqa: S311 - no secret


# one stop


async def one_among(runs: int) -> None:
    """Stop one of them, cancel a plain task that streams beside them, and so on in turns."""
    fenced: list[float] = []
    stopped: list[float] = []
    cancelled: list[float] = []
    async with Runtime(stream) as runtime:
        names = [f"s{n}" for n in range(runs)]
        for name in names:
            await start(runtime, name)
        until = time.perf_counter() + SECONDS_EACH
        while time.perf_counter() < until:
            name = random.choice(names)  # noqa: S311 - no secret
            await asyncio.sleep(any_moment())
            began = time.perf_counter()
            answer = runtime.session(name).stop()
            fenced.append(time.perf_counter() - began)
            receipt = await answer
            stopped.append(time.perf_counter() - began)
            if not (receipt.runs and receipt.quiet):
                raise AssertionError(receipt)
            await start(runtime, name)

            plain = asyncio.create_task(stream_plainly())
            await asyncio.sleep(any_moment())
            began = time.perf_counter()
            await cancel_and_wait([plain])
            cancelled.append(time.perf_counter() - began)
    heading(f"one stop, streaming runs: {runs:,} ({len(stopped)} stops and as many cancels)")
    for part in (0.5, 0.99):
        p, beside = f"p{part * 100:.0f}", ("task.cancel() and await", quantile(cancelled, part))
        row(f"{p} stop() returns: nothing acts any more", quantile(fenced, part), beside)
        row(f"{p} stop() to its receipt", quantile(stopped, part), beside)
        row(f"{p} task.cancel() and await", quantile(cancelled, part))


# all of them


async def all_of(runs: int) -> None:
    """Stop all, then cancel as many plain tasks, and so on in turns."""
    stopped: list[float] = []
    cancelled: list[float] = []
    async with Runtime(stream) as runtime:
        until = time.perf_counter() + SECONDS_EACH
        while time.perf_counter() < until or len(stopped) < 3:
            for n in range(runs):
                await start(runtime, f"s{n}")
            await asyncio.sleep(any_moment())
            began = time.perf_counter()
            receipts = await runtime.stop_all()
            stopped.append(time.perf_counter() - began)
            if len(receipts) != runs or not all(r.quiet for r in receipts.values()):
                raise AssertionError(receipts)

            tasks = [asyncio.create_task(stream_plainly()) for _ in range(runs)]
            await asyncio.sleep(any_moment())
            began = time.perf_counter()
            await cancel_and_wait(tasks)
            cancelled.append(time.perf_counter() - began)
    heading(f"stop_all, streaming runs: {runs:,} ({len(stopped)} times)")
    for name, part in (("p50", 0.5), ("worst", 1.0)):
        beside = ("cancel() and await of each", quantile(cancelled, part))
        row(f"{name} stop_all() to the last receipt", quantile(stopped, part), beside)
        row(f"{name} of that, for each run", quantile(stopped, part) / runs)
        row(f"{name} cancel() and await of each", quantile(cancelled, part))


# none of them

Maker: TypeAlias = Callable[[int], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def opened(times: int) -> AsyncGenerator[None]:
    async with Runtime(answer_at_once) as runtime:
        for n in range(times):
            runtime.session(f"s{n}")
        yield


@asynccontextmanager
async def answered(times: int) -> AsyncGenerator[None]:
    async with Runtime(answer_at_once) as runtime:
        for n in range(times):
            ticket = await runtime.session(f"s{n}").send("go")
            await ticket.outcome()
        yield


async def answer_at_once(run: Run) -> None:
    await run.emit("token")


@asynccontextmanager
async def parked(times: int) -> AsyncGenerator[None]:
    inboxes = [asyncio.Queue[str]() for _ in range(times)]
    tasks = [asyncio.create_task(park(inbox)) for inbox in inboxes]
    await asyncio.sleep(0)
    yield
    await cancel_and_wait(tasks)


async def park(inbox: asyncio.Queue[str]) -> None:
    await inbox.get()


async def idle_sessions() -> None:
    """Open many that do nothing, beside a session made by hand: a parked task with a queue."""
    makers: dict[str, Maker] = {
        "merely opened": opened,
        "answered one message": answered,
        "a parked task with a queue": parked,
    }
    rounds = [{name: await time_to_make(make) for name, make in makers.items()} for _ in range(5)]
    took = {name: median(one[name] for one in rounds) for name in makers}
    size = {name: await bytes_of(make) for name, make in makers.items()}
    by_hand = "a parked task with a queue"
    heading(f"a session, one of {IDLE:,}, idle")
    for name in makers:
        row(f"made: {name} ({1 / took[name]:,.0f} a second)", took[name], (by_hand, took[by_hand]))
    for name in makers:
        print(
            f"  {f'kept: {name}':<54}{size[name] / 1024:>8.2f} KiB  "
            f"x{size[name] / size[by_hand]:<7.3g} {by_hand}"
        )


async def time_to_make(make: Maker) -> float:
    gc.collect()
    began = time.perf_counter()
    async with make(IDLE):
        return (time.perf_counter() - began) / IDLE


async def bytes_of(make: Maker) -> float:
    """What each still holds while all of them are there and nothing is going on."""
    async with make(10):
        pass  # whatever is made once is made now
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        async with make(IDLE):
            await asyncio.sleep(0.1)
            gc.collect()
            return (tracemalloc.get_traced_memory()[0] - before) / IDLE
    finally:
        tracemalloc.stop()
