"""Give the number of a process that has ended to a stranger, and see whether it is spared.

    numbers_to_reuse.py LEVEL|old_lists

The first process of a namespace of its own, where numbers can be chosen and nobody is disturbed.
Prints one line of JSON for each story: whether the stranger lived.
"""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import cast

from lastword.processes import Level, Process, Processes, Warden, command
from lastword.processes.inside.family import Procfs
from lastword.processes.inside.tree import TreeWarden
from tests.processes.household import children, name_of, state

LAST = Path("/proc/sys/kernel/ns_last_pid")
SOON, LATER = 0.2, 0.4  # seconds of grace: one is over before the other
STUBBORN = "trap '' TERM; echo; while :; do sleep 50; done"
DEEP = "sh -c 'sleep 50 & wait; echo; exec sleep 50' & wait"  # it takes no number afterwards
DEEP_AND_STUBBORN = f"(trap '' TERM; sh -c 'trap - TERM; sleep 50; :' & {STUBBORN}) & wait"


@contextmanager
def a_stranger(
    pid: int, work: Callable[[], object] = signal.pause, began: int = 0
) -> Generator[Callable[[], bool]]:
    """A child of this program with the number of somebody who has gone; whether it lives.

    It began later than that one did, which no clock of the kernel's tells within a hundredth of a
    second: without choosing numbers, as here, nobody comes round to one in that time.
    """
    for _ in range(100):
        LAST.write_text(str(pid - 1), encoding="ascii")
        child = os.fork()
        if child == 0:
            work()
            os._exit(0)
        if child == pid and start_of(child) > began:
            break
        end(child)
    else:
        raise AssertionError(f"the number {pid} is still somebody's")
    try:
        yield lambda: os.waitpid(child, os.WNOHANG) == (0, 0)
    finally:
        end(child)


def start_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19])


def end(child: int) -> None:
    try:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    except (ProcessLookupError, ChildProcessError):
        pass  # somebody else has ended it, and that has been seen


async def reaped(pid: int) -> None:
    while state(pid):
        await asyncio.sleep(0)


async def heard(process: Process) -> None:
    async for _ in process.stdout:
        return


async def orders_carried_out(warden: Warden) -> None:
    await (await warden.spawn(command("true"))).wait()


# the stories


async def a_signal_to_one_that_has_ended(warden: Warden) -> bool:
    gone = await warden.spawn(command("true"))
    await gone.wait()
    with a_stranger(gone.pid) as lives:
        gone.send_signal(signal.SIGKILL)
        warden.signal(gone.id, signal.SIGKILL)
        warden.end(gone.id, 0.0)
        await orders_carried_out(warden)
        await warden.stop(0.0)
        return lives()


async def the_grace_of_one_that_obeyed(warden: Warden) -> bool:
    stubborn = await warden.spawn(command(shell=STUBBORN))
    await heard(stubborn)
    obeys = await warden.spawn(command("sleep", "50"))
    warden.end(obeys.id, SOON)
    warden.end(stubborn.id, LATER)
    await obeys.wait()
    with a_stranger(obeys.pid) as lives:
        await stubborn.wait()
        return lives()


async def the_grace_of_a_stop(warden: Warden) -> bool:
    await heard(await warden.spawn(command(shell=STUBBORN)))
    obeys = await warden.spawn(command("sleep", "50"))
    over = warden.stop(SOON)
    await obeys.wait()
    with a_stranger(obeys.pid) as lives:
        await over
        return lives()


async def one_far_below_that_had_ended(warden: Warden) -> bool:
    top = await warden.spawn(command(shell=DEEP))
    deep = await far_below(top)
    os.kill(deep, signal.SIGKILL)
    await heard(top)
    with a_stranger(deep) as lives:
        warden.end(top.id, 0.0)
        await top.wait()
        await warden.stop(SOON)
        return lives()


async def one_far_below_that_obeyed(warden: Warden) -> bool:
    top = await warden.spawn(command(shell=DEEP_AND_STUBBORN))
    await heard(top)
    deep = await far_below(top)
    over = warden.stop(SOON)
    await reaped(deep)
    with a_stranger(deep) as lives:
        await over
        return lives()


async def far_below(top: Process) -> int:
    """The number of the first sleeper, three levels below the warden."""
    while True:
        for child in children(top.pid):
            for grandchild in children(child):
                for deep in (grandchild, *children(grandchild)):
                    if name_of(deep) == "sleep":
                        return deep
        await asyncio.sleep(0)


STORIES: list[Callable[[Warden], Awaitable[bool]]] = [
    a_signal_to_one_that_has_ended,
    the_grace_of_one_that_obeyed,
    the_grace_of_a_stop,
    one_far_below_that_had_ended,
    one_far_below_that_obeyed,
]


@asynccontextmanager
async def a_warden(level: Level) -> AsyncGenerator[Warden]:
    async with Processes(level) as processes:
        yield await processes.warden()


async def tell(level: Level) -> None:
    for story in STORIES:
        async with a_warden(level) as warden:
            say(story.__name__, spared=await story(warden))


def say(story: str, *, spared: bool) -> None:
    print(json.dumps({"story": story, "spared": spared}), flush=True)  # noqa: T201 - its answer


# what a warden makes of a list of children that is no longer true


class OldLists(Procfs):
    """A view in which something happens between one look and the next."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: dict[int, Callable[[], list[int]]] = {}

    def children(self, pid: int) -> list[int]:
        act = self.meanwhile.pop(pid, None)
        return act() if act else super().children(pid)


def a_child(work: Callable[[], object] = signal.pause) -> int:
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    return child


def old_lists() -> None:
    """In this program, which plays the warden."""
    view = OldLists()
    ours, _theirs = socket.socketpair()
    warden = TreeWarden(ours, -1, view)
    mine, other = a_child(), a_child()

    view.meanwhile[mine] = lambda: [other]
    say("a_list_that_names_a_stranger", spared=warden.branch(mine) == [])

    parent = a_child(reap_a_child_and_pause)
    while not children(parent):
        os.sched_yield()
    (below,) = children(parent)
    with replaced(below, view) as strangers:
        found = {kin.pid for kin in warden.branch(parent) if view.is_still(kin)}  # who is signalled
        spared = not {below, *strangers()} & found
    say("a_number_that_changed_hands_with_children_of_its_own", spared=spared)
    for child in (mine, other, parent):
        end(child)


def reap_a_child_and_pause() -> None:
    a_child()
    os.wait()
    signal.pause()


@contextmanager
def replaced(below: int, view: OldLists) -> Generator[Callable[[], list[int]]]:
    """When its children are asked for, its number is a stranger's, who has a child."""
    with_stranger: list[Generator[None]] = []
    began = start_of(below)
    found: list[int] = []

    def life() -> Generator[None]:
        with a_stranger(below, lambda: (a_child(), signal.pause()), began):
            while not children(below):
                os.sched_yield()
            found.extend(children(below))
            yield
            for child in found:
                os.kill(child, signal.SIGKILL)

    def meanwhile() -> list[int]:
        os.kill(below, signal.SIGKILL)
        while state(below):
            os.sched_yield()
        with_stranger.append(life())
        next(with_stranger[0])
        return list(found)

    view.meanwhile[below] = meanwhile
    yield lambda: found
    for stranger in with_stranger:
        next(stranger, None)


if __name__ == "__main__":
    if sys.argv[1] == "old_lists":
        old_lists()
    else:
        asyncio.run(tell(cast("Level", sys.argv[1])))
