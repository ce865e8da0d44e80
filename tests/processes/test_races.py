"""P7. A spawn that races a stop either never runs, or ends with the stop."""

import asyncio
import os
import random
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import cycle, islice
from pathlib import Path

import pytest

from lastword.errors import SpawnFailed
from lastword.processes import Level, Process, Processes, Warden, command
from lastword.processes.inside import wire
from lastword.processes.inside.family import Relative
from lastword.processes.zygote import Zygote
from tests.processes.artists import Canary
from tests.processes.household import keepers, state, zygotes
from tests.processes.strict import AT_EACH

P7 = pytest.mark.scenario("P7", part="processes")
RACES = 1000
AT_ONCE = 20
SOON = 5.0  # seconds: a guard
STAYS = "printf . >&9; exec sleep 50"


@P7
@AT_EACH
async def test_of_a_thousand_spawns_that_race_a_stop_none_is_left(
    level: Level, tmp_path: Path
) -> None:
    """The stop comes before, in the same step, a few steps later, or when some have started."""
    dice = random.Random(7)
    moments = (-1, 0, 1, 2, 3, 5, 8, 13)
    fates: Counter[str] = Counter()

    with ExitStack() as stack:
        canaries = [stack.enter_context(Canary(tmp_path)) for _ in range(RACES // AT_ONCE)]
        async with Processes(level) as processes:
            for moment, canary in zip(cycle(moments), canaries, strict=False):
                fates.update(await race(await processes.warden(), moment, canary, dice))
        # nor did anybody come later, who had not even begun when the stop was over
        assert [canary for canary in canaries if not await canary.dead(SOON)] == []

    assert fates.total() == RACES
    assert set(fates) == {"ended", "never started"}


async def race(warden: Warden, moment: int, canary: Canary, dice: random.Random) -> list[str]:
    """How each spawn ended, once the stop was over."""
    held = os.open(canary.path, os.O_WRONLY | os.O_CLOEXEC)  # there is an end to be seen
    os.write(held, b"!")
    what = command(shell=f"exec 9>{canary.path}; {STAYS}")
    if moment < 0:
        warden.stop(grace=0.0)
    spawns = [asyncio.ensure_future(warden.spawn(what)) for _ in range(AT_ONCE)]
    for _ in range(moment):
        await asyncio.sleep(0)
    if moment > 5:  # some have started
        await asyncio.wait(spawns, return_when=asyncio.FIRST_COMPLETED)
    await warden.stop(grace=dice.choice((0.0, 0.05)))
    os.close(held)
    assert await canary.dead(SOON)
    assert warden.processes == {}
    return [fate_of(answer) for answer in await asyncio.gather(*spawns, return_exceptions=True)]


def fate_of(answer: Process | BaseException) -> str:
    if isinstance(answer, SpawnFailed):
        return "never started"
    if isinstance(answer, BaseException):
        raise answer
    return "running" if answer.code is None else "ended"


class Told:
    """A warden's host that only waits until it has gone."""

    def __init__(self, gone: asyncio.Event) -> None:
        self._gone = gone

    @property
    def told(self) -> bool | None:
        return None

    def looked_for(self, remain: tuple[Relative, ...] | None) -> None:
        assert not remain
        self._gone.set()

    def known(self) -> list[tuple[int, int]]:
        return []


@P7
@AT_EACH
async def test_an_order_that_reaches_a_warden_after_a_stop_is_refused_there(level: Level) -> None:
    """Whoever gave it: the gate is in the warden, and here nobody checks before."""
    zygote = Zygote(adopt=True, scan=False)
    await zygote.ready()
    ours, theirs = socket.socketpair()
    stubborn = command(shell="trap '' TERM; echo; while :; do sleep 50; done").order
    gone = asyncio.Event()
    reader, writer = os.pipe()
    with theirs:
        order = {"level": level, "most": 100, "scan": False}
        zygote.fork(order, theirs, None, Told(gone))

    with ours:
        wire.send(ours, {**stubborn, "id": 1, "terminal": ""}, (writer, writer, writer))
        os.close(writer)
        assert os.read(reader, 1) == b"\n"
        wire.send(ours, {"stop": 0.1, "leave": 0.0})
        wire.send(ours, {**stubborn, "id": 2, "terminal": ""}, ())
        await gone.wait()
        told = [message for message, _ in everything(wire.WireInbox(ours))]
    await zygote.close()

    assert os.read(reader, 1) == b""
    os.close(reader)
    assert {"refused": 2} in told
    assert [message["started"] for message in told if "started" in message] == [1]


def everything(inbox: wire.WireInbox) -> Iterator[tuple[wire.Message, list[int]]]:
    try:
        while True:
            for message, fds in inbox.receive():
                for fd in fds:
                    os.close(fd)
                yield message, fds
    except EOFError:
        return


@P7
@AT_EACH
async def test_a_spawn_whose_caller_gives_up_leaves_nobody(level: Level, tmp_path: Path) -> None:
    async with Processes(level) as processes:
        warden = await processes.warden()
        for moment in islice(cycle(range(6)), 60):
            with Canary(tmp_path) as canary:
                held = os.open(canary.path, os.O_WRONLY | os.O_CLOEXEC)
                os.write(held, b"!")
                what = command(shell=f"exec 9>{canary.path}; {STAYS}")
                spawn = asyncio.ensure_future(warden.spawn(what))
                for _ in range(moment):
                    await asyncio.sleep(0)

                given_up = spawn.cancel()
                answer = (await asyncio.gather(spawn, return_exceptions=True))[0]
                if not given_up and isinstance(answer, Process):
                    await answer.end(0.0)
                last = await warden.spawn(command("true"))  # orders are carried out in order
                await last.wait()

                os.close(held)
                assert await canary.dead(SOON)
                assert warden.processes == {}


@P7
@AT_EACH
async def test_wardens_that_are_stopped_before_they_are_ready_leave_nobody(level: Level) -> None:
    async with Processes(level) as processes:
        for moment in range(8):
            asked = [asyncio.ensure_future(processes.warden()) for _ in range(3)]
            for _ in range(moment):
                await asyncio.sleep(0)
            for one in asked:
                one.cancel()
            for warden in await asyncio.gather(*asked, return_exceptions=True):
                if isinstance(warden, Warden):
                    warden.stop(grace=0.0)
        zygote = zygotes(os.getpid())[0]
    assert state(zygote) == ""


@P7
@AT_EACH
async def test_what_a_warden_says_of_its_end_is_heard_though_the_zygote_was_quicker(
    level: Level,
) -> None:
    """The loop is busy meanwhile, and then finds the zygote's word before the warden's."""
    slowly = "trap 'sleep 0.1; exit 7' TERM; echo; while :; do sleep 0.01; done"
    async with Processes(level) as processes:
        wardens = [await processes.warden(), await processes.warden()]
        (zygote,) = zygotes(os.getpid())
        at_once = await wardens[0].spawn(command("sleep", "50"))
        later = await wardens[1].spawn(command(shell=slowly))
        async for _ in later.stdout:
            break

        endings = [warden.stop(grace=2.0) for warden in wardens]
        while keepers(zygote, level) or state(zygote) != "S":
            os.sched_yield()
        for ending in endings:
            await ending

        assert (at_once.code, later.code) == (-15, 7)
        reports = [report for ending in endings for report in ending.result().processes]
        assert {report.fate for report in reports} <= {"ended"}
        assert at_once.pid in {report.pid for report in reports}
        assert later.pid in {report.pid for report in reports}
