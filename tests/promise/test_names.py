"""R14. What a session is called says nothing of what it is."""

import asyncio
from pathlib import Path

import pytest

from lastword import Outcome, Run, Runtime
from lastword.errors import UnknownSession
from tests.promise.stories import answer, check_log, runtime

LIKE_A_CHILDS = "org/repo#12/3"


@pytest.mark.scenario("R14")
@pytest.mark.parametrize("store", ["memory:", "sqlite"])
async def test_a_session_that_is_called_like_a_childs_is_like_any_other(
    store: str, tmp_path: Path
) -> None:
    path = store if store == "memory:" else f"sqlite:{tmp_path / 'log.db'}"

    async with Runtime(answer, store=path) as r:
        session = r.session(LIKE_A_CHILDS)
        assert await (await session.send("hello")).outcome() == Outcome.COMPLETED
        assert session.above is None
        await check_log(session)
        again = r.session(LIKE_A_CHILDS)
        assert await (await again.send("and again")).outcome() == Outcome.COMPLETED
        await r.delete(LIKE_A_CHILDS)
        assert LIKE_A_CHILDS not in await r.sessions()


@pytest.mark.scenario("R14")
async def test_such_a_session_takes_messages_after_a_restart_too(tmp_path: Path) -> None:
    path = f"sqlite:{tmp_path / 'log.db'}"

    async def wait(_: Run) -> None:
        await asyncio.Event().wait()

    async with Runtime(wait, store=path) as r:
        session = r.session(LIKE_A_CHILDS)
        await (await session.send("go")).started()
        await session.send("later", id="later", on_message="queue")
    async with Runtime(answer, store=path) as r:
        session = r.session(LIKE_A_CHILDS)
        assert await (await session.send("hello")).outcome() == Outcome.COMPLETED


@pytest.mark.scenario("R14")
@pytest.mark.parametrize("store", ["memory:", "sqlite"])
async def test_a_child_takes_nobodys_name(store: str, tmp_path: Path) -> None:
    path = store if store == "memory:" else f"sqlite:{tmp_path / 'log.db'}"

    async def engine(run: Run) -> None:
        if run.session == "s":
            children = [run.child("child"), run.child("child")]
            below.extend([child.session for child in await asyncio.gather(*children)])

    below: list[str] = []
    async with Runtime(engine, store=path) as r:
        await (await r.session("s#1/1").send("a person's")).outcome()
    async with Runtime(engine, store=path) as r:
        if store == "memory:":
            await (await r.session("s#1/1").send("a person's")).outcome()
        assert await (await r.session("s").send("go")).outcome() == Outcome.COMPLETED
        assert len(set(below)) == 2
        assert "s#1/1" not in below
        [said] = [e for e in await r.session("s#1/1").history() if e.role == "user"]
        assert said.text == "a person's"


@pytest.mark.scenario("R14")
async def test_a_childs_session_can_be_read_and_no_more_whatever_it_is_called() -> None:
    async def engine(run: Run) -> None:
        if run.session == "s":
            below.append((child := await run.child("go")).session)
            await child.outcome()
        assert run.above == (None if run.session == "s" else "s")

    below: list[str] = []
    async with runtime(engine) as r:
        assert await (await r.session("s").send("go")).outcome() == Outcome.COMPLETED
        while any(one.id == below[0] for one in r.at_hand):
            await asyncio.sleep(0)
        child = r.session(below[0])
        assert await child.log()
        for refused in (child.send("hello"), child.resume(), r.delete(below[0])):
            with pytest.raises(UnknownSession):
                await refused
        assert child.above == "s"
