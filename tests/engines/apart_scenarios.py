"""Engines of the stories of docs/scenarios.md, found by name. A message names one, and the folder
in which it leaves what it did. `run.request("reached", "x")` tells the test where it stands."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from lastword import Run, Superseded
from lastword.core.question import Question

Story = Callable[[Run, Path], Awaitable[None]]
for_ever = "trap '' TERM INT HUP; echo up; while :; do sleep 0.05; done"


async def _stay() -> None:
    await asyncio.Event().wait()


async def streams(run: Run, at: Path) -> None:
    async with run.typing(every=0.02):
        while True:
            await run.emit("word ")
            await asyncio.sleep(0.001)


async def pushes_on(run: Run, at: Path) -> None:
    """As one whose provider does not hear that the request was cancelled."""
    await run.emit("before ")
    pushed = 0
    while pushed < 500:
        try:
            await run.emit("tardy ", soon=True)
            await asyncio.sleep(0)
            if not run.current:
                pushed += 1
        except asyncio.CancelledError:
            continue
    (at / "pushed").write_text(f"{pushed}")


async def says_five(run: Run, at: Path) -> None:
    for n in range(5):
        await run.emit(f"{n}")
    await run.request("reached", "said")
    await _stay()


async def paces(run: Run, at: Path) -> None:
    def sink(text: str) -> None:
        with (at / "sent").open("a") as sent:
            sent.write(text)

    paced = run.fence(sink, pace=0.5)
    await paced("1")
    await run.request("reached", "first")
    await paced("2")


async def retries(run: Run, at: Path) -> None:
    for attempt in range(2):
        with (at / "attempts").open("a") as attempts:
            attempts.write(f"{attempt}")
        await run.emit(f"attempt {attempt} ")
        await run.request("reached", f"attempt {attempt}")
        try:
            await asyncio.sleep(60)  # its back-off
        except asyncio.CancelledError:
            continue  # as if it were an error of the transport's


async def hops(run: Run, at: Path) -> None:
    """A thread looks whether the run may act, and has the loop speak later."""
    loop, begun = run.loop, threading.Event()

    def look() -> None:
        while True:
            if run.current:
                asyncio.run_coroutine_threadsafe(run.emit("x"), loop)
                begun.set()
            time.sleep(0.0005)

    threading.Thread(target=look, daemon=True).start()
    await asyncio.to_thread(begun.wait)
    await run.request("reached", "hopping")
    await _stay()


async def last_words(run: Run, at: Path) -> None:
    try:
        await run.request("reached", "up")
        await _stay()
    finally:
        for n in range(3):
            await run.emit(f"late {n}")
        await run.progress("late")


async def five_calls(run: Run, at: Path) -> None:
    async def tool(n: int) -> int:
        with (at / "calls").open("a") as calls:
            calls.write(f"{n}")
        if n == 2:
            await run.request("reached", "second")
            await _stay()
        return n

    calls = [run.intend(tool, n) for n in range(1, 6)]
    for call in calls:
        await call()


async def four_at_once(run: Run, at: Path) -> None:
    async def polite(n: int) -> None:
        await run.request("reached", f"{n}")
        await _stay()

    def deaf() -> None:
        (at / "deaf").write_text("begun")
        while True:
            time.sleep(0.01)

    made = [run.intend(polite, n) for n in range(3)]
    await asyncio.gather(*(call() for call in made), run.call(deaf))


async def calls_once(run: Run, at: Path) -> None:
    async def tool() -> None:
        (at / "called").write_text("x")

    await run.call(tool)


async def asks_twice(run: Run, at: Path) -> None:
    for n in range(2):
        question = Question(f"q{n}", run.session, run.generation, run.id, "write", "a file")
        await run.ask(question)


async def answers(run: Run, at: Path) -> None:
    await run.emit(" | ".join(f"{one.role}: {one.text}" for one in run.history))


async def waits(run: Run, at: Path) -> None:
    await run.emit(f"begun {run.message.by} ")
    await run.request("reached", "up")
    await _stay()


async def takes_steering(run: Run, at: Path) -> None:
    await run.request("reached", "up")
    while not (taken := await run.steering()):
        await asyncio.sleep(0.005)
    await run.emit(f"{[(one.text, one.by) for one in taken]}")


async def ends_with_steering(run: Run, at: Path) -> None:
    """What joins it in its last moment was not taken."""
    await run.request("reached", "up")
    await run.request("goes_on")
    await run.emit("over")


async def _up(process_output: object) -> None:
    async for _ in process_output:  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType] - a stream of one
        return


async def spawns(run: Run, at: Path) -> None:
    """By the ways of a run's own: its second word says what."""
    match (at / "how").read_text():
        case "deaf":
            child = await run.spawn(shell=for_ever)
        case "escapes":
            child = await run.spawn(shell=f'setsid nohup sh -c "{for_ever}" & sleep 1000')
        case "background":
            child = await run.spawn(shell=f'sh -c "{for_ever}" & exit 0')
        case "terminal":
            child = await run.spawn("bash", "-ic", f'sh -c "{for_ever}" & wait', pty=True)
        case _:
            child = await run.spawn("sh", "-c", "echo up; exec sleep 1000", on_stop="keep")
    await _up(child.stdout)
    await run.request("reached", "up")
    await _stay()


