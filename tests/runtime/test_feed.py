"""The feed: numbered, bounded, and never slower for a slow watcher."""

import asyncio
from contextlib import suppress

import pytest

from lastword import FeedEvent, Outcome, Run, Runtime, Status
from lastword.core.model import CallId, RunId
from lastword.core.story import Begun, Called, Result
from lastword.errors import SlowWatcher
from lastword.testing.seeded import explore
from tests.promise.stories import a_while, heard_by, runtime
from tests.promise.workshop import until


async def count(run: Run) -> None:
    for number in range(10):
        await run.emit(f"{number}")


async def test_a_late_watcher_is_served_from_any_number_on_and_then_live() -> None:
    async with Runtime(count, on_message="queue") as r:
        session = r.session("s")
        await (await session.send("one")).outcome()
        seen: list[FeedEvent] = []

        async def watch() -> None:
            async for event in session.events(after=5):
                seen.append(event)
                if event.kind == "finished" and event.run == "s#2":
                    return

        watching = asyncio.create_task(watch())
        await (await session.send("two")).outcome()
        await watching

    assert [event.number for event in seen] == list(range(6, 6 + len(seen)))
    assert [str(e) for e in seen if e.kind == "text" and e.run == "s#2"] == list("0123456789")


async def test_a_watcher_that_asks_for_nothing_old_gets_only_what_comes() -> None:
    async with Runtime(count, on_message="queue") as r:
        session = r.session("s")
        await (await session.send("one")).outcome()
        events = session.events()

        async def next_one() -> FeedEvent:
            return await anext(events)

        following = asyncio.create_task(next_one())
        await asyncio.sleep(0)
        await session.send("two")

        assert (await following).text == "two"


async def test_a_watcher_that_falls_behind_is_dropped_loudly_and_slows_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with Runtime(count, feed_limit=8) as r:
        session = r.session("s")
        watching = session.events(after=0)
        await (await session.send("go")).outcome()

        with pytest.raises(SlowWatcher, match=r"no longer holds event 1 \(the oldest is 6\)"):
            await anext(watching)
        assert "watcher dropped session=s wanted=1 oldest=6" in caplog.text


def test_every_watcher_sees_the_same_numbers_without_gap_or_repeat(schedules: int) -> None:
    async def story() -> None:
        async with runtime(count, on_message="queue") as r:
            session = r.session("s")
            seen: list[list[int]] = [[], [], []]

            async def watch(numbers: list[int]) -> None:
                async for event in session.events(after=0):
                    numbers.append(event.number)  # noqa: PERF401 - one at a time is the point

            watching = [asyncio.create_task(watch(numbers)) for numbers in seen]
            first = await session.send("one")
            watching[2].cancel()  # one that leaves disturbs no other
            assert await first.outcome() == Outcome.COMPLETED
            await (await session.send("two")).outcome()
            await a_while()
        await asyncio.wait(watching)

        assert seen[0] == seen[1] == list(range(1, len(seen[0]) + 1))
        assert seen[2] == seen[0][: len(seen[2])]

    explore(story, schedules)


async def test_who_watches_is_told_what_a_tool_was_called_with_and_what_came_of_it() -> None:
    async def add(a: int, b: int) -> int:
        return a + b

    async def fail() -> None:
        raise ValueError("no")

    async def engine(run: Run) -> None:
        later = run.intend(fail)
        await run.call(add, 1, b=2)
        with suppress(ValueError):
            await later()

    async with Runtime(engine) as r:
        session = r.session("s")
        heard = heard_by(session)
        await (await session.send("go")).outcome()
        await until(lambda: heard and heard[-1].kind == "finished")

    run = RunId("s#1")
    assert [event.fact for event in heard if isinstance(event.fact, Called | Begun | Result)] == [
        Called(run, CallId(f"{run}.1"), "fail", "{}"),
        Called(run, CallId(f"{run}.2"), "add", '{"a": 1, "b": 2}'),
        Begun(run, CallId(f"{run}.2"), "add"),
        Result(run, CallId(f"{run}.2"), Status.COMPLETED, "3"),
        Begun(run, CallId(f"{run}.1"), "fail"),
        Result(run, CallId(f"{run}.1"), Status.COMPLETED, "ValueError('no')", error=True),
    ]


async def test_once_a_session_is_loaded_a_message_is_accepted_in_the_step_that_sends_it() -> None:
    async with Runtime(count, store="memory:") as r:
        session = r.session("s")
        await session.loaded()
        assert session.last_event == 0
        sending = session.send("one")
        with suppress(StopIteration):
            sending.send(None)  # its first step
        sending.close()

        assert (session.last_event, session.busy) == (1, True)
