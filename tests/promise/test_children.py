"""C. Children end with their parent, in the same instant, or were kept on purpose."""

import asyncio

import pytest

from lastword import Child, Outcome, Run, Superseded
from lastword.core.entries import Finished
from lastword.errors import TooDeep
from lastword.testing.seeded import explore
from tests.promise.stories import Latch, OneAtATime, a_while, check_log, heard_by, runtime, stop
from tests.promise.workshop import until


@pytest.mark.scenario("C1")
def test_a_stop_fences_three_levels_of_children_in_one_instant(schedules: int) -> None:
    async def story() -> None:
        runs: list[Run] = []
        effects: list[tuple[int, bool]] = []

        async def note(depth: int, run: Run) -> None:
            effects.append((depth, run.current))

        async def engine(run: Run) -> None:
            runs.append(run)
            depth = run.session.count("/")
            if depth < 3:
                await run.child("deeper")
            for _ in range(1000):
                await run.call(note, depth, run)
                await run.emit(f"{depth}")
                await asyncio.sleep(0.01)

        async with runtime(engine) as r:
            session = r.session("s")
            events = heard_by(session)
            await session.send("go")
            while len(runs) < 4:
                await asyncio.sleep(0.001)
            stopping = session.stop()
            assert not any(run.current for run in runs)
            made = len(effects)
            receipt = await stopping
            await a_while()

            assert len(effects) == made
            assert all(current for _, current in effects)
            assert receipt.quiet
            assert [(c.session, c.fate) for c in receipt.children] == [("s#1/1", "ended")]
            assert [e.kind for e in events].count("said") == 1  # no child woke the parent
            assert not session.busy
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("C1")
def test_a_stop_that_the_loop_has_not_heard_of_yet_has_fenced_the_children(schedules: int) -> None:
    async def story() -> None:
        runs: list[Run] = []

        async def engine(run: Run) -> None:
            runs.append(run)
            if run.session.count("/") < 2:
                await run.child("deeper")
            await asyncio.sleep(1000)

        async with runtime(engine) as r:
            session = r.session("s")
            await session.send("go")
            while len(runs) < 3:
                await asyncio.sleep(0.001)
            future = session.stop_soon()  # as from another thread: the loop does the rest later
            for run in runs:
                assert not run.current
                speaking = run.emit("still here")
                speaking.send(None)  # its first step; the loop has not turned
                speaking.close()
                taking = run.steering()
                taking.send(None)  # it is refused, and gives way to others before it says so
                with pytest.raises(Superseded):
                    taking.send(None)
            await a_while()

            assert future.result(0).quiet
            assert future.result(0).dropped == 3

    explore(story, schedules)


@pytest.mark.parametrize("steps", range(6))
def test_a_child_that_ends_after_its_parent_was_stopped_ended_with_it(
    steps: int, schedules: int
) -> None:
    async def story() -> None:
        children: list[Child] = []
        work = Latch()

        async def short(run: Run) -> None:
            await work.wait()

        async def engine(run: Run) -> None:
            children.append(await run.child("help", engine=short))
            await asyncio.sleep(1000)

        async with runtime(engine) as r:
            session = r.session("s")
            await session.send("go")
            await work.came.wait()
            child = r.session("s#1/1")
            work.open.set()
            for _ in range(steps):  # it may be at any point of its ending
                await asyncio.sleep(0)
            active = child.active is not None
            session.stop_soon()  # and the loop has not heard of this yet
            await a_while()

            for one in children:
                assert await one.outcome() == (Outcome.PARENT if active else Outcome.COMPLETED)

    explore(story, schedules)


