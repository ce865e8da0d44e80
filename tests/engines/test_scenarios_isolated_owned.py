"""The stories of docs/scenarios.md again, of what isolated runs own: processes, children, calls
that outlive their host; and of others, who notice nothing."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from lastword import Outcome, Runtime
from lastword.core.entries import Finished, Result
from lastword.engines.isolated import Isolated
from tests.engines.stage_isolated import ENGINE, Stage, another_answers, quiet
from tests.promise.workshop import gone, until

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.scenario("Z29"),
]


@pytest.mark.scenario("P1", part="processes")
@pytest.mark.scenario("P2", part="processes")
@pytest.mark.scenario("P3", part="processes")
@pytest.mark.scenario("P9", part="terminal")
@pytest.mark.parametrize("how", ["deaf", "escapes", "background", "terminal"])
async def test_what_it_spawns_ends_with_the_stop(stage: Stage, tmp_path: Path, how: str) -> None:
    (tmp_path / "how").write_text(how)
    session = await stage.begun(f"spawns {how}", "spawns", tmp_path)
    receipt = await quiet(session)

    assert "killed" in {process.fate for process in receipt.processes}


@pytest.mark.scenario("P4", part="processes")
async def test_who_holds_a_shells_output_open_does_not_hold_up_a_stop(
    stage: Stage, tmp_path: Path
) -> None:
    session = await stage.begun("holds", "holds_output", tmp_path)

    await quiet(session)


@pytest.mark.scenario("P5", part="processes")
async def test_who_stands_still_is_ended_and_never_runs_again(stage: Stage, tmp_path: Path) -> None:
    session = await stage.begun("stands", "stands_still", tmp_path)
    receipt = await quiet(session)

    assert "killed" in {process.fate for process in receipt.processes}


@pytest.mark.scenario("P6", part="processes")
async def test_what_is_kept_outlives_the_stop_and_is_listed(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "how").write_text("keep")
    session = await stage.begun("keeps", "spawns", tmp_path)
    receipt = await quiet(session)
    [kept] = [process for process in receipt.processes if process.fate == "kept"]
    [job] = session.processes

    assert (job.pid, job.alive) == (kept.pid, True)
    await job.end(grace=0.1)
    assert gone(kept.pid)


@pytest.mark.scenario("P7", part="processes")
async def test_a_stop_between_a_decision_to_start_and_the_start_leaves_nobody(
    stage: Stage, tmp_path: Path
) -> None:
    session = stage.session("starts")
    for n in range(5):
        await stage.begun("starts", "starts_all_the_time", tmp_path)
        for _ in range(random.Random(n).randrange(50)):
            await asyncio.sleep(0)
        await quiet(session)

    assert not [line for line in _commands() if "a story's own" in line]


def _commands() -> list[str]:
    done = subprocess.run(["/bin/ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.scenario("C1")
async def test_children_three_levels_deep_end_and_wake_nobody(stage: Stage, tmp_path: Path) -> None:
    session = await stage.begun("deep", "three_deep", tmp_path, "deep")
    receipt = await quiet(session)
    await another_answers(stage)

    assert len(receipt.processes) == 4
    assert not [e for e in stage.heard if e.kind == "text" and e.session.startswith("deep")]


@pytest.mark.scenario("C2", part="library")
async def test_the_child_of_a_tool_ends_with_it(stage: Stage, tmp_path: Path) -> None:
    session = await stage.begun("of a tool", "child_of_a_tool", tmp_path)
    receipt = await quiet(session)

    assert len(receipt.processes) == 2
    assert [child.fate for child in receipt.children] == ["ended"]


@pytest.mark.scenario("C3")
async def test_of_several_children_one_that_spins_ends_too(stage: Stage, tmp_path: Path) -> None:
    session = stage.session("wedged")
    await session.send(f"wedged_child {tmp_path}")
    await until(lambda: stage.stands("up") == 2 and stage.stands("wedged") == 1)
    receipt = await quiet(session)

    assert [child.fate for child in receipt.children] == ["ended"] * 3
    assert Counter(process.fate for process in receipt.processes)["killed"] == 1


@pytest.mark.scenario("C4")
async def test_a_child_that_is_kept_goes_on_and_its_result_waits(
    stage: Stage, tmp_path: Path
) -> None:
    session = await stage.begun("keeps a child", "keeps_a_child", tmp_path, "kept")
    receipt = await session.stop()
    assert receipt.quiet, receipt
    stage.goes_on.set()
    await until(lambda: session.queue)

    assert [child.fate for child in receipt.children] == ["kept"]
    assert "kept on" in session.queue[0].text
    assert not session.busy


@pytest.mark.scenario("X1", part="library")
async def test_whenever_a_stop_comes_each_call_has_one_result(stage: Stage, tmp_path: Path) -> None:
    rng = random.Random(20)
    session = stage.session("tries")
    for _ in range(10):
        before = len(stage.events)
        await session.send(f"tries_for_ever {tmp_path}")
        many = before + rng.randrange(5, 60)
        await until(lambda many=many: len(stage.events) > many)
        await quiet(session)

    answer = await session.send("and now?")
    assert await answer.outcome() == Outcome.COMPLETED


HOST = """
import asyncio, sys
from lastword import Runtime
from lastword.engines.isolated import Isolated

