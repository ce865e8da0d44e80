"""`Processes`: the one who starts the zygote, chooses the level, and makes wardens."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Literal, Self

from lastword.errors import ProcessError
from lastword.processes.cgroups import Allowance, Groups, groups
from lastword.processes.inside.wire import Message
from lastword.processes.levels import AUTO, GRACE, LEVELS, Level
from lastword.processes.nursery import Home, Lend, Nurseries, Nursery
from lastword.processes.page import PageWriter
from lastword.processes.selftest import holds
from lastword.processes.warden import Warden
from lastword.processes.zygote import NoAnswer, Zygote

_LEAST = 1.0  # seconds beyond the grace in which everything must have ended
_UNCOUNTED = 1 << 20  # what a nursery forks is counted by each run
MOST = 2048  # processes and threads that one run may have, where a limit can be set


class Processes:
    """Processes that have an owner. Usable by itself; a runtime has one of its own.

    Nothing is started before the first warden is asked for.
    """

    def __init__(
        self,
        level: Level | Literal["auto"] = AUTO,
        *,
        most: int = MOST,
        memory: int | None = None,
        cpu: float | None = None,
    ) -> None:
        if level not in (AUTO, *LEVELS):
            raise ValueError(
                f"level must be 'auto', {', '.join(map(repr, LEVELS))}; it is {level!r}"
            )
        self.level: Level | None = None  # chosen by a self-test, once
        self.why_not: dict[Level, str] = {}  # why a stricter one was not
        if not isinstance(most, int) or isinstance(most, bool) or most < 1:  # pyright: ignore[reportUnnecessaryIsInstance] - for callers that are not checked
            raise ValueError(
                f"most, how many processes a run may have, must be 1 or more: {most!r}"
            )
        self._asked: Level | Literal["auto"] = level
        self._allowance = Allowance(most, memory, cpu)
        self._groups: Groups | None = None
        self._scan = False  # look at every process, as if the kernel did not list children
        self._starting: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self._zygote: Zygote | None = None
        self._retired: list[Zygote] = []  # that see off whom they forked
        self._page: PageWriter | None = None
        self.on_zygote: Callable[[int], Awaitable[None]] = _nobody  # told before anything starts
        self.nurseries = Nurseries()
        self._wardens: set[Warden] = set()

    def __repr__(self) -> str:
        return f"<Processes level={self.level} wardens={len(self._wardens)}>"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def belong_here(self) -> None:
        """Be used on this event loop, and on no other."""
        loop = asyncio.get_running_loop()
        if self._loop not in (None, loop):
            raise RuntimeError("a process is started on the event loop that its owner belongs to")
        self._loop = loop

    def on_a_page(self) -> PageWriter:
        """Have what is started from here on held still whenever the page says so."""
        self._page = self._page or PageWriter()
        return self._page

    async def start(self) -> Level:
        """Start the zygote and choose the level, unless that has been done."""
        self.belong_here()
        if self._closed:
            raise ProcessError("these processes have been closed; nothing is started any more")
        while self.level is None or self._zygote is None or not self._zygote.alive:
            if self._starting is None or self._starting.done():
                # a task of its own: whoever asked first may be the first to give up
                work = self._start()
                self._starting = asyncio.Task(work, name="lastword processes")
                self._starting.add_done_callback(lambda t: t.cancelled() or t.exception())
            await asyncio.shield(self._starting)
        return self.level

    async def _start(self) -> None:
        if self.level is None:
            self.level = await self._choose()
        else:
            for one in (*self._retired, self._zygote):
                if one and not (one.retired and one.busy):  # it was killed, or has no more to do
                    await one.close()
            self._retired = [z for z in (*self._retired, self._zygote) if z and z.busy]
            self._zygote = await self._start_zygote(self.level)

    async def warden(self, nursery: Nursery | None = None) -> Warden:
        """A warden, ready to start something; in which all is there that a nursery has."""
        level = await self.start()
        try:
            return await self._warden(level, nursery)
        except ProcessError:
            forking = nursery or self._zygote
            if forking is None or not forking.retired:
                raise
        return await self._warden(await self.start())  # of another zygote

    async def nursery(self, home: Home, order: Message, lend: Lend) -> Nursery | None:
        """One that has imported what is called, for wardens to be forks of; None if there is none.

        Its own warden is lent until it has, so that a stop ends it too.
        """
        level = await self.start()
        if level == "group" or not home.modules:
            return None
        return await self.nurseries.of(home, partial(self._raise, level, home, order, lend))

    async def _raise(self, level: Level, home: Home, order: Message, lend: Lend) -> Nursery:
        # not sealed: what it forks is called by the numbers that a person outside would use
        keeper = await self._warden("tree" if level == "sealed" else level, most=_UNCOUNTED)
        keeper.alone = True
        try:
            give_back = lend(keeper)
            nursery = Nursery(keeper, self._page)
            await nursery.begin(home, order, scan=self._scan)
        except BaseException:
            keeper.stop(0)
            raise
        give_back()
        return nursery

    async def close(self, grace: float = GRACE) -> list[str]:
        """End everything that is still kept, in bounded time; what could not be ended, by name."""
        self._closed = True
        if self._starting:
            self._starting.cancel()
            await asyncio.wait([self._starting])
        self.nurseries.leave()
        endings = [warden.stop(grace) for warden in self._wardens]
        if endings:
            await asyncio.wait(endings, timeout=grace + _LEAST)
        left = [f"{kin.pid} {kin.name}" for warden in self._wardens for kin in warden.living()]
        for warden in tuple(self._wardens):
            warden.hang_up()
        for zygote in (*self._retired, self._zygote):
            if zygote:
                await zygote.close()
        self._retired, self._zygote = [], None
        if self._groups:
            self._groups.close()
        if self._page:
            self._page.close()
        return left

    async def _choose(self) -> Level:
        candidates = _candidates(self._asked, self._allowance)
        for level in candidates:
            try:
                await self._use_zygote(level)
                self._groups = groups(self._allowance) if level == "cgroup" else None
                warden = await self._warden(level)
                if level == "group" or await holds(warden):
                    await warden.stop(0)
                    return level
                self.why_not[level] = "an escape artist got away in the self-test"
            except NoAnswer as error:
                self.why_not[level] = str(error)
                break
            except (ProcessError, TimeoutError) as error:
                self.why_not[level] = str(error) or "the self-test did not end in time"
        if self._zygote:
            await self._zygote.close()
            self._zygote = None
        tried = "; ".join(f"{level}: {why}" for level, why in self.why_not.items())
        raise ProcessError(f"processes cannot be held here as asked ({tried})")

    async def _use_zygote(self, level: Level) -> None:
        adopt = level != "group"
        if self._zygote is None or not self._zygote.alive or self._zygote.adopts != adopt:
            if self._zygote:
                await self._zygote.close()
            self._zygote = await self._start_zygote(level)

    async def _start_zygote(self, level: Level) -> Zygote:
        zygote = Zygote(adopt=level != "group", scan=self._scan, page=self._page)
        try:
            await zygote.ready()
            await self.on_zygote(zygote.pid)
        except BaseException:
            await zygote.close()
            raise
        return zygote

    async def _warden(
        self, level: Level, nursery: Nursery | None = None, most: int | None = None
    ) -> Warden:
        if self._zygote is None:
            raise ProcessError("these processes have been closed")
        group = self._groups.new() if self._groups else None
        most, scan = most or self._allowance.most, self._scan
        try:
            warden = Warden(nursery or self._zygote, level, most=most, scan=scan, group=group)
        except OSError as error:  # no descriptor is left, or its group is closed
            raise ProcessError(f"no warden at level {level}: {error}") from error
        self._wardens.add(warden)
        warden.when_over(lambda: self._wardens.discard(warden))
        try:
            await warden.ready()
        except BaseException:
            warden.stop(0)
            raise
        return warden


async def _nobody(pid: int) -> None: ...


def _candidates(asked: Level | Literal["auto"], allowance: Allowance) -> tuple[Level, ...]:
    if asked != AUTO:
        return (asked,)
    if allowance.needed:
        return ("cgroup",)
    # files of others look like nobody's in a user namespace, so an ordinary user has to ask for it
    return LEVELS if os.geteuid() == 0 else LEVELS[1:]
