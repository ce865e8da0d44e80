"""P. What a run started ends with it."""

import asyncio
import os
from pathlib import Path
from typing import Any, Literal

import pytest

from lastword import FeedEvent, Outcome, Receipt, Run, Runtime, Session, Superseded
from lastword.errors import ProcessError
from lastword.processes import Process, Processes
from tests.meter import open_files
from tests.processes.household import held
from tests.promise.workshop import (
    DYING_LOUDLY,
    POLITE,
    STUBBORN,
    Workshop,
    fates,
    gone,
    is_up,
    until,
    working,
)


@pytest.mark.scenario("P1", part="processes")
@pytest.mark.parametrize("level", ["sealed", "tree"])
async def test_a_process_that_will_not_end_is_gone_by_the_deadline(
    level: Literal["sealed", "tree"],
) -> None:
    async with working(Workshop(STUBBORN), grace=0.1, level=level) as session:
        receipt = await session.stop()

        assert receipt.quiet  # the deadline is the grace and a second
        assert receipt.level == level
        assert fates(receipt)[STUBBORN] == "killed"
        assert all(gone(process.pid) for process in receipt.processes)


async def test_a_process_that_obeys_is_not_waited_for_any_longer_than_it_takes() -> None:
    async with working(Workshop(POLITE), grace=60) as session:
        receipt = await session.stop()

        assert receipt.quiet
        assert receipt.took < 30
        assert fates(receipt) == {POLITE: "ended"}


@pytest.mark.scenario("S11", part="processes")
async def test_the_receipt_lists_processes_by_what_became_of_them() -> None:
    workshop = Workshop(POLITE, STUBBORN)

    async def engine(run: Run) -> None:
        await run.spawn(shell="sleep 301", on_stop="keep")
        await workshop(run)

    async with Runtime(engine, grace=0.1) as r:
        session = r.session("s")
        await session.send("go")
        await workshop.up.wait()
        receipt = await session.stop()

        found = fates(receipt)
        assert found[POLITE] == "ended"
        assert found[STUBBORN] == "killed"
        assert found["sleep 301"] == "kept"
        assert {p.pid for p in workshop.processes} <= {p.pid for p in receipt.processes}
        assert Receipt.from_json(receipt.to_json()) == receipt
        said = str(receipt)
        assert f"killed: {workshop.processes[1].pid} trap" in said
        assert " ended; killed: " in said
        assert f"level {receipt.level}" in said


async def test_what_has_not_ended_at_the_deadline_is_named_and_its_end_is_told_later() -> None:
    workshop = Workshop(STUBBORN)
    async with Runtime(workshop, grace=0.1, deadline=0.2, level="tree") as r:
        session = r.session("s")
        await session.send("go")
        await workshop.up.wait()
        [process] = workshop.processes
        with held(parent_of(process.pid)):  # it will not answer in time
            receipt = await session.stop()

        assert not receipt.quiet
        assert any(str(process.pid) in one.name for one in receipt.unconfirmed)
        assert "unconfirmed" in {p.fate for p in receipt.processes}
        later = await receipt.settled()
        assert later.quiet
        assert gone(process.pid)


@pytest.mark.scenario("P3", part="processes")
async def test_a_background_command_whose_shell_has_left_is_gone() -> None:
    workshop = Workshop("sleep 302 & echo up")
    async with working(workshop) as session:
        await workshop.processes[0].wait()
        receipt = await session.stop()

        assert receipt.quiet
        assert [p.fate for p in receipt.processes] == ["ended"]
        assert gone(receipt.processes[0].pid)


@pytest.mark.scenario("P4", part="processes")
async def test_a_pipe_held_open_delays_nobody() -> None:
    completed: list[str] = []

    async def engine(run: Run) -> None:
        result = await run.shell("echo mine; sleep 303 &")
        completed.append(result.output)
        await asyncio.sleep(3600)

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await until(lambda: completed)
        receipt = await session.stop()

    assert completed == ["mine\n"]
    assert receipt.quiet


