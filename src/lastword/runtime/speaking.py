"""What a run says: to the person, in the order in which it says it, and checked as it leaves.

Where the store outlives the process, what is said is stored before it is shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from lastword.core.entries import Native, Text, Thinking
from lastword.core.model import CallId
from lastword.core.story import Progress, Typing
from lastword.core.undo import FilesReport
from lastword.runtime.asking import lost
from lastword.runtime.checks import (
    Pieces,
    encodable,
    must_be_native,
    must_be_seconds,
    must_be_text,
)
from lastword.runtime.executor import calling
from lastword.runtime.framework import ForFrameworks
from lastword.runtime.streaming import Streaming

_SPEECH = (Text, Thinking)
_BREATH = 64  # a run that only ever speaks gives way to the event loop once in so many


class Speaking(ForFrameworks):
    """The part of a `Run` that says something."""

    def _begin_to_speak(self) -> None:
        self._told = 0
        self._typing = 0
        self._speech = Pieces()
        self._thoughts = Pieces()
        self._sink = self._going.sink

    def emit(self, text: str, *, soon: bool = False) -> Coroutine[Any, Any, None]:
        """Say something to the person.

        With `soon` it is not waited for until it is stored and has left: for who passes on what a
        model streams. It leaves in its order, as one with what is said meanwhile; `said` waits for
        it, and so does whatever else the run does.
        """
        must_be_text(text, "what a run says")
        # not awaited here: a token costs one coroutine, not two
        fact = Text(self._hold.run, self._speech.take(text))
        return self._stream(fact) if soon else self._tell(fact)

    def think(
        self, text: str, *, native: Native | None = None, soon: bool = False
    ) -> Coroutine[Any, Any, None]:
        """Say what the model thought: beside the answer, and kept for the model.

        `native` is what its provider wants back word for word; without, it is not shown again.
        `soon` is as for `emit`.
        """
        must_be_text(text, "what a run thinks")
        must_be_native(native)
        fact = Thinking(self._hold.run, self._thoughts.take(text), native)
        return self._stream(fact) if soon and native is None else self._tell(fact)

    def progress(self, text: str) -> Coroutine[Any, Any, None]:
        """Say what is being done, beside the answer; in a tool, by that call of it."""
        must_be_text(text, "what a run says")
        return self._tell(Progress(self._hold.run, encodable(text), self._calling()))

    def has_changed(self, files: FilesReport) -> None:
        """What it has changed in files, for the receipt if it is stopped: it may be said late, but
        by no other run that has lost its session."""
        if not lost(self._hold):
            self._going.speech.files = files

    async def said(self) -> None:
        """Return when what was said has left, which takes a while where the sink has a pace: before
        something is done that comes after it. Whatever is awaited here does so; `intend` cannot."""
        await self._going.all_said()

    def _calling(self) -> CallId | None:
        """The call of this run's own that is being made here."""
        made = calling.get()
        return CallId(made.call) if made.run == self._hold.run else None

    @asynccontextmanager
    async def typing(self, every: float = 4.0) -> AsyncGenerator[None]:
        """Show the typing mark meanwhile, and again every few seconds, as chat networks want it."""
        must_be_seconds(every, "every")
        self._typing += 1
        if self._typing > 1:  # it is up already, and stays until the outermost ends
            try:
                yield
            finally:
                self._typing -= 1
            return
        await self._tell(Typing(self._hold.run, on=True))
        self._hold.must_hold("start of typing")
        pulse = self._going.helpers.start(self._pulse(every), name="typing")
        try:
            yield
        finally:
            self._typing -= 1
            pulse.cancel()
            if self._hold.current:  # otherwise the session has taken the mark down
                await self._tell(Typing(self._hold.run, on=False))

    async def _pulse(self, every: float) -> None:
        while True:
            await asyncio.sleep(every)
            await self._tell(Typing(self._hold.run, on=True))

    def _stream(self, fact: Text | Thinking) -> Coroutine[Any, Any, None]:
        """A store that ends with the process is not waited for, so nothing waits here either."""
        speech = self._going.speech
        if not speech.waits:
            return self._say(fact)
        if not self._hold.granted:
            return self._tell(fact)
        speech.streams = speech.streams or Streaming(self._say, self._going.helpers)
        return speech.streams.take(fact)

    async def _tell(self, fact: Text | Thinking | Progress | Typing) -> None:
        if (streams := self._going.speech.streams) is not None:
            await streams.left()
        await self._say(fact)

    async def _say(self, fact: Text | Thinking | Progress | Typing) -> None:
        if self._sink is not None:
            await self._going.told()
            await self._sink.send(fact=fact)
            return
        speech, piece = self._going.speech, None
        said = fact if isinstance(fact, _SPEECH) else None
        if said and speech.waits and self._hold.granted:
            piece = await speech.stored(said, lambda: self._hold.current)
        out = self._hold.publish(fact, piece)
        if said and out:
            speech.arrived(piece) if piece else speech.note(said)
        self._told += 1
        if not out or not self._told % _BREATH:
            await asyncio.sleep(0)
