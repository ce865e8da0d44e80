"""L. Several processes over one store: whose a session is, who may look, and what is said of it."""

import asyncio
import os
import platform
from pathlib import Path

import pytest

from lastword import Outcome, Run, Session
from lastword.errors import OwnedElsewhere, Refused
from lastword.stores.opening import open_store
from tests.promise.stories import answer, runtime
from tests.promise.workshop import until


async def waits(run: Run) -> None:
    await run.emit("working on it")
    await asyncio.Event().wait()


async def looked_at(session: Session) -> None:
    """Everything there is to read of it."""
    await session.history()
    await session.log()
    await session.view()
    await session.overview()
    await session.cells()
    await session.queued()
    session.events()


@pytest.mark.scenario("L5", part="sqlite")
@pytest.mark.scenario("L5", part="postgres")
async def test_to_look_takes_nothing_from_who_is_sent_the_first_message(address: str) -> None:
    async with (
        runtime(answer, store=address) as mine,
        runtime(answer, store=address) as theirs,
    ):
        await looked_at(theirs.session("s"))
        assert await theirs.recent() == ()
        assert await (await mine.session("s").send("first")).outcome() == Outcome.COMPLETED
        await looked_at(theirs.session("s"))
        assert [one.session for one in await theirs.recent()] == ["s"]
        assert await (await mine.session("s").send("second")).outcome() == Outcome.COMPLETED

        there = await theirs.session("s").view()
        assert there.generation == (await mine.session("s").view()).generation
        assert there.entries == await mine.session("s").log()


@pytest.mark.scenario("L5", part="sqlite")
@pytest.mark.scenario("L5", part="postgres")
async def test_what_waits_elsewhere_can_be_seen_from_here(address: str) -> None:
    async with (
        runtime(waits, store=address, on_message="queue") as mine,
        runtime(waits, store=address) as theirs,
    ):
        for text in ("going", "waiting", "last"):
            await mine.session("s").send(text)
        seen = await theirs.session("s").queued()
        assert [one.message.text for one in seen.messages] == ["waiting", "last"]
        assert seen == await mine.session("s").queued()


@pytest.mark.scenario("L6", part="sqlite")
@pytest.mark.scenario("L6", part="postgres")
async def test_who_sends_to_another_processes_session_is_told_whose_it_is(address: str) -> None:
    async with (
        runtime(waits, store=address) as mine,
        runtime(answer, store=address) as theirs,
    ):
        await mine.session("s").send("go")
        with pytest.raises(OwnedElsewhere, match=r"session s belongs to .* since") as told:
            await theirs.session("s").send("mine, too", on_message="queue")
        assert isinstance(told.value, Refused)
        assert (told.value.process, told.value.host) == (os.getpid(), platform.node())
        assert told.value.since > 0
        for act in (theirs.session("s").resume(), theirs.session("s").remove("m1")):
            with pytest.raises(OwnedElsewhere):
                await act
        assert mine.session("s").busy


@pytest.mark.scenario("L6", part="sqlite")
@pytest.mark.scenario("L6", part="postgres")
async def test_a_list_says_what_runs_in_another_process(address: str) -> None:
    async with (
        runtime(waits, store=address) as mine,
        runtime(answer, store=address) as theirs,
    ):
        ticket = await mine.session("s").send("go")
        await ticket.started()
        await mine.session("s").log()  # until that is durable
        [seen] = await theirs.recent()
        assert seen.state == "running"
        assert seen.owner
        assert seen.owner.process == os.getpid()
        await mine.session("s").stop()
        await mine.session("s").log()
        [seen] = await theirs.recent()
        assert seen.state == "idle"


@pytest.mark.scenario("L6", part="sqlite")
async def test_a_stop_of_another_processes_session_on_a_file_says_whose_it_is(
    tmp_path: Path,
) -> None:
    async with (
        runtime(waits, store=f"sqlite:{tmp_path}/it.db") as mine,
        runtime(answer, store=f"sqlite:{tmp_path}/it.db") as theirs,
    ):
        ticket = await mine.session("s").send("go")
        await ticket.started()
        receipt = await theirs.session("s").stop()
        assert not receipt.quiet
        assert not receipt.durable
        assert "could not be stopped from here" in str(receipt)
        assert f"({os.getpid()})" in str(receipt)
        assert mine.session("s").busy


@pytest.mark.scenario("L5", part="sqlite")
@pytest.mark.scenario("L5", part="postgres")
async def test_what_was_let_go_is_whose_it_is_asked_for_next(address: str) -> None:
    first, second = open_store(address), open_store(address)
    async with runtime(answer, store=first) as mine, runtime(answer, store=second) as theirs:
        ticket = await mine.session("s").send("one")
        assert await ticket.outcome() == Outcome.COMPLETED
        await first.release(mine.session("s").id)
        ticket = await theirs.session("s").send("two")
        assert await ticket.outcome() == Outcome.COMPLETED
        with pytest.raises(OwnedElsewhere):
            await mine.session("s").send("by who let it go", on_message="queue")
        await until(lambda: not mine.session("s").known)
