"""What isolated tools are found in is imported once; and whoever has done so is kept like them."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lastword.errors import WorkerDied
from lastword.processes import Level, Warden, isolated
from tests.processes import tools_to_call
from tests.processes.artists import Canary
from tests.processes.helping import state_of, until
from tests.processes.misdeeds import MISDEEDS
from tests.processes.nurseries import TOOLS, a_household, descendants, some_tools, the_nursery
from tests.processes.strict import AT_EACH

HOLDS_ON = """
if "SET_LATER" in os.environ:
    import subprocess
    with open(os.environ["SET_LATER"], "w") as held:
        line = f"trap '' TERM; exec 9>&{held.fileno()}; printf x >&9; exec sleep 1000"
        subprocess.Popen(["setsid", "sh", "-c", line], pass_fds=[held.fileno()])
    while True: pass
"""
HOST = """
import asyncio, sys
from lastword import Run, Runtime

def hold(canary):
    with open(canary, "w") as holder:
        print("x", end="", file=holder, flush=True)
        while True: pass

async def engine(run: Run):
    await run.gate(hold, isolated=True)(sys.argv[2])

async def main():
    async with Runtime(engine, level=sys.argv[1]) as runtime:
        await (await runtime.session("s").send("go")).outcome()

if __name__ == "__main__":
    asyncio.run(main())