async def holds_output(run: Run, at: Path) -> None:
    """The shell ends; a grandchild has its output, and never writes."""
    await run.request("reached", "up")
    await run.shell("sleep 1000 & echo one")


async def stands_still(run: Run, at: Path) -> None:
    child = await run.spawn(shell=for_ever)
    await _up(child.stdout)
    child.pass_on(signal.SIGSTOP)
    await run.request("reached", "up")
    await _stay()


async def starts_all_the_time(run: Run, at: Path) -> None:
    await run.request("reached", "up")
    while True:
        await run.spawn("sh", "-c", "sleep 1000; : a story's own")


async def three_deep(run: Run, at: Path) -> None:
    if len(run.sessions) < 4:
        child = await run.child(run.message.text)
        try:
            await child.outcome()
        finally:
            await run.emit("the parent was woken")
    await run.request("reached", "deep")
    await _stay()


async def child_of_a_tool(run: Run, at: Path) -> None:
    async def tool() -> None:
        child = await run.child(f"waits {at}")
        await child.outcome()

    await run.call(tool)


async def wedged_child(run: Run, at: Path) -> None:
    for way in ("waits", "wedged", "waits"):
        await run.child(f"{way} {at}")
    await _stay()


async def wedged(run: Run, at: Path) -> None:
    await run.request("reached", "wedged")
    while True:
        pass


async def keeps_a_child(run: Run, at: Path) -> None:
    await run.child(f"says_later {at}", keep=True)
    await _stay()


async def says_later(run: Run, at: Path) -> None:
    await run.request("reached", "kept")
    await run.request("goes_on")
    await run.emit("kept on")


async def tries_for_ever(run: Run, at: Path) -> None:
    """Calls, words and thoughts in turn: a stop may come at each."""

    async def tool(n: int) -> str:
        await asyncio.sleep(0)
        return f"{n}"

    n = 0
    with suppress(Superseded):
        while True:
            n += 1
            await run.emit(f"{n} ", soon=bool(n % 2))
            await asyncio.gather(run.call(tool, n), run.call(tool, -n))
            await run.think("hm")


async def pays(run: Run, at: Path) -> None:
    async def pay() -> None:
        with (at / "paid").open("a") as paid:
            paid.write("x")
        await _stay()

    await run.call(pay)


STORIES: dict[str, Story] = {
    story.__name__: story
    for story in (
        streams,
        pushes_on,
        says_five,
        paces,
        retries,
        hops,
        last_words,
        five_calls,
        four_at_once,
        calls_once,
        asks_twice,
        answers,
        waits,
        takes_steering,
        ends_with_steering,
        spawns,
        holds_output,
        stands_still,
        starts_all_the_time,
        three_deep,
        child_of_a_tool,
        wedged_child,
        wedged,
        keeps_a_child,
        says_later,
        tries_for_ever,
        pays,
    )
}


async def engine(run: Run) -> None:
    name, _, at = run.message.text.partition(" ")
    await STORIES.get(name, answers)(run, Path(at or "."))
