"""The processes of one run, and those that were declared `keep`, which are its session's.

None is without an owner. Each ends with its run, unless it was declared; and what has not ended is
named as the kernel has it, not as it says of itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Protocol

from lastword.core.model import RunId
from lastword.core.receipt import ProcessNews, ProcessReport, Unconfirmed
from lastword.processes import Process, Processes, Warden, WardenEnd
from lastword.processes.command import Command
from lastword.processes.isolated import Prepared, make
from lastword.processes.nursery import Home, Nursery
from lastword.processes.process import in_words
from lastword.processes.served import Served
from lastword.runtime.announcer import Announcer
from lastword.runtime.asking import running
from lastword.runtime.hold import Effect, Hold
from lastword.runtime.jobs import Job, Jobs

_LEAVE = 0.1  # seconds in which what was declared `leave` may end by itself
_STATES = {
    "R": "running",
    "S": "sleeping",
    "D": "cannot be interrupted",
    "T": "stopped",
    "t": "stopped by who traces it",
    "Z": "its first thread has ended, and others have not",
}


class Kept(Job):
    """A process that outlives its run because that was said when it was started."""

    kept = True

    def __init__(
        self,
        id: str,
        run: RunId,
        by: str,
        process: Process,
        warden: Warden,
        grace: float,
        started_at: float,
    ) -> None:
        super().__init__(id, run, by, process, grace, started_at)
        self._warden = warden

    @property
    def alive(self) -> bool:
        """Whether it, or something it started, is still there."""
        return not self._warden.over

    @property
    def ending(self) -> str:
        """How it ended; its first process may have, and what that started not."""
        if self.alive and self.code is not None:
            how = in_words(self.code)
            return f"its first process has ended ({how}), and what it left is still there"
        return super().ending

    def when_over(self, act: Callable[[], object]) -> None:
        self._warden.when_over(act)

    def _end(self, grace: float) -> Awaitable[object]:
        return asyncio.shield(self._warden.stop(grace))

    async def over_within(self, seconds: float) -> bool:
        return await self._warden.over_within(seconds)

    @property
    def dying(self) -> bool:
        """Whether somebody has asked for its end, and it has not come yet."""
        return self._warden.stopping and not self._warden.over

    async def gone(self) -> None:
        """Return when nothing of it is left."""
        await asyncio.wait([self._warden.stop(self._grace)])

    @property
    def reports(self) -> tuple[ProcessReport, ...]:
        """It; or, if its first process has ended, whoever that left."""
        if self._warden.over or self.dying:
            return (self.fate_if_ended,)
        if self.code is None:
            return (ProcessReport(self.pid, self.command, "kept"),)
        left = [(kin.pid, f"{kin.name}, left by {self.command}") for kin in self._warden.living()]
        return tuple(ProcessReport(*one, "kept") for one in left)

    @property
    def fate_if_ended(self) -> ProcessReport:
        """What became of it, if it was to end."""
        ending = self._warden.ending
        if ending is None or not ending.proven:
            return ProcessReport(self.pid, self.command, "unconfirmed")
        here = [report for report in ending.processes if report.pid == self.pid]
        return here[0] if here else ProcessReport(self.pid, self.command, "ended")

    @property
    def unconfirmed(self) -> list[Unconfirmed]:
        """It, if nobody can tell any more what became of it, or not yet."""
        ending = self._warden.ending
        if self.dying:
            return [Unconfirmed("process", f"{self.pid} {self.command}, which is being ended")]
        if ending is None or ending.proven:
            return []
        name = f"{self.pid} {self.command}, which may live on: {ending.why}"
        return [Unconfirmed("process", name)]


class Wardens(list[Warden]):
    """Of what one run has started."""

    closed = False  # all of them are being ended, and there will be no more
    isolated = False  # the run itself is in one of them, and nobody leaves that


class StartingRun(Protocol):
    """A run that starts processes."""

    hold: Hold
    wardens: Wardens

    @property
    def by(self) -> str:
        """Whose it is."""
        ...


class Owned:
    """What a run started. It is made, and a warden with it, when the first is asked for."""

    def __init__(
        self,
        processes: Processes,
        run: StartingRun,
        kept: list[Kept],
        jobs: Jobs,
        clear: Callable[[], Awaitable[None] | None],
        news: Announcer,
    ) -> None:
        self._processes = processes
        self._run = run
        self._hold = run.hold
        self._wardens = run.wardens
        self._kept = kept
        self.jobs = jobs
        self._clear = clear
        self._news = news
        self._shared: Warden | None = None  # the one that all but kept processes are started in
        self._opening = asyncio.Lock()
        self._callers: dict[Home, Warden] = {}  # those that calls are made in
        self._importing = asyncio.Lock()
        self._adopted: dict[Warden, Served] = {}
        self._grace = 0.0  # the longest that any of them was given

    async def clear(self) -> None:
        """Return when no process of an earlier run is left, or its stop has had its time."""
        if (waiting := self._clear()) is not None:
            await waiting

    async def spawn(
        self, command: Command, *, grace: float, on_stop: Literal["end", "leave", "keep"] = "end"
    ) -> Process:
        """Start a program, unless the run has lost its session by the step that would."""
        await self._may_begin(f"start of {command.name}")
        if on_stop == "end":
            warden = await self._warden(grace)
            return await self._start(warden, command)
        warden = await self._new_warden()  # the run's, until it is known to have started
        warden.alone = True
        if on_stop == "leave":
            self._grace = max(self._grace, grace)
            warden.leave = _LEAVE
            return await self._start(warden, command)
        id_ = self.jobs.new_id(self._hold.generation)
        try:
            process = await self._start(warden, command, job=id_)
            self._hold.must_hold(f"keeping of {command.name}")
        except BaseException:
            warden.stop(0)
            raise
        self._wardens.remove(warden)
        if not warden.over:
            started_at = self._news.started_at(id_)
            kept = Kept(id_, self._hold.run, self._run.by, process, warden, grace, started_at)
            self._kept.append(kept)
            self.jobs.add(kept)
            warden.when_over(partial(_forget, self._kept, kept, warden))
        return process

    async def serve(self, command: Command, *, grace: float) -> Process:
        """The same for what only serves another call: it is told of only where a stop ends it."""
        await self._may_begin(f"start of {command.name}")
        warden = await self._warden(grace)
        await self._hold.steady()
        begin = partial(self._begin, told=False)
        return await warden.spawn(command, may_start=begin, may_act=self._hold.must_hold)

    def job(self, process: Process, grace: float) -> Job:
        """Give it an id by which the model knows it, and is told of its end."""
        job = self.jobs.of(process)
        if job is None:
            id_, run = self.jobs.new_id(self._hold.generation), self._hold.run
            began = self._news.started_at(process.pid)
            job = Job(id_, run, self._run.by, process, grace, began)
            self.jobs.add(job)
            named = ProcessNews(run, process.pid, process.command, "named", job=job.id)
            self._news.process(replace(named, takes_input=job.takes_input))
        if not job.known:
            job.known = True
            job.tell = partial(self._news.ended, job)
            if job.kept:
                self._news.goes_on(job)
            job.when_over(lambda: self._has_ended(job))
        return job

    def _has_ended(self, job: Job) -> None:
        if not job.ended_by and not job.kept and not self._hold.current:
            job.ended_by = "with the answer that started it"
        job.has_ended()

    async def call(self, work: Prepared) -> Any:  # noqa: ANN401 - whatever the tool gives
        """Make a prepared call of a function, in a process of its own."""
        warden = await self._warden_for(work)
        may_act = self._hold.must_hold
        await self._hold.steady()
        return await make(warden, work, may_start=self._begin, may_act=may_act)

    async def _may_begin(self, what: str) -> None:
        if not self._hold.granted:
            await asyncio.sleep(0)  # a loop of refused starts must not stall the event loop
            self._hold.drop(what)
            self._hold.must_hold(what)
        await self.clear()

    async def _start(self, warden: Warden, command: Command, *, job: str = "") -> Process:
        begin, act = self._begin, self._hold.must_hold
        await self._hold.steady()
        process = await warden.spawn(command, may_start=begin, may_act=act)
        started = ProcessNews(
            self._hold.run,
            process.pid,
            command.name,
            "started",
            kept=bool(job),
            job=job,
            takes_input=process.stdin is not None,
        )
        tell = self._news.process
        tell(started)
        ended = replace(started, state="ended")
        if job:  # what its first process leaves is part of it
            warden.when_over(lambda: tell(replace(ended, code=process.code)))
        else:
            process.when_ended(lambda code: tell(replace(ended, code=code)))
        return process

    def _begin(self, name: str, *, told: bool = True) -> None:
        """The last check; from here on the warden has it, and a stop ends it there."""
        effect = Effect("process", name)
        starting = ProcessNews(self._hold.run, -1, name, "starting") if told else None
        if not self._hold.begin(effect, starting):
            self._hold.drop(f"start of {name}")
            self._hold.must_hold(f"start of {name}")
        self._hold.finish(effect)

    async def _warden(self, grace: float) -> Warden:
        self._grace = max(self._grace, grace)
        async with self._opening:
            if self._shared is None or not self._shared.open:
                self._shared = await self._new_warden()
            return self._shared

    async def _warden_for(self, work: Prepared) -> Warden:
        """One in which what is called is there already, if that can be."""
        async with self._importing:
            if self._wardens.closed:
                self._hold.must_hold("start of a process")
            nursery = await self._processes.nursery(work.home, work.command.order, self._lend)
            # apart from commands, also without one: what a worker says is read by the host
            warden = self._callers.get(work.home)
            if warden is None or not warden.open:
                warden = self._callers[work.home] = await self._new_warden(nursery)
            return warden

    def _lend(self, keeper: Warden) -> Callable[[], None]:
        """Whoever imports for this run is ended with it, until it has: then it is everybody's."""
        if self._wardens.closed:
            self._hold.must_hold("start of a process")
        self._wardens.append(keeper)
        return lambda: None if self._wardens.closed else self._wardens.remove(keeper)

    async def _new_warden(self, nursery: Nursery | None = None) -> Warden:
        if self._wardens.closed:
            self._hold.must_hold("start of a process")
        warden = await self._processes.warden(nursery)
        if self._wardens.closed:  # a stop came meanwhile, and has found nothing to end
            warden.stop(0)
            self._hold.must_hold("start of a process")
        self._wardens.append(warden)
        return warden

    def adopt(self, warden: Warden, who: Served, grace: float) -> None:
        """One that was there before the run is the run's, as if it had been made for it; and who
        is in it is named by what ends the run, also if that has left by itself first."""
        self._adopted[warden] = who
        self._grace = max(self._grace, grace)
        warden.leave = _LEAVE
        self._wardens.append(warden)
        self._wardens.isolated = warden.level != "group"  # which whoever leaves it outlives

    def let_go(self, warden: Warden) -> None:
        """It is no longer the run's."""
        self._wardens.remove(warden)
        del self._adopted[warden]

    # for whoever ends the run

    def end(self) -> None:
        """End what was started. Nothing is waited for."""
        for warden in self._wardens:
            warden.stop(self._grace)

    def end_from_any_thread(self) -> None:
        """Have them end although the event loop is stalled; `end` has to follow."""
        for warden in tuple(self._wardens):
            warden.stop_from_any_thread(self._grace)

    async def gone(self) -> None:
        """Return when none is left."""
        while left := [warden.stop(self._grace) for warden in self._wardens if not warden.over]:
            await asyncio.wait(left)

    @property
    def reports(self) -> tuple[ProcessReport, ...]:
        """What a stop found, and what became of it."""
        found: list[ProcessReport] = []
        for warden in self._wardens:
            if ending := warden.ending:
                found += ending.processes
                found += self._left_by_itself(warden, ending)
            else:
                found += [ProcessReport(k.pid, k.name, "unconfirmed") for k in warden.living()]
        return tuple(found)

    def _left_by_itself(self, warden: Warden, ending: WardenEnd) -> list[ProcessReport]:
        who = self._adopted.get(warden)
        if who is None or who.pid in {report.pid for report in ending.processes}:
            return []
        return [ProcessReport(who.pid, who.command, "ended")]

    @property
    def unconfirmed(self) -> list[Unconfirmed]:
        """Those that have not ended, or of which nobody can tell."""
        left: list[str] = []
        for warden in self._wardens:
            if ending := warden.ending:
                left += [
                    f"{p.pid} {p.command}, which may live on: {ending.why}"
                    for p in ending.processes
                    if p.fate == "unconfirmed"
                ]
                if not ending.proven and not ending.processes:
                    left.append("whatever it had started: the warden and the zygote were killed")
            else:
                states = [(k, _STATES.get(k.state, k.state)) for k in warden.living()]
                left += [f"{kin.pid} {kin.name} ({state})" for kin, state in states]
                left += [] if states else ["whatever is left: nobody has said yet that none is"]
        return [Unconfirmed("process", name) for name in left]


def _forget(kept: list[Kept], one: Kept, warden: Warden) -> None:
    """It has ended, and is listed no longer; unless nobody can tell."""
    if warden.ending and warden.ending.proven and one in kept:
        kept.remove(one)


def kill_all(kept: Iterable[Kept]) -> None:
    """Another process has their session; nothing is waited for."""
    for one in kept:
        one._warden.stop(0)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - of this room


async def end_all(kept: Iterable[Kept], seconds: float | None = None) -> None:
    """End them with their session, whoever ended that; wait for it, at most so long."""
    running.set(None)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.gather(*(one.end() for one in kept))
