"""What a run's process says, done for it, in order, behind the run's own hold.

Words are awaited one by one, so a slow sink slows down who speaks; what takes longer (a call, a
request) goes on beside that. Whoever says too much at once, or does not hear what it is answered,
is not listened to for a while. Nothing here knows whether the run may act: the run does, and
refuses.
"""

from __future__ import annotations

import asyncio
import builtins
import logging
import pickle
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

from lastword.core.entries import LeftOut, Native
from lastword.engines.isolated.calls import CallsApart
from lastword.engines.isolated.line import (
    AT_ONCE,
    DROPPED,
    HEARD,
    LONG,
    WORDS,
    WORDS_SOON,
    Nonsense,
    RunLine,
)
from lastword.engines.isolated.long import Texts
from lastword.engines.isolated.measure import Measure
from lastword.engines.isolated.models import Models
from lastword.engines.isolated.requests import Offers, Requests
from lastword.engines.isolated.shapes import (
    Verb,
    dropped_in,
    message_in,
    value_in,
    verb_in,
    words_in,
)
from lastword.errors import EngineFailed
from lastword.runtime.executor import Calling, calling
from lastword.runtime.run import Run

_A_WORD, _A_FRAME = 128, 1 << 10  # bytes that each costs, besides its own
_MOST_LINES = 1000  # of a run's own log
_LEVELS = range(logging.CRITICAL + 1)
_LONGEST = 10_000  # letters of what an engine failed with, and of a line in the log
_LONGEST_NAME = 100
log = logging.getLogger("lastword")


class Desk:
    """Of one run."""

    def __init__(
        self,
        run: Run,
        line: RunLine,
        send: Callable[..., None],
        offers: Offers,
        dropped: Callable[[str], object],
    ) -> None:
        self._run = run
        self._dropped = dropped  # told what its process did not do any more
        self._line = line
        self._typing = AsyncExitStack()
        self._over: list[BaseException | None] = []  # how its engine ended, once it has
        self._lines = 0
        self._long = Texts()
        self.stays = False  # its process waits for another run
        self.begun = False  # the engine's first line is next, or was reached
        self._raw = send
        self._calls = CallsApart(run, self._send)
        self._requests = Requests(run, self._send, self._answer, offers)
        self._verbs = {
            **self._calls.verbs,
            **self._requests.verbs,
            **Models(run).verbs,
            "think": Verb(self._think, (str, Native | None, bool)),
            "progress": Verb(self._progress, (str, int | None)),
            "typing": Verb(self._types, (float | None,)),
            "seal": Verb(self._seal, (Native, str)),
            "declined": Verb(self._declined, (int,)),
            "left_out": Verb(self._left_out, (LeftOut,)),
            "log": Verb(self._log, (str, int, str)),
            "begun": Verb(self._has_begun, ()),
            "done": Verb(self._done, (bool,)),
            "failed": Verb(self._failed, (str, str, str, str | None)),
            "cancelled": Verb(self._cancelled, ()),
        }

    async def serve(self, engine: str = "", *, may_stay: bool = False) -> None:
        """Until its engine has ended, its own or another that is named; raises what that raised.
        Its process may stay for another run, if it says that nothing is left in it."""
        self._send("begin", self._run.beginning, engine, may_stay)
        measure = Measure()
        while not self._over:
            kind, body = await self._line.next()
            if kind in (WORDS, WORDS_SOON):
                words = words_in(body)
                await measure.take(len(body) + _A_WORD)
                for word in words:
                    await self._run.emit(word, soon=kind == WORDS_SOON)
                    await measure.take(_A_WORD)
            else:
                await measure.take(len(body) + _A_FRAME)
                await self._take(kind, body)
            await self._line.room()  # who does not read what was answered asks for no more
        await self._typing.aclose()
        self.begun = True
        if error := self._over[0]:
            raise error

    async def _take(self, kind: int, body: bytes) -> None:
        if kind == LONG:
            self._long.add(body)
        elif kind == DROPPED:
            self._dropped(dropped_in(body))
        elif kind != HEARD:
            await self._carry_out(self._long.put_in(message_in(body)))

    async def _carry_out(self, message: list[Any]) -> None:
        name, *given = message
        doing = verb_in(self._verbs, name, given).act(*given)
        if doing is not None:
            await doing

    def _send(self, *message: Any) -> None:  # noqa: ANN401 - whatever can be pickled
        """With it, before it, what the session has to tell its model."""
        if notes := self._run.notes():
            self._raw("notes", notes)
        self._raw(*message)

    def _answer(self, *said: Any) -> None:  # noqa: ANN401 - whatever can be pickled
        self._line.send(pickle.dumps(said), AT_ONCE)

    def over(self) -> None:
        """Nothing more is done for it."""
        self._requests.over()

    # what it says

    async def _think(self, text: str, native: dict[str, str] | None, soon: bool) -> None:
        await self._run.think(text, native=Native(**native) if native else None, soon=soon)

    async def _progress(self, text: str, call: int | None) -> None:
        made = Calling(*self._calls.id_of(call), self._run.id) if call is not None else Calling()
        before = calling.set(made)
        try:
            await self._run.progress(text)
        finally:
            calling.reset(before)

    async def _types(self, every: float | None) -> None:
        await self._typing.aclose()
        if every is not None:
            await self._typing.enter_async_context(self._run.typing(every))

    def _seal(self, native: dict[str, str], of: str) -> None:
        if of not in ("text", "thinking"):
            raise Nonsense(f"a seal of {of[:20]!r}")
        self._run.seal(Native(**native), of=of)

    def _declined(self, status: int) -> None:
        self._run.declined(status)

    def _left_out(self, plain: object) -> None:
        self._run.leave_out(replace(value_in(LeftOut, plain), run=self._run.id))

    def _log(self, name: str, level: int, text: str) -> None:
        """By a logger that there is: nobody is to make any number of them here."""
        self._lines += 1
        if self._lines > _MOST_LINES or level not in _LEVELS:
            return
        known = name in logging.root.manager.loggerDict
        logger = logging.getLogger(name) if known else log
        more = "; what else it logs is left out" if self._lines == _MOST_LINES else ""
        line = text[:_LONGEST].replace("\n", "\n    ")
        logger.log(level, "in run=%s logger=%s: %s%s", self._run.id, name[:200], line, more)

    # its beginning and its end

    def _has_begun(self) -> None:
        self.begun = True

    def _done(self, stays: bool) -> None:
        self.stays = stays
        self._over.append(None)

    def _cancelled(self) -> None:
        self._over.append(asyncio.CancelledError())

    def _failed(self, kind: str, why: str, trace: str, engine: str | None) -> None:
        self._over.append(_raised(kind, why, trace, engine))


def _raised(kind: str, why: str, trace: str, engine: str | None) -> Exception:
    """What an engine raised, by its name: the thing itself stays where it was made."""
    error: Exception
    if engine is not None:
        error = EngineFailed(why[:_LONGEST])
        error.kind = engine[:_LONGEST_NAME]
    else:
        known = getattr(builtins, kind, None) if kind in _PLAIN else None
        made: Any = known or type(kind[:_LONGEST_NAME], (RuntimeError,), {})
        error = made(why[:_LONGEST])
    error.add_note(f"In its process:\n{trace[-_LONGEST:]}")
    return error


_PLAIN = ("RuntimeError", "ValueError", "TypeError", "OSError", "MemoryError", "PermissionError")
