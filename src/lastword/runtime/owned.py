"""The processes of one run, and those that were declared `keep`, which are its session's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from lastword.core.model import RunId
from lastword.core.receipt import ProcessReport, Unconfirmed
from lastword.processes import Process, Processes, Warden
from lastword.processes.command import Command
from lastword.processes.isolated import call
from lastword.runtime.hold import Effect, Hold

_STATES = {"R": "running", "S": "sleeping", "D": "cannot be interrupted", "T": "stopped"}


class Kept:
    """A process that outlives its run because that was said when it was started."""

    def __init__(self, run: RunId, process: Process, warden: Warden, grace: float) -> None:
        self.run = run  # that started it
        self._process = process
        self._warden = warden
        self._grace = grace

    def __repr__(self) -> str:
        return f"<Kept {self.pid} {self.command!r} by {self.run}>"

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def command(self) -> str:
        return self._process.command

    @property
    def output(self) -> str:
        """What it has written so far, the middle cut if it is long. It enters no turn by itself."""
        return self._process.stdout.for_the_owner()

    @property
    def alive(self) -> bool:
        """Whether it, or something it started, is still there."""
        return not self._warden.over

    async def end(self, grace: float | None = None) -> None:
        """End it, with all that it started; returns when none is left."""
        await asyncio.shield(self._warden.stop(self._grace if grace is None else grace))

    @property
    def report(self) -> ProcessReport:
        return ProcessReport(self.pid, self.command, "kept")


class Owned:
    """What a run started. Nothing is, not even a warden, before the first is asked for."""

    def __init__(
        self,
        processes: Processes,
        hold: Hold,
        kept: list[Kept],
        clear: Callable[[], Awaitable[None] | None],
    ) -> None:
        self._processes = processes
        self._hold = hold
        self._kept = kept
        self._clear = clear
        self._wardens: list[Warden] = []
        self._opening = asyncio.Lock()
        self._grace = 0.0  # the longest that any of them was given
        self._ended = False

    async def clear(self) -> None:
        """Return when no process of an earlier run is left, or its stop has had its time."""
        if (waiting := self._clear()) is not None:
            await waiting

    async def spawn(self, command: Command, *, grace: float, keep: bool = False) -> Process:
        """Start a program, unless the run has lost its session by the step that would."""
        await self._may_begin(f"start of {command.name}")
        if not keep:
            warden = await self._warden(grace)
            return await self._start(warden, command)
        warden = await self._processes.warden()
        try:
            process = await self._start(warden, command)
        except BaseException:
            warden.stop(0)
            raise
        warden.alone = True
        if not warden.over:
            kept = Kept(self._hold.run, process, warden, grace)
            self._kept.append(kept)
            warden.when_over(lambda: self._kept.remove(kept))
        return process

    async def call(
        self, tool: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str
    ) -> Any:  # noqa: ANN401 - whatever the tool gives
        """Call a function in a process of its own."""
        warden = await self._warden(0.0)
        return await call(
            warden,
            tool,
            args,
            kwargs,
            name=name,
            may_start=self._begin,
            may_act=self._hold.must_hold,
        )

    async def _may_begin(self, what: str) -> None:
        if not self._hold.current:
            await asyncio.sleep(0)  # a loop of refused starts must not stall the event loop
            self._hold.drop()
            self._hold.must_hold(what)
        await self.clear()

    async def _start(self, warden: Warden, command: Command) -> Process:
        return await warden.spawn(command, may_start=self._begin, may_act=self._hold.must_hold)

    def _begin(self, name: str) -> None:
        """The last check; from here on the warden has it, and a stop ends it there."""
        effect = Effect("process", name)
        if not self._hold.begin(effect, ("process", name, None)):
            self._hold.drop()
            self._hold.must_hold(f"start of {name}")
        self._hold.finish(effect)

    async def _warden(self, grace: float) -> Warden:
        self._grace = max(self._grace, grace)
        async with self._opening:
            if not self._wardens or not self._wardens[-1].open:
                warden = await self._processes.warden()
                self._wardens.append(warden)
                if self._ended:  # a stop came meanwhile, and has found nothing to end
                    warden.stop(0)
            return self._wardens[-1]

    # for whoever ends the run

    @property
    def any(self) -> bool:
        """Whether there may be something to end."""
        return not all(warden.over for warden in self._wardens)

    def end(self) -> None:
        """Let nothing start any more, and end what was started. Nothing is waited for."""
        self._ended = True
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
            else:
                found += [ProcessReport(k.pid, k.name, "unconfirmed") for k in warden.living()]
        return tuple(found)

    @property
    def unconfirmed(self) -> list[Unconfirmed]:
        """Those that have not ended, or of which nobody can tell."""
        left: list[str] = []
        for warden in self._wardens:
            if ending := warden.ending:
                left += [p.command for p in ending.processes if p.fate == "unconfirmed"]
                if not ending.proven and not ending.processes:
                    left.append("whatever it had started: the warden and the zygote were killed")
            else:
                states = ((k, _STATES.get(k.state, k.state)) for k in warden.living())
                left += [f"{kin.pid} {kin.name} ({state})" for kin, state in states]
        return [Unconfirmed("process", name) for name in left]
