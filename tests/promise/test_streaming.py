"""R28. What a model streams faster than the disk stores: in order, stored before it is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import pytest

from lastword import FeedEvent, Outcome, Run
from lastword.core.entries import Entry, Text, Thinking
from lastword.errors import StoreError
from lastword.stores.contract import Write
from lastword.testing.seeded import explore
from tests.promise.disk import Disk
from tests.promise.stories import a_while, check_log, heard_by, runtime, stop

pytestmark = pytest.mark.scenario("R28")
WORDS = [f"{n} " for n in range(40)]


class SlowDisk(Disk):
    """Ten words come while it stores one."""

    def __init__(self, fails_at: int = 0) -> None:
        super().__init__()
        self._left = fails_at

    async def commit(self, write: Write) -> None:
        await asyncio.sleep(1.0)
        says = any(isinstance(entry, Text) for entry in write.entries)
        if says and self._left:
            self._left -= 1
            if not self._left:
                raise StoreError("the disk is full")
        await super().commit(write)


async def stream(run: Run, words: Iterable[str] = WORDS) -> None:
    for word in words:
        await run.emit(word, soon=True)
        await asyncio.sleep(0.1)


def said(entries: Iterable[Entry]) -> str:
    return "".join(entry.text for entry in entries if isinstance(entry, Text))


def pieces(heard: Sequence[FeedEvent]) -> list[str]:
    return [event.text for event in heard if event.kind == "text"]


@pytest.mark.parametrize("sink", [False, True])
def test_what_comes_meanwhile_leaves_as_one_and_none_before_it_is_stored(
    sink: bool, schedules: int
) -> None:
    async def story() -> None:
        disk, told = SlowDisk(), list[str]()

        def listen(event: FeedEvent) -> None:
            told.append(event.text)
            assert said(disk.entries_of(r.session("s").id)).startswith("".join(told))

        async def hear(event: FeedEvent) -> None:
            listen(event)

        async with runtime(stream, store=disk, sink=hear if sink else None) as r:
            session = r.session("s")
            heard = heard_by(session)
            ticket = await session.send("go")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            log = await session.log()

        assert "".join(pieces(heard)) == "".join(WORDS) == said(log)
        assert 3 <= len(pieces(heard)) <= 8
        assert told == (pieces(heard) if sink else [])

    explore(story, schedules)


def test_of_what_had_not_left_at_a_stop_nothing_is_heard_stored_or_shown(schedules: int) -> None:
    async def story() -> None:
        async with runtime(stream, store=SlowDisk()) as r:
            session = r.session("s")
            heard = heard_by(session)
            await session.send("go")
            while len(pieces(heard)) < 2:
                await asyncio.sleep(0.05)
            stopping = asyncio.create_task(stop(session))
            await asyncio.sleep(0)
            seen = pieces(heard)
            receipt = await stopping
            await a_while()

            assert receipt.quiet
            assert pieces(heard) == seen
            [_, shown, _] = await session.history()
            assert shown.text == "".join(seen)
            await check_log(session)

    explore(story, schedules)


def test_whatever_else_a_run_does_waits_for_what_it_streamed_before(schedules: int) -> None:
    async def story() -> None:
        when: list[str] = []

        async def look() -> None:
            when.append("".join(pieces(heard)))

        async def engine(run: Run) -> None:
            await run.emit("I ", soon=True)
            await run.emit("look. ", soon=True)
            await run.call(look)
            await run.think("hm, ", soon=True)
            await run.think("what?", soon=True)
            await run.emit("A ", soon=True)
            await run.emit("cat.", soon=True)
            await run.progress("done")
            await asyncio.sleep(0.01)  # whoever watches comes to hear of it
            when.append("".join(pieces(heard)))

        async with runtime(engine, store=SlowDisk()) as r:
            session = r.session("s")
            heard = heard_by(session)
            ticket = await session.send("go")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            log = [e for e in await session.log() if isinstance(e, Text | Thinking)]

        assert when == ["I look. ", "I look. A cat."]
        kinds = [event.kind for event in heard if event.kind in ("text", "thinking", "progress")]
        assert kinds[-1] == "progress"
        assert kinds.index("thinking") < len(kinds) - 1 - kinds[::-1].index("text")
        assert "".join(e.text for e in log if isinstance(e, Thinking)) == "hm, what?"

    explore(story, schedules)


@pytest.mark.parametrize("fails_at", [1, 2, 5])
def test_what_could_not_be_stored_is_not_shown_and_its_run_is_told(
    fails_at: int, schedules: int
) -> None:
    async def story() -> None:
        async with runtime(stream, store=SlowDisk(fails_at)) as r:
            session = r.session("s")
            heard = heard_by(session)
            ticket = await session.send("go")
            assert await ticket.outcome() == Outcome.FAILED
            assert "the disk is full" in ticket.error
            assert "".join(WORDS).startswith("".join(pieces(heard)))
            shown = [item.text for item in await session.history() if item.role == "assistant"]
            assert "".join(shown) == "".join(pieces(heard))
            await check_log(session)

    explore(story, schedules)


def test_what_another_part_of_the_run_streams_after_it_is_not_waited_for(schedules: int) -> None:
    async def story() -> None:
        began: list[float] = []
        now = asyncio.get_running_loop().time

        async def look() -> None:
            began.append(now())

        async def engine(run: Run) -> None:
            talking = run.task(stream(run, ["word "] * 1_000))
            await asyncio.sleep(5)
            await run.call(look)
            talking.cancel()

        async with runtime(engine, store=SlowDisk()) as r:
            ticket = await r.session("s").send("go")
            began.append(now())
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

        sent, called = began
        assert called - sent < 15

    explore(story, schedules)


def test_words_without_end_wait_for_the_disk() -> None:
    async def story() -> None:
        most = 0

        async def engine(run: Run) -> None:
            nonlocal most
            for n in range(400):
                await run.emit("x" * 1_000, soon=True)
                most = max(most, n * 1_000 - len("".join(pieces(heard))))

        async with runtime(engine, store=SlowDisk()) as r:
            session = r.session("s")
            heard = heard_by(session)
            ticket = await session.send("go")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

        assert len("".join(pieces(heard))) == 400_000
        assert most < 100_000

    explore(story, 5)