async def main(store, at, then):
    async with Runtime(Isolated("tests.engines.apart_scenarios:engine"), store=store) as runtime:
        session = runtime.session("s")
        await session.send(f"pays {at}")
        while not __import__("os").path.exists(f"{at}/paid"):
            await asyncio.sleep(0.01)
        if then == "stop":
            await session.stop().fenced()
        print("up", flush=True)
        await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.scenario("D1", part="sqlite")
@pytest.mark.scenario("D3", part="sqlite")
@pytest.mark.parametrize(("then", "over"), [("wait", Outcome.LOST), ("stop", Outcome.STOPPED)])
async def test_a_host_is_killed_in_a_tool_and_it_is_not_called_again(
    tmp_path: Path, then: str, over: Outcome
) -> None:
    store = f"sqlite:{tmp_path / 'lastword.db'}"
    command = [sys.executable, "-c", HOST, store, str(tmp_path), then]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as host:  # noqa: ASYNC220 - to be killed
        assert host.stdout
        assert await asyncio.to_thread(host.stdout.readline) == b"up\n"
        os.kill(host.pid, signal.SIGKILL)
    async with Runtime(Isolated(ENGINE), store=store) as runtime:
        session = runtime.session("s")
        await session.loaded()
        log = await session.log()
        ticket = await session.send("and now?")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    results = [one.status for one in log if isinstance(one, Result)]
    assert results == ["may have executed"]
    assert [one.outcome for one in log if isinstance(one, Finished)] == [over]
    assert (tmp_path / "paid").read_text() == "x"


@pytest.mark.scenario("I1")
async def test_a_stop_in_one_session_changes_nothing_in_another(
    stage: Stage, tmp_path: Path
) -> None:
    one = await stage.begun("one", "five_calls", tmp_path, "second")
    other = stage.session("other")
    await other.send(f"streams {tmp_path}")
    await until(lambda: stage.said(other))
    await quiet(one)
    said = len(stage.said(other))
    await until(lambda: len(stage.said(other)) > said)

    assert other.busy
    await quiet(other)


@pytest.mark.scenario("I4")
async def test_a_storm_of_stops_disturbs_no_other_stream(stage: Stage, tmp_path: Path) -> None:
    every = [stage.session(f"stream {n}") for n in range(12)]
    for session in every:
        await session.send(f"streams {tmp_path}")
    await until(lambda: all(stage.said(one) for one in every))
    receipts = await asyncio.gather(*(one.stop() for one in every[::2]))
    said = [len(stage.said(one)) for one in every[1::2]]
    await until(
        lambda: all(
            len(stage.said(one)) > many for one, many in zip(every[1::2], said, strict=True)
        )
    )

    assert all(receipt.quiet for receipt in receipts)
    assert all(receipt.quiet for receipt in await asyncio.gather(*(o.stop() for o in every[1::2])))
