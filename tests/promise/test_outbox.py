"""What leaves the machine is written down first; a stop leaves the rest unsent."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from lastword import FeedEvent, Outcome, Run, Status
from lastword.core.entries import Called, Native, Result
from lastword.testing.seeded import explore
from tests.promise.stories import Latch, a_while, answer, check_log, runtime
from tests.promise.test_restart import Disk


@pytest.mark.scenario("S10", part="outbox")
def test_what_a_stop_finds_unsent_is_never_sent_not_even_by_the_next_process(
    schedules: int,
) -> None:
    async def story() -> None:
        sent: list[str] = []
        first = Latch()

        async def mail(text: str) -> None:
            await first.wait_stubbornly()
            sent.append(text)

        async def engine(run: Run) -> None:
            post = run.outbox(mail)
            for text in ("one", "two", "three"):
                run.task(post(text))
            await a_while()

        disk = Disk()
        async with runtime(engine, store=disk) as r:
            session = r.session("s")
            await session.send("go")
            await first.came.wait()
            stopping = session.stop()
            await session.log()
            at_the_stop = disk.found()  # what the transaction of the stop left
            first.open.set()
            receipt = await stopping
            await a_while()
            assert len(sent) == 1
            statuses = [call.status for call in receipt.calls]
            assert statuses.count(Status.MAY_HAVE_EXECUTED) == 1
            assert set(statuses) <= {Status.MAY_HAVE_EXECUTED, Status.NOT_STARTED}
            await check_log(session)

        async with runtime(answer, store=at_the_stop, on_restart="run") as r:
            session = r.session("s")
            await a_while()
            results = [e.status for e in await session.log() if isinstance(e, Result)]
            assert sorted(results) == sorted(statuses)
        assert len(sent) == 1

    explore(story, schedules)


async def test_posts_leave_in_order_each_written_down_first_and_none_is_shown_to_the_model() -> (
    None
):
    sent: list[str] = []

    async def mail(text: str) -> str:
        names = [entry.name for entry in await session.log() if isinstance(entry, Called)]
        assert names.count("mail") > len(sent)
        sent.append(text)
        return "ok"

    async def engine(run: Run) -> None:
        post = run.outbox(mail)
        assert await asyncio.gather(post("one"), post("two")) == ["ok", "ok"]

    async with runtime(engine) as r:
        session = r.session("s")
        assert await (await session.send("go")).outcome() == Outcome.COMPLETED
        assert sent == ["one", "two"]
        assert [item.role for item in await session.history()] == ["user"]


async def test_what_the_model_thought_is_kept_for_it_and_for_who_watches() -> None:
    signed = Native("provider", "signature")

    async def engine(run: Run) -> None:
        await run.think("Let me see.", native=signed)
        await run.emit("Yes.")

    async with runtime(engine) as r:
        session = r.session("s")
        await (await session.send("go")).outcome()
        roles = [(item.role, item.text, item.native) for item in await session.history()]
        assert roles == [
            ("user", "go", None),
            ("thinking", "Let me see.", signed),
            ("assistant", "Yes.", None),
        ]
        kinds = [event.kind async for event in _upto(session.events(after=0), "finished")]
        assert "thinking" in kinds


async def _upto(events: AsyncIterator[FeedEvent], kind: str) -> AsyncIterator[FeedEvent]:
    async for event in events:
        yield event
        if event.kind == kind:
            return


async def test_a_call_that_can_be_repeated_says_so_to_the_model_if_it_is_in_doubt() -> None:
    latch = Latch()

    async def engine(run: Run) -> None:
        await run.gate(latch.wait, name="look", nature="read_only")()

    disk = Disk()
    async with runtime(engine, store=disk) as r:
        await r.session("s").send("go")
        await latch.came.wait()
        found = disk.found()
        latch.open.set()

    async with runtime(answer, store=found) as r:
        [_, _, result, _] = await r.session("s").history()
        assert result.status is Status.MAY_HAVE_EXECUTED
        assert "can safely be called again" in result.text


async def test_a_tool_that_raised_is_told_apart() -> None:
    async def broken() -> None:
        raise ValueError("no")

    async def engine(run: Run) -> None:
        await run.call(broken)

    async with runtime(engine) as r:
        session = r.session("s")
        await (await session.send("go")).outcome()
        [result] = [entry for entry in await session.log() if isinstance(entry, Result)]
        assert (result.status, result.error) == (Status.COMPLETED, True)