"""


write = pytest.fixture(some_tools)


def imports(tmp_path: Path) -> int:
    """How often the module was imported, here included."""
    return len((tmp_path / "imports").read_text().split())


# once


@pytest.mark.scenario("P23", part="isolated")
@AT_EACH
async def test_a_module_is_imported_once_for_many_calls_and_wardens(
    level: Level, write: Any, tmp_path: Path
) -> None:
    tools = write()
    async with a_household(level) as household:
        assert [await household.call(tools.add, n, n) for n in range(5)] == [0, 2, 4, 6, 8]
        together = await asyncio.gather(*(household.call(tools.add, n) for n in range(5)))

    assert together == [0, 1, 2, 3, 4]
    assert imports(tmp_path) == 2  # here, and there
    assert household.importing == []


async def test_nothing_is_left_of_an_earlier_call(write: Any) -> None:
    tools = write()
    async with a_household() as household:
        warden, work = await household.warden(tools.counted)
        assert [await isolated.make(warden, work) for _ in range(3)] == [1, 1, 1]


async def test_a_call_is_where_the_program_is_now_though_the_import_was_earlier(
    write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = write()
    async with a_household() as household:
        await household.call(tools.add, 1)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("SET_LATER", "yes")
        monkeypatch.setattr(sys, "argv", ["another"])
        sys.path.append("put_there_later")

        assert await household.call(tools.about) == (str(tmp_path), "yes", ["another"], True)


async def test_a_file_that_was_changed_since_is_as_this_program_has_it(
    write: Any, tmp_path: Path
) -> None:
    tools = write()
    async with a_household() as household:
        await household.call(tools.add, 1)
        (tmp_path / "some_tools.py").write_text("def add(a): return 'another'")

        assert await household.call(tools.add, 1) == 1


# what is not fit for forks


@pytest.mark.scenario("P24", part="isolated")
@pytest.mark.scenario("P38", part="isolated")
@pytest.mark.parametrize("misdeed", MISDEEDS)
async def test_what_a_fork_would_suffer_from_is_said_by_name(
    misdeed: str, write: Any, caplog: pytest.LogCaptureFixture
) -> None:
    does, said = MISDEEDS[misdeed]
    tools = write(does)
    async with a_household() as household:
        work = await isolated.prepared(tools.add, (1,), {}, "it")
        nursery = await household.processes.nursery(work.home, work.command.order, _anybody)

        assert nursery is None
        with pytest.raises(AssertionError, match=said):
            raise AssertionError(household.unfit)
    [warning] = [record.getMessage() for record in caplog.records]
    assert warning.startswith("what is isolated of some_tools is slow to start: importing it ")


@pytest.mark.scenario("P24", part="isolated")
@pytest.mark.parametrize("misdeed", [m for m in MISDEEDS if m not in ("error", "os")])
async def test_its_tools_work_all_the_same_and_others_stay_quick(
    misdeed: str, write: Any, tmp_path: Path
) -> None:
    tools = write(MISDEEDS[misdeed][0])
    async with a_household() as household:
        assert [await household.call(tools.add, n) for n in range(2)] == [0, 1]
        assert imports(tmp_path) == 4  # here, in the nursery that left, and in each worker
        assert len(household.unfit) == 1


async def test_a_module_that_ends_the_process_ends_no_more_than_the_call(write: Any) -> None:
    tools = write("os._exit(3)")
    async with a_household() as household:
        for _ in range(2):
            with pytest.raises(WorkerDied, match="with exit code 3"):
                await household.call(tools.add, 1)


async def test_a_module_that_is_another_file_elsewhere_is_refused(
    write: Any, tmp_path: Path
) -> None:
    tools = write()
    async with a_household() as household:
        other = tmp_path / "other"
        other.mkdir()
        (other / "some_tools.py").write_text(TOOLS)
        sys.path.insert(0, str(other))
        await household.call(tools.add, 1)

    [why] = household.unfit
    assert str(other) in why


@pytest.mark.scenario("P8", part="processes")
@AT_EACH
async def test_with_a_host_that_was_killed_all_of_it_is_gone(level: Level, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(HOST)
    with Canary(tmp_path) as canary:
        with subprocess.Popen([sys.executable, script, level, canary.path]) as host:  # noqa: ASYNC220 - to be killed
            await canary.ready(1)
            zygote, *below = [kin.pid for kin in descendants(host.pid)]
            host.kill()

        assert await canary.dead(timeout=10.0)
        assert len(below) >= 4  # who keeps the nursery, the nursery, a warden, a worker
        await until(lambda: not any(map(state_of, [zygote, *below])))


def _anybody(keeper: Warden) -> Callable[[], None]:
    return lambda: None


# how it ends


@pytest.mark.scenario("P25", part="isolated")
@AT_EACH
async def test_a_stop_ends_a_worker_of_a_nursery_and_nobody_elses(
    level: Level, write: Any, tmp_path: Path
) -> None:
    tools = write()
    async with a_household(level) as household:
        with Canary(tmp_path) as canary, Canary(tmp_path) as others:
            warden, work = await household.warden(tools.hold, canary.path)
            another, elsewhere = await household.warden(tools.hold, others.path)
            calling = asyncio.create_task(isolated.make(warden, work))
            going_on = asyncio.create_task(isolated.make(another, elsewhere))
            await asyncio.gather(canary.ready(1), others.ready(1))
            ending = await warden.stop(grace=0)

            assert await canary.dead(timeout=10.0)
            assert ending.proven
            assert [report.command for report in ending.processes] == ["isolated tool it"]
            with pytest.raises(WorkerDied, match="by SIGKILL"):
                await calling
            assert not going_on.done()
            await another.stop(grace=0)
            assert await others.dead(timeout=10.0)
            with pytest.raises(WorkerDied):
                await going_on


@pytest.mark.scenario("P25", part="isolated")
@AT_EACH
async def test_whoever_imports_for_ever_is_ended_with_what_that_started(
    level: Level, write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = write(HOLDS_ON.strip().replace("\n", "\n    "))
    async with a_household(level) as household:
        with Canary(tmp_path) as canary:
            monkeypatch.setenv("SET_LATER", str(canary.path))
            calling = asyncio.create_task(household.call(tools.add, 1))
            await canary.ready(1)
            [keeper] = household.importing
            ending = await keeper.stop(grace=0)

            assert ending.proven
            assert await canary.dead(timeout=10.0)
            calling.cancel()
            await asyncio.wait([calling])
        monkeypatch.delenv("SET_LATER")
        assert await household.call(tools.add, 1) == 1


@pytest.mark.scenario("P25", part="isolated")
async def test_a_nursery_and_its_keeper_that_were_stopped_are_woken(
    write: Any, tmp_path: Path
) -> None:
    tools = write()
    async with a_household("tree") as household:
        with Canary(tmp_path) as canary:
            warden, work = await household.warden(tools.hold, canary.path)
            calling = asyncio.create_task(isolated.make(warden, work))
            await canary.ready(1)
            nursery = the_nursery()
            for pid in (nursery.pid, nursery.parent):
                os.kill(pid, signal.SIGSTOP)
            await until(lambda: state_of(nursery.pid) == "T")

            assert (await warden.stop(grace=0)).proven
            assert await canary.dead(timeout=10.0)
            with pytest.raises(WorkerDied):
                await calling
        assert await household.call(tools.add, 1) == 1


@pytest.mark.scenario("P38", part="isolated")
async def test_a_tool_has_its_hosts_umask_and_is_named_as_one_with_its_forks() -> None:
    before = os.umask(0o027)
    try:
        async with a_household() as household:
            for mask in (0o027, 0o002):
                os.umask(mask)
                called = await household.call(tools_to_call.seen)
                assert called == (mask, "isolated tool", "isolated tool")
    finally:
        os.umask(before)