async def test_a_run_that_ends_by_itself_takes_its_processes_along() -> None:
    pids: list[int] = []

    async def engine(run: Run) -> None:
        process = await run.spawn(shell=POLITE)
        await is_up(process)
        pids.append(process.pid)

    async with Runtime(engine) as r:
        session = r.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == Outcome.COMPLETED
        await (await session.stop()).settled()
        assert gone(pids[0])


@pytest.mark.scenario("P7", part="processes")
async def test_a_spawn_that_races_a_stop_leaves_nobody() -> None:
    started: list[Process] = []
    returned = asyncio.Event()

    async def engine(run: Run) -> None:
        for _ in range(3):
            started.append(await run.spawn("sleep", "304"))
            returned.set()
        await asyncio.sleep(3600)

    async def ordered(session: Session) -> None:
        async for event in session.events(after=0):
            if event.kind == "process":
                return

    async with Runtime(engine) as r:
        for turn in range(150):
            session = r.session(f"s{turn}")
            returned.clear()
            await session.send("go")
            match turn % 3:
                case 0:
                    await asyncio.sleep(turn / 20_000)  # any moment will do
                case 1:
                    await ordered(session)
                case _:
                    await returned.wait()
            receipt = await session.stop()
            assert receipt.quiet
            assert all(gone(process.pid) for process in (*started, *receipt.processes))
    assert len(started) >= 50


async def test_nothing_is_started_once_the_run_has_lost_its_session() -> None:
    refused: list[str] = []
    began, over = asyncio.Event(), asyncio.Event()

    async def engine(run: Run) -> None:
        try:
            began.set()
            await asyncio.sleep(3600)
        finally:
            for start in (run.spawn("true"), run.spawn("true", on_stop="keep"), run.shell("true")):
                try:
                    await start
                except Superseded as error:
                    refused.append(str(error))
            over.set()

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await began.wait()
        receipt = await session.stop()
        await over.wait()

    assert len(refused) == 3
    assert "start of true was not made" in refused[0]
    assert receipt.processes == ()
    assert not receipt.level  # not even a zygote


@pytest.mark.scenario("T2", part="processes")
async def test_a_new_run_begins_at_once_and_its_first_tool_waits_for_the_old_processes() -> None:
    order: list[str] = []
    old: list[Process] = []

    async def look(what: str) -> None:
        order.append(f"{what}: {'alone' if gone(old[0].pid) else 'not alone'}")

    async def engine(run: Run) -> None:
        if run.message.text == "old":
            process = await run.spawn(shell=DYING_LOUDLY)
            old.append(process)
            async for chunk in process.stdout:
                await run.emit(chunk.decode())
        else:
            await look("model")
            await run.call(look, "tool")
            again = await run.spawn(shell="echo new")
            await run.emit((await again.communicate()).output)

    said: list[tuple[str | None, str]] = []

    async def sink(event: FeedEvent) -> None:
        if event.kind == "text":
            said.append((event.run, event.text))

    async with Runtime(engine, sink=sink, grace=0.3) as r:
        session = r.session("s")
        await session.send("old")
        await until(lambda: said)
        second = await session.send("new")
        assert await second.outcome() == Outcome.COMPLETED

    assert order == ["model: not alone", "tool: alone"]
    assert [text for run, text in said if run == second.run] == ["new\n"]
    assert not [text for _, text in said if "dying" in text]


@pytest.mark.scenario("C2", part="processes")
async def test_what_a_child_was_in_the_middle_of_starting_dies_with_its_parent() -> None:
    pids: list[int] = []
    up = asyncio.Event()

    async def busy(run: Run) -> None:
        process = await run.spawn(shell=STUBBORN)
        await is_up(process)
        pids.append(process.pid)
        up.set()
        await process.wait()

    async def engine(run: Run) -> None:
        if "/" in run.session:
            await run.call(busy, run)
        else:
            await run.child("work")
            await asyncio.sleep(3600)

    async with Runtime(engine, grace=0.1) as r:
        session = r.session("s")
        await session.send("go")
        await up.wait()
        receipt = await session.stop()

        assert receipt.quiet
        assert gone(pids[0])
        assert fates(receipt)[STUBBORN] == "killed"


