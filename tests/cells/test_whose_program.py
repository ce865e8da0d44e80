"""W63. A program is theirs whose run it last worked for, and is frozen by who may stop that run."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lastword import Runtime, Session, cells
from lastword.errors import NotAllowed, UnknownCell
from tests.cells.stage import Leaver, answers, opened
from tests.cells.tape import Tape
from tests.promise.workshop import until

pytestmark = pytest.mark.scenario("W63")


@asynccontextmanager
async def of_two(store: str = "memory:", **how: Any) -> AsyncGenerator[Runtime]:
    """A runtime in which ann may stop whatever others asked for, and others only their own."""
    async with opened(Leaver(), Tape(), store, stoppers=["ann"], **how) as runtime:
        yield runtime


async def left_by(session: Session, by: str) -> str:
    """The program that a run of theirs has left standing."""
    before = {one.id for one in session.programs}
    assert await (await session.send("1", by=by, on_message="queue")).outcome() == "completed"
    [new] = [one.id for one in session.programs if one.id not in before]
    return new


async def goes_on(session: Session, cell: str, by: str = "") -> bool:
    """Whether it takes the answer that it waits for."""
    ticket = await cells.resume(session, cell, 1, answers(cell, _1="A"), by=by)
    return await ticket.outcome() == "completed"


def standing(session: Session) -> list[str]:
    return [one.id for one in session.programs]


async def test_a_stranger_s_stop_of_an_idle_session_is_refused_and_her_program_stands() -> None:
    async with of_two() as runtime:
        session = runtime.session("s")
        hers = await left_by(session, "ann")

        with pytest.raises(NotAllowed, match=f"'bob' has no right to stop {hers}"):
            session.stop(by="bob")
        with pytest.raises(NotAllowed):
            session.stop_soon(by="bob")

        assert standing(session) == [hers]
        assert len(session.asks) == 1
        assert await goes_on(session, hers, "ann")
        assert not await session.stop(by="bob")  # nothing is there: a stop of nothing is no error


async def test_a_stop_freezes_what_is_theirs_and_its_receipt_names_that_alone() -> None:
    async with of_two() as runtime:
        session = runtime.session("s")
        hers, his = await left_by(session, "ann"), await left_by(session, "bob")

        receipt = await session.stop(by="bob")

        assert [cell.cell for cell in receipt.cells] == [his]
        assert hers not in str(receipt)
        assert standing(session) == [hers]
        assert await goes_on(session, hers, "ann")


async def test_a_stop_of_one_s_own_run_leaves_another_s_program() -> None:
    async with of_two() as runtime:
        session = runtime.session("s")
        hers = await left_by(session, "ann")
        run = await session.send("stay1", by="bob")
        await run.started()

        receipt = await session.stop(by="bob")

        assert receipt.runs == (run.run,)
        assert hers not in [cell.cell for cell in receipt.cells]
        assert standing(session) == [hers]


async def test_a_stop_of_a_queued_message_leaves_the_program_of_the_run_that_is_going() -> None:
    leaver = Leaver()
    async with opened(leaver, Tape(), stoppers=["ann"]) as runtime:
        session = runtime.session("s")
        hers = await session.send("stay1", by="ann")
        await until(lambda: leaver.started)
        waits = await session.send("1", by="bob", on_message="queue")

        receipt = await session.stop(by="bob")

        assert await waits.outcome() == "stopped"
        assert receipt.cells == ()
        assert session.active == hers.run
        assert standing(session) == [leaver.started[0].id]


async def test_one_s_own_program_can_be_stopped_beside_another_s_run() -> None:
    async with of_two() as runtime:
        session = runtime.session("s")
        his = await left_by(session, "bob")
        run = await session.send("stay2", by="ann", on_message="queue")
        await run.started()
        generation = session.generation

        receipt = await session.stop(by="bob")

        assert [cell.cell for cell in receipt.cells] == [his]
        assert receipt.runs == ()
        assert (session.active, session.generation) == (run.run, generation)


@pytest.mark.parametrize("by", ["ann", None])
async def test_who_may_stop_what_others_asked_for_freezes_everything(by: str | None) -> None:
    async with of_two() as runtime:
        session = runtime.session("s")
        both = [await left_by(session, "ann"), await left_by(session, "bob")]

        receipt = await session.stop(by=by)

        assert [cell.cell for cell in receipt.cells] == both
        assert standing(session) == []


async def test_a_stop_by_run_id_freezes_what_that_run_began_and_no_more() -> None:
    leaver = Leaver()
    async with opened(leaver, Tape(), stoppers=["ann"]) as runtime:
        session = runtime.session("s")
        earlier = await left_by(session, "ann")
        run = await session.send("stay1", by="ann")
        await until(lambda: len(leaver.started) == 2)

        receipt = await session.stop(run=run.run, by="ann")

        assert [cell.cell for cell in receipt.cells] == [leaver.started[1].id]
        assert standing(session) == [earlier]


@pytest.mark.parametrize("by", ["bob", "ann"])
async def test_a_takeover_freezes_what_whoever_takes_over_may_stop(by: str) -> None:
    async with of_two() as runtime:
        session = runtime.session("s")
        hers, his = await left_by(session, "ann"), await left_by(session, "bob")
        going = await session.send("stay2", by="bob", on_message="queue")
        await going.started()

        over = await session.send("say", by=by)
        receipt = await over.receipt()

        assert receipt
        named = {cell.cell for cell in receipt.cells}
        assert his in named
        assert (hers in named) == (by == "ann")
        assert (hers in standing(session)) == (by == "bob")


async def test_a_takeover_that_has_to_wait_freezes_nothing() -> None:
    async with of_two() as runtime:
        session = runtime.session("s")
        both = [await left_by(session, "ann"), await left_by(session, "bob")]
        going = await session.send("stay2", by="ann", on_message="queue")
        await going.started()

        late = await session.send("say", by="bob")

        assert late.placed == "queued"
        assert standing(session)[:2] == both


async def test_whoever_answers_a_program_has_it_work_for_them() -> None:
    async with of_two() as runtime:
        session = runtime.session("s")
        assert await (await session.send("2", by="ann")).outcome() == "completed"
        [cell] = standing(session)
        assert await goes_on(session, cell, "bob")
        assert standing(session) == [cell]

        with pytest.raises(NotAllowed):
            session.stop(by="cai")
        receipt = await session.stop(by="bob")

        assert [one.cell for one in receipt.cells] == [cell]


async def test_whose_a_program_is_outlives_the_process(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'it.db'}"
    async with of_two(store) as runtime:
        session = runtime.session("s")
        hers, his = await left_by(session, "ann"), await left_by(session, "bob")
    async with of_two(store) as runtime:
        session = runtime.session("s")
        receipt = await session.stop(by="bob")

        assert [cell.cell for cell in receipt.cells] == [his]
        assert standing(session) == [hers]


async def test_a_program_of_an_older_log_is_frozen_by_who_may_stop_all(tmp_path: Path) -> None:
    path = tmp_path / "it.db"
    async with of_two(f"sqlite:{path}") as runtime:
        hers = await left_by(runtime.session("s"), "")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE cells SET body = json_remove(body, '$.by')")
    db.close()
    async with of_two(f"sqlite:{path}") as runtime:
        session = runtime.session("s")
        for stranger in ("bob", ""):
            with pytest.raises(NotAllowed):
                await session.stop(by=stranger)
        assert standing(session) == [hers]

        receipt = await session.stop(by="ann")

        assert [cell.cell for cell in receipt.cells] == [hers]


async def test_the_end_of_the_runtime_freezes_nothing_and_a_deletion_leaves_nothing(
    tmp_path: Path,
) -> None:
    store = f"sqlite:{tmp_path / 'it.db'}"
    async with of_two(store) as runtime:
        hers = await left_by(runtime.session("s"), "ann")
    async with of_two(store) as runtime:
        assert [cell.id for cell in await runtime.cells()] == [hers]
        await runtime.delete("s")
        assert await runtime.cells() == ()
        with pytest.raises(UnknownCell):
            await cells.resume(runtime.session("s"), hers, 1, answers(hers, _1="A"))
