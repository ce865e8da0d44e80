"""One run's process, as its host has it: a warden, the process in it, the line, the page.

It is started before anybody knows whose it will be. Once it is a run's, it ends with that run: it
is asked to, and if it has not said in a quarter of a second that it heard, nobody is there to be
polite to, and it is killed.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import signal
import socket
from typing import Any

from lastword.engines.isolated.line import (
    DROPPED,
    HEARD,
    MESSAGE,
    WORDS,
    WORDS_SOON,
    LineFrame,
    Nonsense,
    RunLine,
)
from lastword.engines.isolated.shapes import dropped_in
from lastword.errors import EngineFailed, ProcessError, WorkerDied
from lastword.processes import ProcessLimits, Warden
from lastword.processes.page import MayAct
from lastword.processes.served import Served, serve
from lastword.runtime.adopting import Adopted

INSIDE = "lastword.engines.isolated.inside.main"
_HEAR = 0.25  # seconds in which a process that is asked to stop has to say that it has heard
_SAYS_MORE = frozenset((WORDS, WORDS_SOON, DROPPED))
_MOST_LATE = 2000  # that are counted
_TELL = 1.0  # seconds in which it is known how a process has ended


class RunWorker:
    """One process, for one run."""

    line: RunLine

    def __init__(self, warden: Warden, name: str) -> None:
        self.warden = warden
        self.page = MayAct()
        self._name = name
        self._heard = False
        self.runs = 0  # that it was given
        self._id = 0  # by which its warden knows it
        self.taken = False  # somebody reads to the end what it says
        self._skipping = False
        self._late = 0  # frames of what it had no right to any more
        loop = asyncio.get_running_loop()
        self._code: asyncio.Future[int | None] = loop.create_future()
        self.served = Served(f"isolated run of {name}", self._has_ended)
        warden.alone = True
        warden.when_over(self._is_over)

    def __repr__(self) -> str:
        return f"<RunWorker {self.served.pid} {self._name}>"

    async def start(self, limits: ProcessLimits | None) -> None:
        """Start it, and return when it has its engine. Raises what keeps it from that."""
        ours, theirs = socket.socketpair()
        self.line = RunLine(ours)
        fds = theirs.fileno(), self.page.fd
        with theirs:
            told = {"engine": self._name}
            self._id = await serve(self.warden, INSIDE, told, fds, self.served, limits)
        self.page.handed_over()
        try:
            match json.loads((await self.line.next()).body):
                case ["ready"]:
                    return
                case ["unready", str(kind), str(why), str(trace)]:
                    error = EngineFailed(f"the engine {self._name} cannot be had: {kind}: {why}")
                    error.add_note(f"In its process:\n{trace}")
                    raise error
                case _:
                    raise ProcessError(f"the process of {self._name} began with nonsense")
        except EOFError:
            raise await self.death("before it was ready") from None
        except (ValueError, RecursionError, Nonsense):
            raise ProcessError(f"the process of {self._name} began with nonsense") from None

    @property
    def fit(self) -> bool:
        """Whether a run can have it."""
        return self.warden.open and not self.line.gone

    def be_called(self, name: str) -> None:
        """It is not the engine that it has, but this one, whose run it does."""
        self.served.command = f"isolated run of {name}"

    def send(self, *message: Any) -> None:  # noqa: ANN401 - whatever can be pickled
        """Say something to it."""
        self.line.send(pickle.dumps(message), MESSAGE)

    # between two runs

    def hold_still(self) -> None:
        """Nothing in it is executed from here on."""
        self.warden.signal(self._id, signal.SIGSTOP)

    def go_on(self) -> None:
        """It is another run's."""
        self._heard, self._late = False, 0
        self.warden.signal(self._id, signal.SIGCONT)

    # its end

    def done_with(self) -> None:
        """Nobody wants to hear any more of it."""
        if not self._skipping:
            self._skipping = True
            self.line.skip(bool)

    def stop(self, adopted: Adopted) -> None:
        """Its run may not act any more: read on, and let nothing through."""

        def told(frame: LineFrame) -> None:
            self._heard = self._heard or frame.kind == HEARD
            if frame.kind in _SAYS_MORE and self._late < _MOST_LATE:
                self._late += 1
                adopted.dropped(dropped_in(frame.body) if frame.kind == DROPPED else "text")

        self._skipping = True
        self.line.skip(told)
        self.send("stop")
        asyncio.get_running_loop().call_later(_HEAR, self._unless_heard)

    def _unless_heard(self) -> None:
        if not self._heard:
            self.kill()

    def kill(self) -> None:
        """End it, with all that it started, and ask nobody."""
        self.warden.leave = 0.0
        self.warden.stop(0)

    async def death(self, when: str = "") -> WorkerDied:
        """It has gone without a word: how it ended, by the warden's."""
        await asyncio.wait([self._code], timeout=_TELL)
        code = self._code.result() if self._code.done() else None
        if not self._code.done():
            self.kill()
            how = "hung up, and was ended"
        elif code is None:
            how = "was ended, and its warden with it"
        elif code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
            how = f"was ended by {name}" + (": out of memory?" if code == -signal.SIGKILL else "")
        else:
            how = f"ended with exit code {code}"
        return WorkerDied(f"the process of this run {how}{when and ', '}{when}")

    def _has_ended(self, code: int) -> None:
        if not self._code.done():
            self._code.set_result(code)

    def _is_over(self) -> None:
        """Nothing of it is left, so its descriptors can go; but what it has said may be unread."""
        if not self._code.done():
            self._code.set_result(None)
        if self._skipping:
            self.line.drain()  # what it said last counts for the receipt
        asyncio.get_running_loop().call_soon(self._let_go)

    def _let_go(self) -> None:
        self.page.close()
        if "line" in self.__dict__ and not self.taken:
            self.line.close()