async def test_a_command_that_takes_too_long_is_ended_and_what_it_wrote_is_given() -> None:
    results: list[str] = []

    async def engine(run: Run) -> None:
        result = await run.shell("echo so far; sleep 305", timeout=1.0)
        results.append(str(result))
        assert result.timed_out
        results.append(str(await run.shell("echo more >&2; exit 3")))

    async with Runtime(engine) as r:
        assert await (await r.session("s").send("go")).outcome() == Outcome.COMPLETED
    assert results == ["so far\n[ended: it took too long]", "more\n[exit code 3]"]


async def test_a_lower_level_says_what_it_cannot_see() -> None:
    workshop = Workshop("setsid sh -c 'echo up; exec sleep 1' & wait")
    async with working(workshop, level="group") as session:
        receipt = await session.stop()

        assert receipt.level == "group"
        assert "what left its process group cannot be seen" in str(receipt)


@pytest.mark.parametrize(
    ("how", "wrong"),
    [
        ({"grace": -1}, "grace must be"),
        ({"grace": 3}, "grace must be shorter than the deadline of a stop"),
        ({"on_stop": "later"}, "on_stop must be one of 'end', 'leave', 'keep'"),
        ({"cwd": "/nowhere"}, "the working directory '/nowhere'"),
        ({"env": {"A": "\0"}}, "the environment variable A holds a NUL"),
    ],
)
async def test_bad_input_is_named(how: dict[str, Any], wrong: str) -> None:
    async def engine(run: Run) -> None:
        await run.spawn("true", **how)

    async with Runtime(engine) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.FAILED
        assert wrong in ticket.error


@pytest.mark.parametrize(
    ("times", "wrong"),
    [
        ({"grace": 2, "deadline": 1}, "grace \\(2 s\\) must be shorter than deadline \\(1 s\\)"),
        ({"grace": -1}, "grace must be 0 seconds or more; it is -1"),
        (
            {"level": "prison"},
            "level must be 'auto', 'sealed', 'cgroup', 'tree', 'group'; it is 'prison'",
        ),
    ],
)
def test_bad_settings_are_named(times: dict[str, Any], wrong: str) -> None:
    async def engine(run: Run) -> None: ...

    with pytest.raises(ValueError, match=wrong):
        Runtime(engine, **times)


@pytest.mark.scenario("I5", part="processes")
async def test_a_hundred_stops_of_a_run_with_processes_leave_nothing() -> None:
    workshop = Workshop(POLITE)
    async with working(workshop) as session:
        await session.stop()

        async def cycle() -> None:
            workshop.up.clear()
            await session.send("again")
            await workshop.up.wait()
            assert (await session.stop()).quiet

        for _ in range(10):
            await cycle()
        await nobody_below_the_zygote()
        before = leftovers()
        for _ in range(100):
            await cycle()
        await nobody_below_the_zygote()
        assert leftovers() == before


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


async def nobody_below_the_zygote() -> None:
    """A warden has said that it is over before it has left, and been reaped."""
    async with asyncio.timeout(30):  # or a test that fails would never end
        await until(lambda: not any(map(children_of, children_of(os.getpid()))))


def leftovers() -> tuple[int, int]:
    """How many descriptors, and how many processes below this one."""
    mine = children_of(os.getpid())
    below = [pid for child in mine for pid in children_of(child)]
    return len(open_files()), len(mine) + len(below)


async def test_processes_of_the_callers_own_have_their_allowance_and_end_with_the_runtime() -> None:
    own = Processes("tree", most=50)
    with pytest.raises(ValueError, match="level is said to the Processes"):
        Runtime(Workshop(POLITE), processes=own, level="tree")
    with pytest.raises(TypeError, match="must be a Processes, not a str"):
        Runtime(Workshop(POLITE), processes="tree")  # pyright: ignore[reportArgumentType]

    workshop = Workshop(POLITE)
    async with Runtime(workshop, processes=own) as r:
        await r.session("s").send("go")
        await workshop.up.wait()
        assert own.level == "tree"

    with pytest.raises(ProcessError, match="closed"):
        await own.start()
