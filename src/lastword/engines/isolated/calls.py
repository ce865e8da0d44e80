"""The calls that a run's process sets out to make, as the run's ledger has them.

Each is written down here, and begun here: the word *go* leaves in the step in which the hold has
said yes. From then on it may have executed, until the process says what came of it. A number that
was not given, a result of a call that has not begun: that is nonsense, and ends the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from lastword.core.entries import Native, Nature
from lastword.core.model import Status
from lastword.engines.isolated.errors import carried
from lastword.engines.isolated.line import Nonsense
from lastword.engines.isolated.shapes import Verb
from lastword.errors import Superseded
from lastword.runtime.call import Call
from lastword.runtime.run import Run

_MOST = 1000  # calls of a run that are being made at a time
_MOST_OPEN = 10_000  # that are neither over nor given up
_MOST_EVER = 100_000
_LONGEST_NAME = 200


class CallsApart:
    """Those of one run."""

    def __init__(self, run: Run, send: Callable[..., None]) -> None:
        self._run = run
        self._send = send
        self._calls: list[Call[Any]] = []  # by number, from 1
        self._open: set[Call[Any]] = set()  # and some that have ended meanwhile
        self._begun: set[int] = set()  # and nobody has said what came of it
        self._making: dict[int, asyncio.Task[None]] = {}
        self.verbs = {
            "intend": Verb(self._intend, (int, str, str, Nature, Native | None)),
            "make": Verb(self._make, (int,)),
            "unmake": Verb(self._unmake, (int,)),
            "unbegun": Verb(self._unbegun, (int,)),
            "came": Verb(self._came, (int, str, str, bool, str)),
            "put_off": Verb(self._put_off, (int, bool)),
            "skip": Verb(self._skip, (int, str)),
        }

    def id_of(self, n: int) -> tuple[str, str]:
        """The name of a call, and its id."""
        call = self._known(n)
        return call.name, call.id

    def _intend(
        self, n: int, name: str, arguments: str, nature: Nature, native: dict[str, str] | None
    ) -> None:
        if n != len(self._calls) + 1:
            raise Nonsense(f"call {n}, out of turn")
        if n > _MOST_EVER:
            raise Nonsense(f"more than {_MOST_EVER:,} calls")
        kept = Native(**native) if native else None
        call = self._run.asked(name, arguments, nature=nature, native=kept)
        self._calls.append(call)
        self._open.add(call)
        if len(self._open) > _MOST_OPEN:
            self._open = {one for one in self._open if one.status is Status.INTENDED}
        if len(self._open) > _MOST_OPEN:
            raise Nonsense(f"more than {_MOST_OPEN:,} calls that are not over")

    def _make(self, n: int) -> None:
        call = self._known(n)
        if n in self._making or n in self._begun:
            raise Nonsense(f"call {n} is to be made, and is being made")
        if len(self._making) + len(self._begun) >= _MOST:
            raise Nonsense(f"more than {_MOST:,} calls at a time")
        self._making[n] = self._run.task(self._made(n, call), name=f"call of {call.name}")

    async def _made(self, n: int, call: Call[Any]) -> None:
        try:
            await self._run.said()  # what was said before a call leaves before it
            await call.begin()
            self._begun.add(n)
            self._send(
                "go", n, call.key, self._run.traced(call)
            )  # the step in which the hold said yes
        except (Exception, Superseded) as error:  # noqa: BLE001 - whoever wanted to make it is told
            self._send("no", n, carried(error))
        finally:
            del self._making[n]

    def _unmake(self, n: int) -> None:
        """Whoever wanted to make it has given that up; it may have begun meanwhile."""
        self._known(n)
        if making := self._making.get(n):
            making.cancel()

    def _unbegun(self, n: int) -> None:
        """It could have begun, and nobody wanted it any more."""
        self._take(n).put_off()

    def _came(self, n: int, status: str, content: str, error: bool, raised: str) -> None:
        call = self._take(n)
        match status:
            case Status.COMPLETED:
                call.raised = raised[:_LONGEST_NAME]
                call.end(content, error=error)
            case Status.MAY_HAVE_EXECUTED:
                call.lose_sight(content, error=error)
            case Status.NOT_STARTED:
                call.put_off()
                call.skip(content)
            case _:
                raise Nonsense(f"a call that is {status[:20]!r}")

    def _put_off(self, n: int, executed: bool) -> None:
        call = self._take(n)
        call.executed = call.executed or executed
        call.put_off()

    def _skip(self, n: int, why: str) -> None:
        call = self._known(n)
        if n in self._making or n in self._begun:
            raise Nonsense(f"call {n} is not to be made, and is being made")
        call.skip(why)

    def _known(self, n: int) -> Call[Any]:
        if not 0 < n <= len(self._calls):
            raise Nonsense(f"call {n}, which nobody intended")
        return self._calls[n - 1]

    def _take(self, n: int) -> Call[Any]:
        if n not in self._begun:
            raise Nonsense(f"what came of call {n}, which has not begun")
        self._begun.discard(n)
        return self._known(n)
