"""The host's handle on nurseries: what isolated tools are found in is imported once, not each time.

One for each module that tools are called from, or for the script; it is made at the first call,
and stays. Until it has imported, it belongs to whoever asked first, and ends with that run. It is
kept by a warden of its own, to which those that it forked come should it be killed: they go on, and
the next call has another. Of who ends by itself then, the account is believed; for who does not,
all that are left are ended.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from lastword.core.value import value
from lastword.errors import ProcessError
from lastword.processes.channel import Channel
from lastword.processes.inside.family import Relative
from lastword.processes.page import PageWriter
from lastword.processes.plumbing import our_stderr
from lastword.processes.warden import Warden
from lastword.processes.zygote import Zygote

_MOST = 16  # modules that have one
log = logging.getLogger("lastword")


@value
class Home:
    """What has to be imported before a call can be made."""

    modules: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # in which this program has found them
    main: tuple[str, str] = ("", "")  # its script: the module's name, and the file

    def __str__(self) -> str:
        return self.main[1] or self.modules[-1]


class Unfit(ProcessError):
    """It cannot be imported before a fork; the reason is its text."""


class Unfinished(ProcessError):
    """It has ended before it had imported: by that, or by a stop. So nothing is known of it."""


Lend: TypeAlias = Callable[[Warden], Callable[[], None]]
"""Told of a warden that is theirs until they are called back."""


class Nursery(Zygote):
    """A zygote that is a process of a warden, and has imported something."""

    def __init__(self, keeper: Warden, page: PageWriter | None) -> None:
        self.adopts = True
        self.retired = False
        self.pid = -1
        self._keeper = keeper
        self._id = 0
        self._page = page
        self._ready = asyncio.get_running_loop().create_future()
        self._kept = {}
        self._survivors = {}
        self._wardens = 0
        self._killed = False
        ours, self._theirs = socket.socketpair()
        self._channel = Channel(ours, self._hear, self._ended)
        keeper.when_over(self._told_by_its_keeper)

    async def begin(self, home: Home, order: dict[str, Any], *, scan: bool) -> None:
        """Import; raises `Unfit` if that, or what it did, is not fit for forks."""
        asked = {"modules": home.modules, "files": home.files, "main": home.main, "scan": scan}
        page = (self._page.fd,) if self._page else ()
        host, errors = os.pidfd_open(os.getpid()), our_stderr()
        try:
            with self._theirs:
                fds = (self._theirs.fileno(), host, errors, *page)
                self._id = await self._keeper.begin({**order, **asked, "start": "nursery"}, fds)
            await asyncio.shield(self._ready)  # however long it takes
        except BaseException:
            self.leave()
            raise
        finally:
            os.close(host)
            os.close(errors)

    def leave(self) -> None:
        """No more is asked of it: it goes with the last warden that it forked."""
        self._channel.close()

    def retire(self) -> None:
        """It forks no more, and leaves when all that it forked have been seen off."""
        self.retired = True
        if not self._kept:
            self.leave()

    def _gone(self, id_: int, left: list[Relative]) -> None:
        super()._gone(id_, left)
        if self.retired and not self._kept:
            asyncio.get_running_loop().call_soon(self.leave)

    def _signal(self, number: int) -> None:
        self._keeper.wake()  # by whom it is sent
        self._keeper.signal(self._id, number)

    def _fail(self, why: str) -> None:
        self._refuse(Unfit(why))

    def _refuse(self, error: ProcessError) -> None:
        if not self._ready.done():
            self._ready.set_exception(error)
            self._ready.exception()  # whoever waits is told; if nobody does, it is no news

    def struck(self, warden: int) -> None:
        if self._killed:
            self._look_for(warden)
        else:
            super().struck(warden)

    def _ended(self) -> None:
        """Whom it leaves are its keeper's, which leaves with the last of them."""
        self._refuse(Unfinished("it ended while it was importing"))
        self._killed = True
        for warden in tuple(self._kept):
            self._look_for(warden)
        if not self._kept:
            self._keeper.stop(0)

    def _look_for(self, warden: int) -> None:
        """Nobody looks for whom that one left, but it may have told of itself. If it has not, its
        keeper ends them all, and then can tell of each."""
        if (kept := self._kept.get(warden)) is None or kept.told is None:
            return
        if kept.told:
            self._kept.pop(warden).looked_for(None)
        else:
            self._keeper.stop(0)

    def _told_by_its_keeper(self) -> None:
        ending = self._keeper.ending
        while self._kept:
            self._kept.popitem()[1].looked_for(() if ending and ending.proven else None)


class Nurseries:
    """Those of one `Processes`."""

    def __init__(self) -> None:
        self.unfit: dict[Home, str] = {}  # what is imported in each worker, and why
        self._known: dict[Home, Nursery] = {}
        self._ages: defaultdict[Home, int] = defaultdict(int)  # how often it was to be new
        self._turn: defaultdict[Home, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def of(self, home: Home, raised: Callable[[], Awaitable[Nursery]]) -> Nursery | None:
        """The one that has imported this; None if there can be none."""
        async with self._turn[home]:
            known = self._known.get(home)
            if known and known.alive:
                return known
            if home in self.unfit or (known is None and len(self._known) >= _MOST):
                return None
            try:
                age = self._ages[home]
                nursery = await raised()
                while age < self._ages[home]:  # it may have imported what was there before
                    nursery.retire()
                    age = self._ages[home]
                    nursery = await raised()
                self._known[home] = nursery
            except Unfit as error:
                self.unfit[home] = str(error)
                log.warning("what is isolated of %s is slow to start: %s", home, error)
                return None
            except Unfinished:
                return None
            return self._known[home]

    def renew(self, home: Home) -> None:
        """Have this imported again for whoever asks next; what is forked already goes on."""
        self._ages[home] += 1
        self.unfit.pop(home, None)
        if known := self._known.pop(home, None):
            known.retire()

    def leave(self) -> None:
        for nursery in self._known.values():
            nursery.leave()
