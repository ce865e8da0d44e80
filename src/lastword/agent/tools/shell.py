"""Command lines, as processes of the run: whatever they start ends no later than it does.

What takes longer than one waits for goes on under an id, as a job of the session's: it is read,
written to, signalled and ended by that. It ends with the answer; what is to outlive it, and a stop,
is declared so when it is started, and has to be allowed. While a command is waited for, the person
is shown what is new, twice a second at most.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from codecs import getincrementaldecoder
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from lastword.agent.tools import told
from lastword.agent.tools.aside import aside
from lastword.agent.tools.directory import Directories, Folder, ShellNote, Stay
from lastword.agent.tools.environment import for_commands
from lastword.agent.tools.roots import Roots
from lastword.processes import Process
from lastword.processes.command import OUTPUT_LIMIT
from lastword.processes.output import Output
from lastword.processes.process import in_words
from lastword.runtime.jobs import Job, signal_named
from lastword.runtime.run import Run

WAIT = 30.0  # seconds that a command is waited for, unless more or less is asked for
_AT_FIRST = 1.0  # the same in the background: what cannot be started fails at once
_LIMIT = 3600.0
_NEWS = 1000  # bytes of what is new that the person is shown at once
_PACE = 0.5
_LOOK = 0.1  # seconds between two looks at what a job wrote
_LAST = 2000  # bytes: of what is too much to be said, the end
Say: TypeAlias = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _BegunCommand:
    """A command line, and where it began."""

    process: Process
    stay: Stay
    where: Folder
    note: ShellNote | None


class Shell:
    """Runs command lines for an agent, in its directory, or another below its roots.

    `shell` reads them: bash where there is one, unless it is said, or else sh. Without an `env` of
    their own they have ours, but not the keys with which models are asked; nothing in them waits
    for a person, and git runs nothing that a repository names. What is not in the background is
    ended after `limit` seconds. With `cd_lasts`, a command begins where the last one has ended.
    """

    def __init__(
        self,
        cwd: str | os.PathLike[str] | None = None,
        *,
        roots: Roots | None = None,
        shell: str = "",
        env: Mapping[str, str] | None = None,
        cd_lasts: bool = False,
        limit: float = _LIMIT,
        grace: float = 0.25,
        output_limit: int = 30_000,
    ) -> None:
        self.name = shell or shutil.which("bash") or "/bin/sh"
        if shutil.which(self.name) is None:
            raise ValueError(f"there is no shell {self.name!r} that could be started")
        self.directories = Directories(roots or Roots([cwd or "."]), last=cd_lasts)
        self.limit = limit
        self.output_limit = output_limit
        self._env = env
        self._grace = grace

    async def run(
        self,
        run: Run,
        command: str,
        wait: float | None = None,
        workdir: str = "",
        pty: bool = False,
        stdin: bool = False,
        background: bool = False,
    ) -> str:
        """Run a command line; what it wrote, and how it ended, or how to go on with it.

        With `pty` it has a terminal, with `stdin` an input that stays open. With `background` it
        lives on after the run, also after a stop, until somebody ends it or the runtime is closed.
        """
        seconds = self._seconds(wait, _AT_FIRST if background else WAIT)
        begun = await self._begun(
            run, command, workdir, stdin="pipe" if stdin else "none", pty=pty,
            on_stop="keep" if background else "end",
        )  # fmt: skip
        process = begun.process
        if not await self._ended(run, process, seconds):
            return self._goes_on(run, process, seconds)
        ending = in_words(process.code or 0) if background else await self._ending(begun)
        return f"{told.written(process.stdout, self.output_limit)}\n[{ending}]"

    async def aloud(self, run: Run, command: str, say: Say) -> str:
        """Run a command line, and `say` what it writes as it comes. How it ended, in words."""
        begun = await self._begun(run, command, "")
        saying = run.task(_said(begun.process, self.output_limit, say), name="saying")
        if await begun.process.within(self.limit, self._grace) is None:
            await begun.process.end(self._grace)
            return f"ended, as it took longer than {self.limit:g} seconds"
        await saying
        return await self._ending(begun)

    async def _begun(self, run: Run, command: str, workdir: str, **how: Any) -> _BegunCommand:  # noqa: ANN401 - as spawn takes it
        stay = self.directories.of(run)
        where = await aside(lambda: self.directories.find(stay, workdir))
        given = self._env
        env = await for_commands(run, os.environ, where) if given is None else given
        words, note = await aside(lambda: self.directories.noting(self.name, command))
        process = await run.spawn(
            *words,
            name=command,
            cwd=where,
            env=env,
            merged=True,
            grace=self._grace,
            output_limit=max(OUTPUT_LIMIT, self.output_limit),
            **how,
        )
        return _BegunCommand(process, stay, where, note)

    async def _ending(self, begun: _BegunCommand) -> str:
        """How it ended, and where the next one begins."""
        ending = in_words(begun.process.code or 0)
        if note := begun.note:
            stay, where = begun.stay, begun.where
            ending += f"; {await aside(lambda: self.directories.noted(stay, where, note))}"
        return ending

    def _seconds(self, asked: float | None, default: float) -> float:
        if asked is None:
            return min(default, self.limit)
        if not 0 <= asked <= self.limit:
            raise ValueError(
                f"wait must be from 0 to {self.limit:g} seconds; it is {asked}. What takes longer "
                "goes on, and can be read later"
            )
        return asked

    async def _ended(self, run: Run, process: Process, seconds: float) -> bool:
        """Whether it has ended in time, its last words included; of one that is to stay, all."""
        live = run.task(_show(run, process), name="live output")
        try:
            if kept := run.jobs.of(process):
                return await kept.over_within(seconds)
            return await process.within(seconds, self._grace) is not None
        finally:
            live.cancel()

    def _goes_on(self, run: Run, process: Process, waited: float) -> str:
        job = run.job(process, grace=self._grace)
        if not job.kept:
            run.task(self._end_at_limit(job, waited), name=f"limit of {job.id}")
        return told.going_on(job, waited, process.stdout, self.output_limit)

    async def _end_at_limit(self, job: Job, waited: float) -> None:
        await asyncio.sleep(self.limit - waited)
        if job.alive:
            await job.end(why=f"as it took longer than {self.limit:g} seconds")

    # what goes on

    async def read(self, run: Run, id: str, offset: int = 0, wait: float = 0.0) -> str:
        """What a job wrote from there on; if there is nothing, wait for it, or for its end."""
        seconds, job = self._seconds(wait, 0.0), run.jobs[id]
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        piece = job.read(offset, self.output_limit)
        while not piece.text and piece.code is None and loop.time() < until:
            await asyncio.sleep(_LOOK)
            piece = job.read(offset, self.output_limit)
        return told.read(job, offset, piece)

    async def write(self, run: Run, id: str, text: str, end: bool = False) -> str:
        """Have a job read this; what it answers is read."""
        job = run.jobs[id]
        if await job.write(text.encode(errors="surrogateescape"), last=end):
            return f"[{id} has been given it; shell_read gives what it answers]"
        return f"[{id} has not read all of it yet; the rest waits for it]"

    async def signal(self, run: Run, id: str, name: str) -> str:
        """Send a job a signal, by its name or its number."""
        job, number = run.jobs[id], signal_named(name)
        if await job.signal(number):
            return f"[{number.name} was sent to {id}]"
        return f"[nothing was sent: {id} {job.standing}]"

    async def end(self, run: Run, id: str) -> str:
        """End a job, with all that it started."""
        job = run.jobs[id]
        await job.end()
        return f"[{id} {job.standing}]"


async def _show(run: Run, process: Process) -> None:
    """Tell the person what is new. Nobody waits for it: what comes too fast is cut."""
    stream, seen = process.stdout, 0
    while process.code is None and run.current:
        await asyncio.sleep(_PACE)
        total = stream.total
        if total > seen:
            await run.progress(_news(stream, total, total - seen))
            seen = total


async def _said(process: Process, most: int, say: Say) -> None:
    """Say what it writes, line by line; of what is too much, the first and the last."""
    decode, line, left = getincrementaldecoder("utf-8")(errors="replace").decode, "", most
    async for data in process.stdout:
        *lines, line = (line + decode(data[:left])).split("\n")
        left -= min(len(data), left)
        if lines:
            await say(told.plain("\n".join(lines)) + "\n")
    if line:
        await say(told.plain(line) + "\n")
    if (total := process.stdout.total) > most:
        begin = max(total - _LAST, most)
        last = process.stdout.since(begin)[1].decode(errors="replace")
        await say(f"… {begin - most:,} bytes are left out …\n{told.plain(last)}\n")


def _news(stream: Output, total: int, count: int) -> str:
    _, data = stream.since(total - min(count, _NEWS))
    text = told.plain(data[:_NEWS].decode(errors="replace"))
    return f"… {text}" if count > _NEWS else text
