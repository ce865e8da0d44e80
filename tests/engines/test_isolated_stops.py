"""A stop of an isolated run is total: when it says quiet, nothing of the run is executed any more.

Each engine does what no stop could end in one process. What it and all that it started hold is a
canary: the kernel says when none of them is left. Another session is answered meanwhile.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import pytest_asyncio

from lastword import Outcome, Receipt, Runtime, Session
from lastword.engines.isolated import Isolated
from lastword.processes import Level
from lastword.processes.inside.family import Procfs
from lastword.testing import Recorder
from tests.processes.artists import Canary
from tests.processes.strict import STRICT
from tests.promise.workshop import gone, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

STUCK = "tests.engines.apart_stuck"
WAYS = {  # and how many say that they are there
    "spins": 1,
    "sleeps": 1,
    "matches": 1,
    "swallows": 1,
    "daemons": 3,
    "forks": 2,
    "in_a_tool": 1,
}


def memory_free() -> int:
    """Bytes that the kernel could give somebody."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    [free] = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(free) << 10


class Place:
    """A runtime whose runs have processes of their own."""

    def __init__(self, runtime: Runtime, heard: Recorder) -> None:
        self.runtime = runtime
        self.heard = heard
        self._names = 0

    def session(self) -> Session:
        self._names += 1
        return self.runtime.session(f"s{self._names}")

    def said(self, session: Session) -> str:
        mine = [one for one in self.heard if one.session == session.id]
        return "".join(one.text for one in mine if one.kind == "text")

    async def others_are_answered(self) -> None:
        other = self.session()
        ticket = await other.send("answers -")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert self.said(other) == "here"


@asynccontextmanager
async def opened(
    level: Level | None = None, name: str = "engine", deadline: float | None = None
) -> AsyncGenerator[Place]:
    heard = Recorder()
    engine = Isolated(f"{STUCK}:{name}")
    async with Runtime(
        engine, sink=heard, grace=0.3, deadline=deadline, level=level or "auto"
    ) as runtime:
        yield Place(runtime, heard)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place() -> AsyncGenerator[Place]:
    async with opened() as one:
        yield one


@pytest.fixture
def canary(tmp_path: Path) -> Generator[Canary]:
    with Canary(tmp_path) as one:
        yield one


async def stopped(place: Place, way: str, many: int, canary: Canary) -> Receipt:
    session = place.session()
    ticket = await session.send(f"{way} {canary.path}")
    await canary.ready(many)
    await place.others_are_answered()
    receipt = await session.stop()
    assert receipt.quiet, receipt
    assert canary.is_dead()
    assert all(gone(process.pid) for process in receipt.processes)
    assert await ticket.outcome() == Outcome.STOPPED
    return receipt


def holders(path: Path) -> list[int]:
    """The others that have it open, by the numbers that count here."""
    found: set[int] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            for link in list((folder / "fd").iterdir()):
                with suppress(OSError):  # that one was closed
                    if link.readlink() == path:
                        found.add(int(folder.name))
    return sorted(found - {os.getpid()})


