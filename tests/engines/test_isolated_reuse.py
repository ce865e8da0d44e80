"""A process may do another run of the same session, where that is asked for: never after a stop,
and never if something is left in it; between runs nothing of it is executed."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lastword import Outcome, Runtime, Session
from lastword.engines.isolated import Isolated
from lastword.testing import Recorder
from tests.engines.test_isolated_storm import workers
from tests.processes.artists import Canary
from tests.promise.workshop import until

pytestmark = pytest.mark.scenario("Z31")


class Talks:
    """A runtime whose runs say how many runs their process has done."""

    def __init__(self, runtime: Runtime, engine: Isolated, heard: Recorder) -> None:
        self.runtime = runtime
        self.engine = engine
        self.heard = heard

    async def says(self, session: Session, text: str = "hello -") -> str:
        before = len(self.heard.texts)
        ticket = await session.send(text)
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        return "".join(self.heard.texts[before:]).strip()


@asynccontextmanager
async def talks(reuse: int = 9, warm: int = 0) -> AsyncGenerator[Talks]:
    heard = Recorder()
    engine = Isolated("tests.engines.apart_reused:engine", warm=warm, reuse=reuse)
    async with Runtime(engine, sink=heard, grace=0.3) as runtime:
        yield Talks(runtime, engine, heard)


async def test_the_next_run_of_a_session_has_its_process_and_nobody_else_has() -> None:
    async with talks(reuse=2) as here:
        one, two = here.runtime.session("one"), here.runtime.session("two")

        assert [await here.says(one, "threads -") for _ in range(2)] == ["1", "2"]
        assert await here.says(two) == "1"
        assert [await here.says(one) for _ in range(2)] == ["3", "1"]


async def test_without_being_asked_for_there_is_none() -> None:
    async with talks(reuse=0) as here:
        session = here.runtime.session("s")

        assert [await here.says(session) for _ in range(2)] == ["1", "1"]


async def test_after_a_stop_or_a_failure_it_is_never_used_again(tmp_path: Path) -> None:
    async with talks() as here:
        session = here.runtime.session("s")
        assert await here.says(session) == "1"
        with Canary(tmp_path) as canary:
            await session.send(f"waits {canary.path}")
            await canary.ready(1)
            await until(lambda: here.heard.texts[-1] == "2 ")
            receipt = await session.stop()
            assert receipt.quiet, receipt
            assert canary.is_dead()
        assert await here.says(session) == "1"

        failed = await session.send("fails -")
        assert await failed.outcome() == Outcome.FAILED
        assert await here.says(session) == "1"


async def test_after_a_takeover_it_is_never_used_again(tmp_path: Path) -> None:
    async with talks() as here:
        session = here.runtime.session("s")
        assert await here.says(session) == "1"
        with Canary(tmp_path) as canary:
            await session.send(f"waits {canary.path}")
            await canary.ready(1)
            assert await here.says(session) == "1"
            assert await canary.dead(timeout=10.0)


@pytest.mark.parametrize("way", ["a_task", "a_thread", "work", "a_process"])
async def test_one_in_which_something_is_left_is_not_kept(way: str) -> None:
    async with talks() as here:
        session = here.runtime.session("s")
        assert await here.says(session, f"leaves_{way} -") == "1"

        assert await here.says(session) == "1"


async def test_between_runs_nothing_of_it_is_executed_and_in_the_next_it_may_not_act(
    tmp_path: Path,
) -> None:
    at = tmp_path / "told"
    async with talks() as here:
        session = here.runtime.session("s")
        assert await here.says(session, f"calls_later {at}") == "1"
        await until(lambda: [one.state for one in workers()] == ["T"])
        told = at.read_text()
        assert await here.says(here.runtime.session("another")) == "1"
        assert at.read_text() == told

        with Canary(tmp_path) as canary:
            await session.send(f"waits {canary.path}")
            await canary.ready(1)
            told = at.read_text()
            await until(lambda: len(at.read_text()) > len(told) + 5)
            receipt = await session.stop()
            assert receipt.quiet, receipt
            assert receipt.dropped == 0, "what an old run is refused is not this one's"
            assert canary.is_dead()
    assert "acts" not in at.read_text()
    assert "from an old run" not in "".join(here.heard.texts)


async def test_those_that_wait_end_with_a_reload_and_with_the_runtime(tmp_path: Path) -> None:
    with Canary(tmp_path) as first, Canary(tmp_path) as second:
        async with talks() as here:
            session = here.runtime.session("s")
            assert await here.says(session, f"holds {first.path}") == "1"
            here.engine.reload()
            assert await here.says(session, f"holds {second.path}") == "1"
            assert await first.dead(timeout=10.0)
            assert len(workers()) == 1
        assert workers() == []


async def test_one_that_is_killed_while_it_waits_is_replaced() -> None:
    async with talks() as here:
        session = here.runtime.session("s")
        assert await here.says(session) == "1"
        [one] = workers()
        os.kill(one.pid, signal.SIGKILL)

        assert await here.says(session) == "1"


async def test_no_more_than_a_few_wait() -> None:
    async with talks() as here:
        for n in range(18):
            assert await here.says(here.runtime.session(f"s{n}")) == "1"

        assert await here.says(here.runtime.session("s0")) == "1"
        assert await here.says(here.runtime.session("s17")) == "2"