@pytest.mark.scenario("C2", part="library")
def test_a_child_started_by_a_tool_that_was_mid_call_dies_too(schedules: int) -> None:
    async def story() -> None:
        begun, refused = list[str](), list[str]()
        tool_is_in = asyncio.Event()

        async def work(run: Run) -> None:
            begun.append(run.id)
            await asyncio.sleep(1000)

        async def engine(run: Run) -> None:
            async def tool() -> None:
                try:
                    await run.child("one", engine=work)
                    tool_is_in.set()
                    await asyncio.sleep(1000)
                finally:
                    try:
                        await run.child("two", engine=work)
                    except Superseded:
                        refused.append("two")

            await run.call(tool)

        async with runtime(engine) as r:
            session = r.session("s")
            await session.send("go")
            await tool_is_in.wait()
            stopping = session.stop()
            made = list(begun)
            receipt = await stopping
            await a_while()

            assert begun == made
            assert refused == ["two"]
            assert [(child.session, child.fate) for child in receipt.children] == [
                ("s#1/1", "ended")
            ]
            assert receipt.quiet
            log = await r.session("s#1/1").log()
            assert [e.outcome for e in log if isinstance(e, Finished)] == [Outcome.PARENT]
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("C3")
def test_a_wedged_child_does_not_delay_its_siblings_and_is_named(schedules: int) -> None:
    async def story() -> None:
        wedged, ended = Latch(), list[tuple[str, float]]()
        now = asyncio.get_running_loop().time

        async def work(run: Run) -> None:
            if run.message.text == "wedge":
                await wedged.wait_stubbornly()
            try:
                await asyncio.sleep(1000)
            finally:
                ended.append((run.message.text, now()))

        async def engine(run: Run) -> None:
            for text in ("one", "wedge", "two"):
                await run.child(text, engine=work)
            await asyncio.sleep(1000)

        async with runtime(engine, deadline=2.0) as r:
            session = r.session("s")
            await session.send("go")
            await wedged.came.wait()
            await asyncio.sleep(0.1)
            before = now()
            receipt = await asyncio.create_task(stop(session))

            assert {text: at for text, at in ended if text != "wedge"} == {
                "one": before,
                "two": before,
            }
            fates = {child.session: child.fate for child in receipt.children}
            assert fates == {"s#1/1": "ended", "s#1/2": "unconfirmed", "s#1/3": "ended"}
            assert "child s#1/2" in [str(one) for one in receipt.unconfirmed]
            wedged.open.set()
            assert (await receipt.settled()).quiet

    explore(story, schedules)


@pytest.mark.scenario("C4")
def test_a_kept_child_goes_on_and_its_result_waits_for_the_person(schedules: int) -> None:
    async def story() -> None:
        finish = Latch()

        async def work(run: Run) -> None:
            await finish.wait()
            await run.emit("found it")

        async def talk_or_read(run: Run) -> None:
            if run.message.text == "go":
                await run.child("search", engine=work, keep=True)
                await asyncio.sleep(1000)

        engine = OneAtATime(talk_or_read)
        async with runtime(engine) as r:
            session = r.session("s")
            await session.send("go")
            await finish.came.wait()
            receipt = await asyncio.create_task(stop(session))
            child = r.session("s#1/1")

            assert [(c.session, c.fate) for c in receipt.children] == [("s#1/1", "kept")]
            assert receipt.quiet
            assert child.busy
            finish.open.set()
            await a_while()
            assert engine.order == ["go"]
            assert [(m.text, m.origin, m.by) for m in session.queue] == [
                ("found it", "child", "s#1/1")
            ]
            ticket = await session.send("and?")
            assert await ticket.outcome() == Outcome.COMPLETED
            await a_while()
            assert engine.order == ["go", "and?", "found it"]
            await check_log(session)

    explore(story, schedules)


def test_a_run_that_ends_takes_its_children_with_it_and_hears_those_it_waited_for(
    schedules: int,
) -> None:
    async def story() -> None:
        texts: list[str] = []
        left: list[Child] = []

        async def work(run: Run) -> None:
            await run.emit(f"re: {run.message.text}")
            if run.message.text == "long":
                await asyncio.sleep(1000)

        async def engine(run: Run) -> None:
            child = await run.child("short", engine=work)
            texts.append(await child.text())
            left.append(await run.child("long", engine=work))

        async with runtime(engine) as r:
            session = r.session("s")
            ticket = await session.send("go")

            assert await ticket.outcome() == Outcome.COMPLETED
            assert texts == ["re: short"]
            assert await left[0].outcome() == Outcome.PARENT
            await a_while()
            assert not session.busy

    explore(story, schedules)


def test_a_child_can_be_stopped_by_itself(schedules: int) -> None:
    async def story() -> None:
        fates: list[Outcome] = []
        up = Latch()

        async def work(run: Run) -> None:
            await up.wait()

        async def engine(run: Run) -> None:
            child = await run.child("search", engine=work)
            fates.append(await child.outcome())
            await run.emit("without it, then")

        async with runtime(engine) as r:
            ticket = await r.session("s").send("go")
            await up.came.wait()
            receipt = await r.session("s#1/1").stop()

            assert receipt.runs == ("s#1/1#1",)
            assert await ticket.outcome() == Outcome.COMPLETED
            assert fates == [Outcome.STOPPED]

    explore(story, schedules)


async def test_a_stop_reaches_the_deepest_child_there_can_be() -> None:
    refused: list[TooDeep] = []

    async def engine(run: Run) -> None:
        try:
            await run.child("deeper")
        except TooDeep as error:
            refused.append(error)
        try:
            await asyncio.sleep(3600)
        finally:
            await run.emit("still here")

    async with runtime(engine) as r:
        session = r.session("s")
        heard = heard_by(session)
        await session.send("go")
        await until(lambda: refused)
        receipt = await session.stop()

    assert receipt.quiet
    assert len(receipt.children) == 1  # those below it are in its own receipt
    assert "can have no child" in str(refused[0])
    assert not [event for event in heard if event.kind == "text"]