def killed(pid: int) -> bool:
    """Kill it; whether it was still there."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


@pytest.mark.scenario("Z1")
@pytest.mark.parametrize("way", ["spins", "sleeps", "matches"])
async def test_what_holds_up_its_own_process_is_ended_and_holds_up_nobody_else(
    place: Place, way: str, canary: Canary
) -> None:
    receipt = await stopped(place, way, 1, canary)

    [worker] = receipt.processes
    assert (worker.command, worker.fate) == (f"isolated run of {STUCK}:engine", "killed")
    assert receipt.isolated == receipt.runs
    assert "cannot be seen" not in str(receipt)


@pytest.mark.scenario("Z24")
async def test_where_only_groups_are_held_no_run_is_told_as_isolated(canary: Canary) -> None:
    async with opened("group") as place:
        session = place.session()
        await session.send(f"daemons {canary.path}")
        await canary.ready(3)
        receipt = await session.stop()
        left = [pid for pid in holders(Path(canary.path)) if killed(pid)]

    assert left, "somebody has left its group, and lives on"
    assert receipt.isolated == ()
    assert "cannot be seen" in str(receipt)


@pytest.mark.scenario("Z1")
@pytest.mark.skipif(memory_free() < 6 << 30, reason="less than 6 GB of memory are free")
async def test_who_holds_4_gb_is_ended_and_they_are_free_again(canary: Canary) -> None:
    before = memory_free()
    async with opened(deadline=60.0) as place:  # the kernel takes seconds, where others want it
        receipt = await stopped(place, "holds", 1, canary)

    assert [process.fate for process in receipt.processes] == ["killed"]
    assert memory_free() > before - (2 << 30)


@pytest.mark.scenario("Z2")
async def test_who_swallows_every_cancel_and_every_signal_is_ended(
    place: Place, canary: Canary
) -> None:
    receipt = await stopped(place, "swallows", 1, canary)

    assert [process.fate for process in receipt.processes] == ["killed"]


@pytest.mark.scenario("Z3")
@pytest.mark.parametrize("way", ["daemons", "forks"])
async def test_what_it_started_past_the_run_ends_with_it_and_is_named(
    place: Place, way: str, canary: Canary
) -> None:
    receipt = await stopped(place, way, WAYS[way], canary)

    assert len(receipt.processes) > 1


@pytest.mark.scenario("Z3")
async def test_what_a_run_leaves_behind_when_it_ends_by_itself_ends_too(
    place: Place, canary: Canary
) -> None:
    ticket = await place.session().send(f"leaves_daemons {canary.path}")

    assert await ticket.outcome() == Outcome.COMPLETED
    assert await canary.dead(timeout=10.0)


@pytest.mark.scenario("Z4")
async def test_threads_and_tasks_of_its_own_do_nothing_any_more(
    place: Place, canary: Canary
) -> None:
    receipt = await stopped(place, "threads", 1, canary)

    assert len(receipt.processes) == 1


@pytest.mark.scenario("Z4")
async def test_a_thread_of_a_tool_ends_and_its_call_may_have_executed(
    place: Place, canary: Canary
) -> None:
    receipt = await stopped(place, "in_a_tool", 1, canary)

    assert [(call.name, call.status) for call in receipt.calls] == [("tool", "may have executed")]


@pytest.mark.scenario("Z5")
@pytest.mark.parametrize(
    ("way", "how"),
    [("dies", "was ended by SIGSEGV"), ("leaves", "ended with exit code 7"), ("hangs_up", "")],
)
async def test_who_ends_its_own_process_fails_and_nobody_else_does(
    place: Place, way: str, how: str, canary: Canary
) -> None:
    session = place.session()
    ticket = await session.send(f"{way} {canary.path}")

    assert await ticket.outcome() == Outcome.FAILED
    assert ticket.error.startswith("WorkerDied: the process of this run")
    assert how in ticket.error
    assert await canary.dead(timeout=10.0)
    called = [one.status for one in await session.log() if hasattr(one, "status")]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportAttributeAccessIssue] - results
    assert called == (["may have executed"] if way == "dies" else [])
    assert await (await session.send("answers -")).outcome() == Outcome.COMPLETED


@pytest.mark.scenario("Z5")
async def test_who_is_killed_from_outside_fails_and_is_stopped_no_more(
    place: Place, canary: Canary
) -> None:
    session = place.session()
    ticket = await session.send(f"waits {canary.path}")
    await canary.ready(1)
    [pid] = holders(canary.path)
    os.kill(pid, signal.SIGKILL)

    assert await ticket.outcome() == Outcome.FAILED
    assert "was ended by SIGKILL" in ticket.error
    assert await canary.dead(timeout=10.0)


@pytest.mark.scenario("Z6")
async def test_a_takeover_of_who_spins_speaks_at_once_and_calls_when_that_is_gone(
    place: Place, canary: Canary
) -> None:
    session = place.session()
    old = await session.send(f"spins {canary.path}")
    await canary.ready(1)
    new = await session.send("calls -")
    await until(lambda: place.said(session).startswith("new"))
    spoke_beside_it = not canary.is_dead()

    assert await new.outcome() == Outcome.COMPLETED, new.error
    assert await old.outcome() == Outcome.SUPERSEDED
    assert spoke_beside_it
    assert place.said(session) == "new called"
    assert canary.is_dead()


@pytest.mark.scenario("Z7")
async def test_a_stop_is_known_to_the_run_although_the_event_loop_is_stalled(
    place: Place, canary: Canary
) -> None:
    session = place.session()
    await session.send(f"watches {canary.path}")
    await canary.ready(1)
    stalled = threading.Event()
    stopping = threading.Thread(target=lambda: (stalled.wait(10), session.stop_soon()))
    stopping.start()
    stalled.set()
    stopping.join()  # and the loop does not turn
    second = os.open(canary.path, os.O_RDONLY | os.O_NONBLOCK)  # who wrote may have left by now
    select.select([second], [], [])

    assert os.read(second, 1) == b"x"
    os.close(second)
    assert (await session.stop()).quiet


@pytest.mark.scenario("Z8")
async def test_a_child_of_it_has_a_process_and_ends_with_it(place: Place, canary: Canary) -> None:
    session = place.session()
    await session.send(f"above {canary.path}")
    await canary.ready(1)
    receipt = await session.stop()

    assert receipt.quiet, receipt
    assert canary.is_dead()
    assert len(receipt.processes) == 2
    assert [child.fate for child in receipt.children] == ["ended"]


@pytest.mark.scenario("Z1")
@pytest.mark.parametrize("level", STRICT)
@pytest.mark.parametrize("way", WAYS)
async def test_at_every_level_that_holds_here(level: Level, way: str, canary: Canary) -> None:
    async with opened(level) as place:
        await stopped(place, way, WAYS[way], canary)
        assert place.runtime.processes.level == level


@pytest.mark.scenario("Z15")
async def test_whoever_has_imported_the_engine_is_killed_and_the_next_run_has_another(
    canary: Canary,
) -> None:
    before = nurseries()
    async with opened() as place:
        session = place.session()
        ticket = await session.send(f"spins {canary.path}")
        await canary.ready(1)
        nursery = next(pid for pid in nurseries() if pid not in before)
        os.kill(nursery, signal.SIGKILL)
        await place.others_are_answered()

        assert not ticket.done
        receipt = await session.stop()
        assert receipt.quiet, receipt
        assert canary.is_dead()
        assert [process.fate for process in receipt.processes] == ["killed"]


@pytest.mark.scenario("Z20")
@pytest.mark.parametrize("way", ["spins", "daemons"])
async def test_the_warden_of_a_run_is_killed_and_so_is_all_that_it_kept(
    place: Place, way: str, canary: Canary
) -> None:
    session = place.session()
    ticket = await session.send(f"{way} {canary.path}")
    await canary.ready(WAYS[way])
    proc = Procfs()
    [worker, *_] = [kin for pid in holders(canary.path) if (kin := proc.look(pid))]
    proc.close()
    os.kill(worker.parent, signal.SIGKILL)

    assert await ticket.outcome() == Outcome.FAILED
    assert "WorkerDied" in ticket.error
    assert await canary.dead(timeout=10.0)
    await place.others_are_answered()


def nurseries() -> list[int]:
    """They, nearest first, and then the wardens that they forked."""
    proc = Procfs()
    try:
        return [kin.pid for kin in proc.descendants(proc.me) if kin.name == "nursery"]
    finally:
        proc.close()


HOST = """
import asyncio, sys
from lastword import Runtime
from lastword.engines.isolated import Isolated

async def main():
    async with Runtime(Isolated("tests.engines.apart_stuck:engine")) as runtime:
        for n, way in enumerate(("spins", "daemons")):
            await runtime.session(str(n)).send(f"{way} {sys.argv[1]}")
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.scenario("Z16")
async def test_the_host_is_killed_and_nobody_of_its_runs_lives_on(canary: Canary) -> None:
    with subprocess.Popen([sys.executable, "-c", HOST, canary.path]) as host:  # noqa: ASYNC220 - to be killed
        await canary.ready(4)
        host.kill()

    assert await canary.dead(timeout=10.0)


async def test_it_is_ended_with_its_runtime(canary: Canary) -> None:
    async with opened() as place:
        await place.session().send(f"spins {canary.path}")
        await canary.ready(1)

    assert canary.is_dead()
