"""Engines by name: where their processes come from, what they cannot do yet, what they leave."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lastword import Engine, LastwordError, Outcome, Run, Runtime, cells
from lastword.engines.isolated import Isolated
from lastword.processes import ProcessLimits
from lastword.testing import Recorder
from tests.engines.test_isolated_stops import nurseries
from tests.processes.artists import Canary
from tests.promise.workshop import until

STUCK = "tests.engines.apart_stuck"


async def said_by(engine: Engine, text: str = "hello") -> str:
    heard = Recorder()
    async with Runtime(engine, sink=heard, grace=0.3) as runtime:
        ticket = await runtime.session("s").send(text)
        outcome = await ticket.outcome()
        return "".join(heard.texts) if outcome is Outcome.COMPLETED else ticket.error


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("no_colon", ValueError),
        ("two words:engine", ValueError),
        ("module:", ValueError),
        (":engine", ValueError),
        (7, TypeError),
    ],
)
def test_a_name_that_is_none_is_refused_at_once(name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        Isolated(name)


@pytest.mark.parametrize("numbers", [{"warm": -1}, {"most": 0}, {"warm": True}])
def test_numbers_that_are_none_are_refused_at_once(numbers: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        Isolated("module:engine", **numbers)


async def test_a_function_of_that_name_makes_the_engine_in_each_process() -> None:
    assert await said_by(Isolated(f"{STUCK}:make")) == "True False"


async def test_one_that_serves_resumed_cells_too_is_opened_with_its_runtime() -> None:
    assert await said_by(cells.engine(Isolated(f"{STUCK}:make"))) == "True False"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no.such.module:engine", "ValueError: there is no module 'no.such.module' here"),
        (f"{STUCK}:nothing", "ValueError: the module 'tests.engines.apart_stuck' has no 'nothing'"),
        (
            f"{STUCK}:wrong",
            "ValueError: tests.engines.apart_stuck:wrong is no function, so it cannot be",
        ),
    ],
)
async def test_an_engine_that_cannot_be_had_fails_its_runs_and_says_why(
    name: str, why: str
) -> None:
    said = await said_by(Isolated(name))

    assert said.startswith(f"the engine {name} cannot be had: {why}")


RELOADED = """
async def engine(run):
    await run.emit("{said} ")
    while run.message.text == "goes on" and not await run.steering():
        await __import__("asyncio").sleep(0.005)
    await run.emit("{said} still ")
"""


@pytest.mark.scenario("Z30")
async def test_what_has_changed_is_had_after_a_reload_and_who_goes_on_keeps_what_they_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.syspath_prepend(tmp_path)  # pyright: ignore[reportUnknownMemberType] - pytest's own
    module = tmp_path / "reloaded_engine.py"
    module.write_text(RELOADED.format(said="old"))
    heard, engine = Recorder(), Isolated("reloaded_engine:engine", warm=1)
    before = len(nurseries())
    async with Runtime(engine, sink=heard) as runtime:
        first = runtime.session("first")
        goes_on = await first.send("goes on")
        await until(lambda: heard.texts == ["old "])
        module.write_text(RELOADED.format(said="newer"))
        engine.reload()
        ticket = await runtime.session("second").send("hello")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert heard.texts == ["old ", "newer ", "newer still "]

        await first.send("that is all", on_message="steer")
        assert await goes_on.outcome() == Outcome.COMPLETED
        assert heard.texts[-1] == "old still "
        await engine.ready()
        await until(lambda: len(nurseries()) - before <= 3)  # it, its warden, and one that is warm


UNFIT = """
import threading, time
if {here} != __import__("os").getpid():
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()

async def engine(run):
    await run.emit("all the same")
"""


@pytest.mark.scenario("Z11")
async def test_a_module_that_is_not_fit_for_forks_is_imported_by_each_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "unfit_engine.py").write_text(UNFIT.format(here=os.getpid()))
    monkeypatch.syspath_prepend(tmp_path)  # pyright: ignore[reportUnknownMemberType] - pytest's own
    heard = Recorder()
    engine = Isolated("unfit_engine:engine")
    async with Runtime(engine, sink=heard) as runtime:
        why = await engine.why_slow()
        ticket = await runtime.session("s").send("hello")

        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    assert "starts a thread" in why
    assert heard.texts == ["all the same"]


@pytest.mark.scenario("Z12")
async def test_who_waits_for_a_process_can_be_stopped_and_has_begun_nothing(tmp_path: Path) -> None:
    heard = Recorder()
    with Canary(tmp_path) as canary:
        engine = Isolated(f"{STUCK}:engine", most=1)
        async with Runtime(engine, sink=heard, grace=0.3) as runtime:
            await runtime.session("first").send(f"spins {canary.path}")
            await canary.ready(1)
            second = runtime.session("second")
            ticket = await second.send("answers -")
            await until(lambda: second.active)
            receipt = await second.stop()

            assert receipt.quiet
            assert receipt.processes == ()
            assert await ticket.outcome() == Outcome.STOPPED
            assert (await runtime.session("first").stop()).quiet
            last = await second.send("answers -")
            assert await last.outcome() == Outcome.COMPLETED
    assert heard.texts == ["here"]


async def test_an_engine_belongs_to_one_runtime_and_only_there_it_answers() -> None:
    engine = Isolated(f"{STUCK}:engine")
    async with Runtime(engine):
        other = Runtime(engine)
        with pytest.raises(LastwordError, match="belongs to another runtime"):
            await other.__aenter__()

    async def outer(run: Run) -> None:
        child = await run.child("x", engine=Isolated(f"{STUCK}:engine"))
        await run.emit((await child.outcome()).value)

    heard = Recorder()
    async with Runtime(outer, sink=heard) as runtime:
        await (await runtime.session("s").send("go")).outcome()
    assert heard.texts == ["failed"]


async def test_a_process_may_use_no_more_than_was_said(tmp_path: Path) -> None:
    with Canary(tmp_path) as canary:
        engine = Isolated(f"{STUCK}:engine", limits=ProcessLimits(memory=2 << 30))
        said = await said_by(engine, f"eats {canary.path}")

    assert said.startswith("MemoryError")


@pytest.mark.scenario("Z14")
async def test_what_is_not_available_yet_says_so() -> None:
    said = await said_by(Isolated("tests.engines.apart_not_yet:engine"))

    assert said.split("\n") == [
        f"NotAvailable {what} is not available in an isolated run yet; nothing was done"
        for what in (
            "run.shelf, and with it programs over tools,",
            "run.asks",
            "run.adopt",
            "run.has_changed",
            "run.processes_gone",
            "run.ask(for_good=)",
        )
    ]
