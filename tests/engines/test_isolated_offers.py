"""What a program offers to its isolated runs: services, other engines for their children, and an
engine that is entered and left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from lastword import Outcome, Run, Runtime, Session
from lastword.engines.isolated import Isolated
from lastword.engines.named import engine_named
from lastword.errors import NotAvailable
from lastword.testing import Recorder
from tests.engines.contract import Place
from tests.promise.workshop import gone, until

pytestmark = pytest.mark.asyncio(loop_scope="module")
HERE = "tests.engines.apart_offers"
went: list[str] = []  # how services ended
goes_on = asyncio.Event()


async def lookup(run: Run, name: str, at: dict[str, int] | None) -> object:
    if at is None:
        raise KeyError(name)
    return {"name": name, "shelf": at["shelf"], "for": run.session}


async def gives_nonsense(run: Run, name: str) -> object:
    return {name}


async def for_ever(run: Run, n: int) -> None:
    went.append("begun")
    try:
        await asyncio.Event().wait()
    finally:
        went.append("over")


async def stubborn(run: Run) -> None:
    went.append("stubborn")
    while not goes_on.is_set():
        with suppress(asyncio.CancelledError):
            await goes_on.wait()
    went.append("did it")


SERVICES = {
    "stubborn": stubborn,
    "lookup": lookup,
    "gives_nonsense": gives_nonsense,
    "for_ever": for_ever,
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place() -> AsyncGenerator[Place]:
    heard = Recorder()
    engine = Isolated(f"{HERE}:engine", services=SERVICES)
    async with Runtime(engine, sink=heard, grace=0.3, deadline=1.0) as runtime:
        yield Place(runtime, heard)


@pytest.mark.scenario("Z26")
async def test_a_service_is_done_in_the_program_and_what_it_gives_comes_back(place: Place) -> None:
    session = await place.told("asks_for_a_service")

    gave, unknown, raised, nonsense = place.said(session).split("\n")
    assert gave == "{'name': 'soap', 'shelf': 3, 'for': 'asks_for_a_service'}"
    assert unknown.startswith(
        "ValueError: there is no service 'unlink'; those there are: stubborn,"
    )
    assert raised.startswith("KeyError: ")
    assert nonsense.startswith("TypeError: what service gives_nonsense gave cannot be said as JSON")


@pytest.mark.scenario("Z26")
async def test_a_stop_ends_a_service_that_is_under_way_and_none_begins_after_it(
    place: Place, tmp_path: Path
) -> None:
    tried = tmp_path / "tried"
    session = place.session("waits")
    await session.send(f"waits_for_a_service {tried}")
    await until(lambda: "begun" in went)
    receipt = await session.stop()

    assert receipt.quiet, receipt
    assert went[-2:] == ["begun", "over"]
    assert tried.read_text() == "Superseded"


@pytest.mark.scenario("Z26")
async def test_a_service_that_will_not_end_is_named_until_it_has(
    place: Place, tmp_path: Path
) -> None:
    goes_on.clear()
    session = place.session("stubborn")
    await session.send("waits_for_a_stubborn_one")
    await until(lambda: "stubborn" in went)
    receipt = await session.stop()
    goes_on.set()

    assert "tool service stubborn" in [str(one) for one in receipt.unconfirmed]
    assert (await receipt.settled()).quiet
    assert went[-1] == "did it"


async def test_services_are_async_functions_with_names() -> None:
    not_async: Any = len
    with pytest.raises(TypeError, match="service look must be an async function"):
        Isolated("m:e", services={"look": not_async})


@pytest.mark.scenario("Z26")
async def test_where_a_run_is_not_isolated_it_is_told_whose_services_are() -> None:
    said: list[str] = []

    async def engine(run: Run) -> None:
        with pytest.raises(NotAvailable) as raised:
            await run.request("lookup", 1)
        said.append(str(raised.value))

    async with Runtime(engine) as runtime:
        await (await runtime.session("s").send("go")).outcome()
    assert said
    assert "Isolated(..., services=...)" in said[0]


@pytest.mark.scenario("Z27")
async def test_a_child_may_have_another_engine_that_is_found_by_its_name(place: Place) -> None:
    session = await place.told("has_children_of_other_engines")

    first, second, refused = place.said(session).split("\n")
    top = "has_children_of_other_engines"
    assert first.startswith(f"Ann below {top} for {top}#1 in ")
    assert second == "a thing for Ann"
    assert refused == "another process finds an engine by its name"


@pytest.mark.scenario("Z27")
async def test_a_child_with_another_engine_is_named_by_it_and_ends_with_the_stop(
    place: Place, tmp_path: Path
) -> None:
    up = tmp_path / "up"
    session = place.session("child spins")
    await session.send(f"has_a_child_that_spins {up}")
    await until(up.exists)
    receipt = await session.stop()

    assert receipt.quiet, receipt
    names = {report.command for report in receipt.processes}
    assert names == {f"isolated run of {HERE}:{name}" for name in ("engine", "spins_below")}
    assert all(gone(report.pid) for report in receipt.processes)


@pytest.mark.scenario("Z9")
async def test_what_is_too_much_to_be_said_is_refused_and_the_run_goes_on(place: Place) -> None:
    session = await place.told("says_too_much")

    assert place.said(session) == "['ValueError', 'ValueError'] small ()"


async def answered(session: Session, text: str) -> tuple[Outcome, str]:
    ticket = await session.send(text)
    return await ticket.outcome(), ticket.error


@pytest.mark.scenario("Z28")
async def test_what_an_engine_is_had_in_is_left_before_its_run_ends(tmp_path: Path) -> None:
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    heard = Recorder()
    async with Runtime(Isolated(f"{HERE}:entered"), sink=heard) as runtime:
        assert await answered(runtime.session("a"), f"{first}") == (Outcome.COMPLETED, "")
        assert first.read_text() == "left True"

        failed = await answered(runtime.session("b"), f"fails {second}")
        assert failed == (Outcome.FAILED, "OSError: not flushed")

        session = runtime.session("c")
        await session.send(f"stays {third}")
        await until(lambda: heard.texts == ["made"] * 3)
        assert (await session.stop()).quiet
        assert third.read_text() == "left True"


async def test_such_an_engine_needs_a_process_for_each_run() -> None:
    with pytest.raises(ValueError, match="it has to be isolated"):
        engine_named(f"{HERE}:entered")
