"""What a run's process says is checked: nonsense ends that run, and disturbs nobody else."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from lastword import Outcome, Runtime
from lastword.engines.isolated import Isolated
from tests.engines.apart_hostile import ENDLESS, SAYINGS
from tests.promise.stories import check_log
from tests.promise.workshop import gone, until

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.scenario("Z9"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runtime() -> AsyncGenerator[Runtime]:
    engine = Isolated("tests.engines.apart_hostile:engine", warm=3)
    async with Runtime(engine, grace=0.3, feed_limit=100) as one:
        yield one


async def others_are_answered(runtime: Runtime) -> None:
    ticket = await runtime.session("others").send("answers")
    assert await ticket.outcome() == Outcome.COMPLETED, ticket.error


@pytest.mark.parametrize("saying", SAYINGS)
async def test_nonsense_ends_the_run_that_says_it(runtime: Runtime, saying: str) -> None:
    session = runtime.session(saying)
    ticket = await session.send(saying)

    assert await ticket.outcome() == Outcome.FAILED
    assert ticket.error.startswith(
        "WorkerDied: the process of this run said what no such process says"
    ), ticket.error
    await check_log(session)
    assert runtime.session("others").questions == ()
    await others_are_answered(runtime)


async def test_what_it_asks_in_anothers_name_is_its_own_question(runtime: Runtime) -> None:
    session = runtime.session("forger")
    await session.send("forges")
    await until(lambda: session.questions)
    [question] = session.questions

    assert (question.session, question.run) == ("forger", session.active)
    assert runtime.session("others").questions == ()
    assert (await session.stop()).quiet


@pytest.mark.parametrize("saying", ENDLESS)
async def test_what_never_ends_holds_up_nobody_and_is_stopped(
    runtime: Runtime, saying: str
) -> None:
    session = runtime.session(saying)
    await session.send(saying)
    await others_are_answered(runtime)
    await others_are_answered(runtime)
    receipt = await session.stop()

    assert receipt.quiet, receipt
    assert all(gone(process.pid) for process in receipt.processes)
