"""A nursery is killed: those that it forked go on, and end with their stop all the same."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from lastword.errors import WorkerDied
from lastword.processes import Level, isolated
from tests.processes.artists import Canary
from tests.processes.helping import state_of, until
from tests.processes.nurseries import a_household, descendants, some_tools, the_nursery
from tests.processes.strict import AT_EACH

write = pytest.fixture(some_tools)


async def kill_the_nursery() -> int:
    """And its keeper, which has seen that."""
    nursery = the_nursery()
    os.kill(nursery.pid, signal.SIGKILL)
    await until(lambda: not state_of(nursery.pid))
    return nursery.parent


def keeper_of(canary: Canary) -> int:
    """Whose child holds it."""
    ours = {kin.pid: kin.parent for kin in descendants(os.getpid())}
    held = [pid for pid in ours if str(canary.path) in links_of(pid)]
    return ours[held[0]]


def links_of(pid: int) -> list[str]:
    return [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()]


@pytest.mark.scenario("P25", part="isolated")
@AT_EACH
async def test_a_nursery_that_was_killed_is_replaced_and_its_workers_end_with_their_stop(
    level: Level, write: Any, tmp_path: Path
) -> None:
    tools = write()
    async with a_household(level) as household:
        with Canary(tmp_path) as canary:
            warden, work = await household.warden(tools.hold, canary.path)
            calling = asyncio.create_task(isolated.make(warden, work))
            await canary.ready(1)
            keeper = await kill_the_nursery()
            assert await household.call(tools.add, 1) == 1

            assert not calling.done()
            ending = await warden.stop(grace=0)
            assert ending.proven
            assert await canary.dead(timeout=10.0)
            with pytest.raises(WorkerDied):
                await calling
            await until(lambda: not state_of(keeper))


@pytest.mark.scenario("P25", part="isolated")
@AT_EACH
async def test_a_warden_that_is_killed_after_its_nursery_leaves_nobody(
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
            await kill_the_nursery()
            assert await household.call(tools.add, 1) == 1
            os.kill(keeper_of(canary), signal.SIGKILL)
            ending = await warden.stop(grace=0)

            assert ending.proven
            assert await canary.dead(timeout=10.0)
            assert (await another.stop(grace=0)).proven
            assert await others.dead(timeout=10.0)
            for call in (calling, going_on):
                with pytest.raises(WorkerDied):
                    await call
