"""What the check costs: an emit and a gated call, beside the same without, and over time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from statistics import median

from bench.lent import Unchecked, lent_run, store_with
from bench.turns import Side, heading, in_turns, row, seconds
from lastword.core.entries import Text
from lastword.core.model import Generation, RunId, SessionId, Settings
from lastword.core.session import SessionMachine
from lastword.core.story import FeedEvent
from lastword.runtime.feed import Feed
from lastword.runtime.run import Run
from lastword.runtime.runtime import Runtime

EARLIER_EMITS = (10, 1_000, 20_000)
EARLIER_CALLS = (10, 1_000, 5_000)
EARLIER_TURNS = (10, 500, 5_000)
ROUNDS = 15


async def main() -> None:
    await emit_into_the_feed()
    await emit_to_a_sink()
    await gated_calls()
    await as_history_grows()


def emitting(run: Run) -> Side:
    async def side(times: int) -> None:
        for _ in range(times):
            await run.emit("token")

    return side


def awaiting(call: Callable[[], Awaitable[object]]) -> Side:
    async def side(times: int) -> None:
        for _ in range(times):
            await call()

    return side


async def emit_into_the_feed() -> None:
    feed = Feed(SessionId("bare"), asyncio.get_running_loop(), lambda: Generation(0), keep=1000)
    machine, generation, run_id = SessionMachine(Settings()), Generation(0), RunId("bare#1")

    async def appending(times: int) -> None:
        for _ in range(times):
            feed.append(Text(run_id, "token"), generation)

    async def comparing(times: int) -> None:
        for _ in range(times):
            if machine.generation != generation:
                raise AssertionError

    async with lent_run() as run, lent_run(hold=Unchecked) as unchecked:
        took = await in_turns(
            {
                "emit": emitting(run),
                "unchecked": emitting(unchecked),
                "append": appending,
                "compare": comparing,
            },
            times=5_000,
        )
    heading("run.emit into the feed (goal: at most x1.3 of the same without the check)")
    emit, without = took["emit"], took["unchecked"]
    row("run.emit", emit, ("without the check", without), ("a bare feed.append", took["append"]))
    row("the same without the check", without, ("a bare feed.append", took["append"]))
    row("feed.append alone", took["append"])
    row("one inline comparison (its loop included)", took["compare"], ("run.emit", emit))


async def emit_to_a_sink() -> None:
    async def sink(_event: FeedEvent) -> None:
        pass

    event = FeedEvent(1, SessionId("bare"), Generation(0), Text(RunId("bare#1"), "token"))
    async with lent_run(sink=sink) as run, lent_run(sink=sink, hold=Unchecked) as unchecked:
        took = await in_turns(
            {
                "emit": emitting(run),
                "unchecked": emitting(unchecked),
                "task": awaiting(in_a_task),
                "direct": awaiting(lambda: sink(event)),
            },
            times=1_000,
        )
    heading("run.emit to an async sink")
    emit, direct = took["emit"], ("await sink(event)", took["direct"])
    row(
        "run.emit", emit, ("without the check", took["unchecked"]), ("a task", took["task"]), direct
    )
    row("the same without the check", took["unchecked"], direct)
    row("a task of its own, shielded and awaited", took["task"], direct)
    row("await sink(event), directly", took["direct"])


async def nothing() -> None:
    pass


def nothing_in_a_thread() -> None:
    pass


async def in_a_task() -> None:
    await asyncio.shield(asyncio.create_task(nothing()))


async def gated_calls() -> None:
    async with lent_run() as run:
        took = await in_turns(
            {
                "async": awaiting(run.gate(nothing)),
                "bare": awaiting(nothing),
                "task": awaiting(in_a_task),
            },
            times=500,
        )
        threads = await in_turns(
            {
                "sync": awaiting(run.gate(nothing_in_a_thread)),
                "to_thread": awaiting(lambda: asyncio.to_thread(nothing_in_a_thread)),
            },
            times=300,
        )
    heading("a gated call of a tool that does nothing (written down, committed, checked, settled)")
    row("async tool", took["async"], ("a task", took["task"]), ("the bare call", took["bare"]))
    row("a task of its own, shielded and awaited", took["task"])
    row("the bare call", took["bare"])
    row("sync tool, in a thread", threads["sync"], ("asyncio.to_thread", threads["to_thread"]))
    row("asyncio.to_thread", threads["to_thread"])


async def as_history_grows() -> None:
    heading(
        "as history grows (expected: x1; the first run of a session, which reads it all, is linear)"
    )
    await grows("emits in the run", EARLIER_EMITS, after_emits)
    await grows("calls in the run", EARLIER_CALLS, after_calls)
    await grows("turns in the session", EARLIER_TURNS, after_turns)


async def grows(
    what: str, sizes: Sequence[int], timed: Callable[[int], Awaitable[dict[str, float]]]
) -> None:
    """Time the same things after more and more of something, each size in each round."""
    took = [{size: await timed(size) for size in sizes} for _ in range(ROUNDS)]
    for name in took[0][sizes[0]]:
        least = median(one[sizes[0]][name] for one in took)
        for size in sizes:
            row(
                f"{name} after {size:,} {what}",
                median(one[size][name] for one in took),
                (f"after {sizes[0]:,}", least),
            )


async def after_emits(size: int) -> dict[str, float]:
    async with lent_run() as run:
        await emitting(run)(size)
        return await emit_and_call(run)


async def after_calls(size: int) -> dict[str, float]:
    async with lent_run() as run:
        await awaiting(run.gate(nothing))(size)
        return await emit_and_call(run)


async def after_turns(size: int) -> dict[str, float]:
    loop, figures = asyncio.get_running_loop(), dict[str, float]()

    async def engine(run: Run) -> None:
        figures["start of a run"] = loop.time() - began
        figures.update(await emit_and_call(run))

    async with Runtime(engine, store=await store_with(size)) as runtime:
        for _ in range(2):  # the first one starts the runtime's thread as well
            began = loop.time()
            ticket = await runtime.session("bench").send("go")
            await ticket.outcome()
    return figures


async def emit_and_call(run: Run) -> dict[str, float]:
    emit = min([await seconds(emitting(run)(200)) / 200 for _ in range(3)])
    await run.call(nothing)  # the first one writes down all that was said before it
    gated = awaiting(run.gate(nothing))
    call = min([await seconds(gated(100)) / 100 for _ in range(3)])
    return {"emit": emit, "gated call": call}
