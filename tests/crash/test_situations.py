"""D1 to D3. Killed -9 in one situation, and what is found then."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from lastword import Outcome, Run, Runtime, Status
from lastword.core.entries import Finished, Result

VICTIM = Path(__file__).with_name("victim_at.py")


def killed(database: Path, situation: str) -> str:
    """Let a process get into a situation, and kill it there; the address of what it left."""
    argv = [sys.executable, str(VICTIM), str(database), situation]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as victim:
        assert victim.stdout is not None
        while (said := victim.stdout.readline()) != f"{situation}\n".encode():
            assert said, "it ended by itself"
        victim.send_signal(signal.SIGKILL)
    return f"sqlite:{database}"


@pytest.mark.scenario("D1", part="sqlite")
async def test_a_call_that_was_under_way_is_settled_once_and_its_run_is_lost(
    tmp_path: Path,
) -> None:
    address = killed(tmp_path / "d.db", "in_tool")
    made: list[str] = []

    async def engine(run: Run) -> None:
        made.append(run.message.text)

    for _ in range(2):
        async with Runtime(engine, store=address, on_restart="run") as runtime:
            session = runtime.session("s")
            log = await session.log()
            ends = [(e.outcome, e.messages) for e in log if isinstance(e, Finished)]
            assert ends == [(Outcome.LOST, ("first",))]
            results = [entry.status for entry in log if isinstance(entry, Result)]
            assert results == [Status.MAY_HAVE_EXECUTED]
            assert not session.busy
            [_, said, _, result, note] = await session.history()
            assert said.text == "Working."
            assert result.text == "[may have executed]"
            assert "for_ever" in note.text
    assert not made


@pytest.mark.scenario("D2", part="sqlite")
@pytest.mark.parametrize("on_restart", ["wait", "run"])
async def test_what_was_acknowledged_and_had_not_begun_is_there_and_runs_once(
    tmp_path: Path, on_restart: Literal["wait", "run"]
) -> None:
    address = killed(tmp_path / "d.db", "accepted")
    made: list[str] = []

    async def engine(run: Run) -> None:
        made.append(run.message.text)

    async with Runtime(engine, store=address, on_restart=on_restart) as runtime:
        session = runtime.session("s")
        if on_restart == "wait":
            assert [message.text for message in session.queue] == ["second"]
            assert not made
            await session.resume()
        second = await session.send("second", id="second")  # its sender asks again
        assert await second.outcome() == Outcome.COMPLETED
    assert made == ["second"]

    async with Runtime(engine, store=address, on_restart="run") as runtime:
        second = await runtime.session("s").send("second", id="second")
        assert await second.outcome() == Outcome.COMPLETED
    assert made == ["second"]


@pytest.mark.scenario("D3", part="sqlite")
async def test_what_was_stopped_and_had_not_unwound_is_still_stopped(tmp_path: Path) -> None:
    address = killed(tmp_path / "d.db", "stopping")
    made: list[str] = []

    async def engine(run: Run) -> None:
        made.append(run.message.text)

    async with Runtime(engine, store=address, on_restart="run") as runtime:
        session = runtime.session("s")
        first = await session.send("first", id="first")
        assert await first.outcome() == Outcome.STOPPED
        assert not session.busy
        [*_, note] = await session.history()
        assert "The person stopped this answer here" in note.text
    assert not made
