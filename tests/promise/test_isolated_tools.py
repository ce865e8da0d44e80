"""A tool that cannot be asked to end can be killed, if it has a process of its own."""

import asyncio
import importlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lastword import Outcome, Run, Runtime
from tests.promise.workshop import POLITE, fates, gone, is_up, stop_while_stalled, until


def hold_the_interpreter(marker: str) -> int:
    """One step of the interpreter, and a very long one."""
    Path(marker).write_text("begun")
    return len(str(7 ** (10**9)))


@pytest.mark.scenario("S19", part="isolated")
async def test_an_isolated_tool_that_holds_the_interpreter_is_ended(tmp_path: Path) -> None:
    marker = tmp_path / "marker"

    async def engine(run: Run) -> None:
        await run.gate(hold_the_interpreter, isolated=True)(str(marker))

    async with Runtime(engine, grace=0.1) as r:
        session = r.session("s")
        await session.send("go")
        await until(marker.exists)  # and the event loop turns
        receipt = await asyncio.wrap_future(session.stop_soon())

        assert receipt.quiet
        [call] = receipt.calls
        assert (call.name, call.status) == ("hold_the_interpreter", "may have executed")
        assert all(gone(process.pid) for process in receipt.processes)


def add(a: int, b: int) -> int:
    return a + b


async def test_an_isolated_tool_gives_what_it_gives_and_is_in_the_ledger() -> None:
    given: list[int] = []

    async def engine(run: Run) -> None:
        given.append(await run.gate(add, name="sum", isolated=True)(20, b=22))

    async with Runtime(engine) as r:
        session = r.session("s")
        assert await (await session.send("go")).outcome() == Outcome.COMPLETED
        assert given == [42]
        assert any(getattr(entry, "name", "") == "sum" for entry in await session.log())


SCRIPT = """
import asyncio, os, sys
from lastword import Run, Runtime

with open(sys.argv[1], "a") as runs: print("run", file=runs)

def double(n): return 2 * n

async def engine(run: Run):
    tool = run.gate(double, isolated=True)
    print([await tool(n) for n in range(4)], flush=True)

async def main():
    async with Runtime(engine) as runtime:
        for n in range(3):
            await (await runtime.session(f"s{n}").send("go")).outcome()

if __name__ == "__main__":
    asyncio.run(main())
"""


@pytest.mark.scenario("P23", part="isolated")
def test_a_script_is_run_once_for_all_calls_of_its_tools(tmp_path: Path) -> None:
    script, runs = tmp_path / "script.py", tmp_path / "runs"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, script, runs], capture_output=True, text=True, check=True
    )

    assert done.stdout == "[0, 2, 4, 6]\n" * 3, done.stderr
    assert runs.read_text() == "run\n" * 2  # by the person, and for the tools


IMPORTS_FOR_EVER = """
import os
def tool(): return "done"
if os.getpid() != {me} and os.path.exists({marker!r}):
    with open({marker!r}, "w") as marker: print(os.getpid(), file=marker)
    while True: pass
"""


@pytest.mark.scenario("P25", part="isolated")
async def test_a_stop_ends_an_import_that_never_ends_and_the_next_run_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "marker"
    marker.touch()
    words = IMPORTS_FOR_EVER.format(me=os.getpid(), marker=str(marker))
    (tmp_path / "importing_for_ever.py").write_text(words)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    module = importlib.import_module("importing_for_ever")
    given: list[str] = []

    async def engine(run: Run) -> None:
        given.append(await run.gate(module.tool, isolated=True)())

    async with Runtime(engine, grace=0.1) as r:
        session = r.session("s")
        await session.send("go")
        await until(lambda: marker.read_text().endswith("\n"))
        receipt = await session.stop()

        assert receipt.quiet
        assert gone(int(marker.read_text()))
        marker.unlink()
        ticket = await session.send("again")
        assert await ticket.outcome() == Outcome.COMPLETED
        assert given == ["done"]


async def test_only_a_tool_that_is_not_async_can_be_isolated() -> None:
    async def tool() -> None: ...

    async def engine(run: Run) -> None:
        run.gate(tool, isolated=True)

    async with Runtime(engine) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.FAILED
        assert "need not be isolated" in ticket.error


@pytest.mark.scenario("S19", part="isolated")
async def test_processes_end_although_the_event_loop_is_stalled() -> None:
    pids: list[int] = []
    up, woken = threading.Event(), threading.Event()

    async def engine(run: Run) -> None:
        process = await run.spawn(shell=POLITE)
        await is_up(process)
        pids.append(process.pid)
        up.set()
        woken.wait(30)  # nothing else turns in this loop

    async with Runtime(engine, stall_after=None) as r:
        session = r.session("s")
        await session.send("go")
        dead, receipt = await asyncio.to_thread(stop_while_stalled, session, up, pids, woken)

        assert dead
        assert receipt.quiet
        assert fates(receipt) == {POLITE: "ended"}
