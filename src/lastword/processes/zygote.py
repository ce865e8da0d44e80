"""The host's handle on the zygote, which is started once and forks the wardens."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

from lastword.errors import ProcessError
from lastword.processes.cgroups import Group
from lastword.processes.channel import Channel
from lastword.processes.inside.family import Relative
from lastword.processes.inside.wire import Message
from lastword.processes.page import PageWriter
from lastword.processes.seen import Identity, theirs

_HERE = os.path.dirname(__file__)  # noqa: PTH120 - pathlib is slow to import
_BOOT = (  # found by path: importing lastword there would cost more than all it does
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from inside.zygote import main; "
    "sys.path.pop(0); main()"
)
# What Python needs to start, and to read names as the host does. Nothing else of the host's: what a
# process was started with, others of its user can read, as long as it or a fork of it lives.
_NEEDED = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LC_ALL", "LC_CTYPE", "LANG")
_SECONDS_TO_START = 10.0
_SECONDS_TO_LEAVE = 2.0


class NoAnswer(ProcessError):
    """The zygote started and said nothing: no level can be had with it."""


class KeptWarden(Protocol):
    """A warden that it forked, as its host has it."""

    @property
    def told(self) -> bool | None:
        """Whether it had told of its end when it left, or had not begun; None while it is there."""
        ...

    def looked_for(self, remain: tuple[Relative, ...] | None) -> None:
        """The zygote has looked for whoever it left, and these it could not end; None: the zygote
        itself has gone."""
        ...

    def known(self) -> Iterable[Identity]:
        """Whoever was seen of it until now."""
        ...


class Zygote:
    """A small process that only forks. Started by exec, so that it has nothing of the host's."""

    def __init__(self, *, adopt: bool, scan: bool, page: PageWriter | None = None) -> None:
        self.adopts = adopt  # orphans come to it, and are ended
        self.retired = False  # it forks no more, and sees off those whom it forked
        loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[None] = loop.create_future()
        self._kept: dict[int, KeptWarden] = {}
        self._survivors: dict[Identity, int] = {}  # and of which warden they were
        self._page = page
        self._wardens = 0
        if not sys.executable:
            raise ProcessError("no Python to start: sys.executable is empty in this program")
        page_fd = page.fd if page else -1
        asked = {"host": os.getpid(), "adopt": adopt, "scan": scan, "page": page_fd}
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = subprocess.Popen(  # noqa: S603 - our own program
                    [sys.executable, "-I", "-S", "-c", _BOOT, _HERE, json.dumps(asked)],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env={name: os.environ[name] for name in _NEEDED if name in os.environ},
                    pass_fds=(page_fd,) if page else (),
                    start_new_session=True,  # the terminal's Ctrl-C is the host's to answer
                )
            except OSError as error:
                ours.close()
                raise ProcessError(f"{sys.executable} could not be started: {error}") from error
        self.pid = self._process.pid
        self._channel = Channel(ours, self._hear, self._ended)

    @property
    def alive(self) -> bool:
        """Whether it can fork another warden."""
        return self._channel.open and not self.retired

    async def ready(self) -> None:
        """Return once it answers."""
        try:
            async with asyncio.timeout(_SECONDS_TO_START):
                await asyncio.shield(self._ready)
        except TimeoutError:
            raise NoAnswer("the zygote could not start: no answer in time") from None

    def fork(
        self,
        order: Message,
        end: socket.socket,
        group: Group | None,
        kept: KeptWarden,
    ) -> int:
        """Have it fork a warden, to talk over this end; its id here."""
        self._wardens += 1
        self._kept[self._wardens] = kept
        doors = [group.door()] if group else []
        try:
            self._channel.send({"warden": self._wardens, **order}, (end.fileno(), *doors))
        finally:
            for door in doors:
                os.close(door)
        return self._wardens

    def struck(self, warden: int) -> None:
        """A warden was killed, or has gone without a word: have it looked for."""
        if warden in self._kept:
            self._channel.send({"struck": warden})
            self.wake()

    def wake(self) -> None:
        """Have it go on, should somebody have stopped it."""
        self._signal(signal.SIGCONT)

    @property
    def busy(self) -> bool:
        """Whether it has somebody to see off."""
        return bool(self._kept)

    @property
    def heard(self) -> float:
        """When it last said something."""
        return self._channel.heard

    @property
    def may_act(self) -> bool:
        """Whether what was asked for is not kept back until the host may act again."""
        return self._page is None or self._page.good

    def _signal(self, number: int) -> None:
        if self._process.poll() is None:  # our child, not reaped: its number is nobody else's
            with suppress(OSError):
                self._process.send_signal(number)

    def _hear(self, message: Message, _: list[int]) -> None:
        match message:
            case {"ready": _}:
                if not self._ready.done():
                    self._ready.set_result(None)
            case {"gone": id_, "left": left}:
                self._gone(id_, [_kin(*one) for one in left])
            case {"failed": 0, "why": why}:
                self._fail(str(why))
            case {"unfit": id_}:  # somebody has taken from it what a keeper needs
                self.retired = True
                self._kept.pop(id_).looked_for(())
            case {"failed": id_}:
                self._kept.pop(id_).looked_for(())
            case _:
                pass

    def _gone(self, id_: int, left: list[Relative]) -> None:
        """Those who live on came with every warden that went in the same moment: each is named by
        the one that had seen it."""
        if left:
            known = {who: one for one, kept in list(self._kept.items()) for who in kept.known()}
            alone = self._kept.keys() == {id_} and not self._survivors
            found = theirs(id_, left, known | self._survivors, alone=alone)
            self._survivors |= dict.fromkeys(found.keys() & known.keys(), id_)
            left = list(found.values())
        self._kept.pop(id_).looked_for(tuple(left))

    def _fail(self, why: str) -> None:
        if not self._ready.done():
            self._ready.set_exception(ProcessError(f"the zygote could not start: {why}"))
            self._ready.exception()  # whoever waits is told; if nobody does, it is no news

    def _ended(self) -> None:
        self._fail("it ended at once")
        self._process.poll()
        while self._kept:
            self._kept.popitem()[1].looked_for(None)

    async def close(self) -> None:
        """Let it leave, and see that it has; what cannot be ended keeps it, but not us."""
        self._channel.close()
        self.wake()
        if not self._ready.done() or self._ready.exception():
            self._process.kill()  # it never answered, and may not know that it is to leave
        loop = asyncio.get_running_loop()
        until = loop.time() + _SECONDS_TO_LEAVE
        pause = 0.001
        while self._process.poll() is None and loop.time() < until:
            await asyncio.sleep(pause)
            pause = min(2 * pause, 0.05)


def _kin(pid: int, name: str, owner: int, start: int, parent: int) -> Relative:
    return Relative(pid, name, "", parent, 0, start, owner)
