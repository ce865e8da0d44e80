"""A program that keeps processes and is about to come to a bad end.

    host_to_kill.py LEVEL WHAT PROGRAM ARTIST CANARY [ARTIST CANARY]...

WHAT it does with them: `keeps` them; keeps them in a `runtime`, the last one declared `keep`;
`forks`, which leaves somebody who holds all that it had open, until standard input ends; is `deaf`,
which is that and hears nothing of the hundreds of things that it has started since; `exits` in
the middle of a stop's grace; or `becomes` another program, after it has left a fork. It prints a
line when it has got so far.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import cast

from lastword import Run, Runtime
from lastword.processes import Level, Processes, Warden, command

Artists = list[tuple[str, str]]
UNHEARD = 250  # more than a socket holds of answers that nobody reads


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - its answer


async def for_ever() -> None:
    await asyncio.Event().wait()


def leave_a_fork() -> None:
    if os.fork() == 0:
        sys.stdin.read()
        os._exit(0)


async def keeps(warden: Warden) -> None:
    say("kept")
    await for_ever()


async def forks(warden: Warden) -> None:
    leave_a_fork()
    say("forked")
    await for_ever()


async def deaf(warden: Warden) -> None:
    nothing = command("/bin/true", env={}, merged=True)
    spawns = [asyncio.ensure_future(warden.spawn(nothing)) for _ in range(UNHEARD)]
    await asyncio.sleep(0)  # they are ordered now, and the answers will find nobody
    leave_a_fork()
    say(f"{len(spawns)} ordered")
    sys.stdin.read()


async def exits(warden: Warden) -> None:
    warden.stop(grace=50.0)
    say("stopping")
    sys.exit()


async def becomes(warden: Warden) -> None:
    leave_a_fork()
    say("becoming")
    os.execvp("sleep", ["sleep", "50"])  # noqa: S606, S607 - any program


ENDS: dict[str, Callable[[Warden], Awaitable[None]]] = {
    "keeps": keeps,
    "forks": forks,
    "deaf": deaf,
    "exits": exits,
    "becomes": becomes,
}


async def with_processes(level: Level, what: str, program: str, artists: Artists) -> None:
    warden = await Processes(level).warden()
    for artist, canary in artists:
        await warden.spawn(command(program, artist, canary))
    say("started")
    sys.stdin.readline()  # until the artists are in position
    await ENDS[what](warden)


async def with_runtime(level: Level, program: str, artists: Artists) -> None:
    async def engine(run: Run) -> None:
        *ended, kept = artists
        for artist, canary in ended:
            await run.spawn(program, artist, canary)
        await run.spawn(program, *kept, on_stop="keep")
        say("started")
        await for_ever()

    async with Runtime(engine, level=level) as runtime:
        ticket = await runtime.session("s").send("go")
        await ticket.outcome()


def main(level: Level, what: str, program: str, *rest: str) -> None:
    artists = list(zip(rest[::2], rest[1::2], strict=True))
    if what == "runtime":
        asyncio.run(with_runtime(level, program, artists))
    else:
        asyncio.run(with_processes(level, what, program, artists))


if __name__ == "__main__":
    main(cast("Level", sys.argv[1]), *sys.argv[2:])
