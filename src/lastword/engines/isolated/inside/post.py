"""What is said to the host, in order, and what it answers.

What is streamed waits for the end of the step in which it was said, and leaves as one. Whatever
else is said leaves at once, behind that: the next line of the engine may take for ever.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

from lastword.engines.isolated.errors import InWords, arrived
from lastword.engines.isolated.line import DROPPED, LONG, LONGEST, WORDS, WORDS_SOON, RunLine
from lastword.engines.isolated.long import MUCH, WITH, taken_apart
from lastword.runtime.call import Call
from lastword.runtime.tracing import Headers

_encode = json.JSONEncoder(separators=(",", ":")).encode
_MUCH = 1 << 14  # characters that leave before the step ends
_MOST_DROPPED = 1000  # that are told


class Post:
    """One run's."""

    def __init__(self, line: RunLine) -> None:
        self.must_hold: Callable[[str], object] = bool  # the run's own, before anything is asked
        self.notes: list[str] = []  # what the session has to tell the model
        self.process_ended: Callable[[int, int], object] = _nobody  # with how it did
        self._line: RunLine | Muted = line
        self._loop = asyncio.get_running_loop()
        self._words: list[str] = []
        self._length = 0
        self._requests = 0
        self._looks = 0
        self._dropped = 0
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._makes: dict[int, asyncio.Future[tuple[str, Headers]]] = {}
        self.traced: dict[str, Headers] = {}  # calls, by their ids
        self._numbers: dict[str, int] = {}  # of calls, by their ids
        self._begun: set[int] = set()
        self._ended: dict[int, asyncio.Future[None]] = {}  # children

    def mute(self) -> None:
        """The run is over, and the line is another's: whoever is left of it says nothing."""
        self._line = Muted()

    # what is said

    def say(self, words: str) -> None:
        """To the person."""
        self._flush()
        for piece in _pieces(words):
            self._line.send(_encode([piece]).encode(), WORDS)

    def stream(self, words: str) -> None:
        """The same, of a model that says more."""
        for piece in _pieces(words):
            if not self._words:
                self._loop.call_soon(self._flush)
            self._words.append(piece)
            self._length += len(piece)
            if self._length > _MUCH:
                self._flush()

    def _flush(self) -> None:
        if self._words:
            words, self._words, self._length = self._words, [], 0
            self._line.send(_encode(words).encode(), WORDS_SOON)

    @property
    def full(self) -> bool:
        """Whether the host has so much to do that whoever says more has to wait."""
        return self._line.full

    async def room(self) -> None:
        """Return when there is room for more."""
        self._flush()
        await self._line.room()

    def tell(self, *message: Any) -> None:  # noqa: ANN401 - whatever JSON takes
        """Any thread may."""
        if asyncio._get_running_loop() is not self._loop:  # noqa: SLF001 - None in a thread without one
            self._loop.call_soon_threadsafe(self.tell, *message)
            return
        self._flush()
        body = _encode(message).encode()
        self._line.send(body if len(body) <= MUCH else self._long(message))

    def dropped(self, what: str) -> None:
        """Something was not done, as the run may not act. Any thread may tell, in any step."""
        self._dropped += 1
        if self._dropped <= _MOST_DROPPED:
            self._line.send(what.encode(errors="replace"), DROPPED)

    def tell_soon(self, *message: Any) -> None:  # noqa: ANN401 - whatever JSON takes
        """The same for whom the collector calls: something may be being said just now."""
        self._loop.call_soon_threadsafe(self.tell, *message)

    def _long(self, message: object) -> bytes:
        """What is left of it when its long texts have gone ahead."""
        apart = taken_apart(message)
        body = _encode((WITH, apart.places, apart.rest)).encode()
        if len(body) > LONGEST:
            raise ValueError("this is too much to be said at once in an isolated run")
        for text in apart.texts:
            for at in range(0, len(text), MUCH):
                self._line.send(text[at : at + MUCH], LONG)
        return body

    # what is asked for

    async def request(
        self,
        what: str,
        *given: Any,  # noqa: ANN401 - whatever JSON takes
        too_late: Callable[[Any], object] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the host answers
        """Ask for something, and wait for the answer; who gives up has the host give up, too.
        Should it have been done by then, `too_late` is told what came of it."""
        n, answer = self._ask(what, *given)
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            if too_late:
                answer.add_done_callback(lambda done: done.exception() or too_late(done.result()))
            else:
                self._answers.pop(n, None)
            if not answer.done():
                self.tell("forget", n)
            raise

    def ask(self, what: str, *given: Any) -> asyncio.Future[Any]:  # noqa: ANN401 - as above
        """The same for who does not wait for it now."""
        return self._ask(what, *given)[1]

    def _ask(self, what: str, *given: Any) -> tuple[int, asyncio.Future[Any]]:  # noqa: ANN401
        self.must_hold(f"this request: {what}")
        n = self._requests + 1
        self.tell("request", n, what, given)  # raises if it cannot be said: then it was not
        self._requests = n
        self._answers[n] = answer = self._loop.create_future()
        return n, answer

    def at_once(self, what: str, *given: Any) -> Any:  # noqa: ANN401 - whatever the host answers
        """Ask for what it has there, and do nothing else until it has answered. Any thread may."""
        if asyncio._get_running_loop() is not self._loop:  # noqa: SLF001 - None in a thread without one
            there = asyncio.run_coroutine_threadsafe(self._at_once(what, given), self._loop)
            return there.result()
        self.must_hold(f"this request: {what}")
        self._looks = n = self._looks + 1
        self.tell("at_once", n, what, given)
        try:
            while (answer := self._looked())[0] != n:
                pass  # of one who has given up
        except EOFError:
            os._exit(0)
        _, value, error = answer
        if error is not None:
            raise arrived(error)
        return value

    def _looked(self) -> tuple[int, Any, bytes | InWords | None]:
        said = self._line.answered(partial(self.must_hold, "this request"))
        return pickle.loads(said)  # noqa: S301 - the host wrote it

    async def _at_once(self, what: str, given: tuple[Any, ...]) -> Any:  # noqa: ANN401 - as above
        return self.at_once(what, *given)

    def intend(self, call: Call[Any], nature: str, native: dict[str, str] | None) -> None:
        """A call is to be written down. Raises ValueError if it cannot be said, and then it is not:
        the next one has the same number."""
        n = len(self._numbers) + 1
        self.tell("intend", n, call.name, call.arguments, nature, native)
        self._numbers[call.id] = n

    def number(self, id: str) -> int | None:
        """By which a call is known to the host."""
        return self._numbers.get(id)

    async def make(self, call: Call[Any]) -> None:
        """Return when a call is durable, and has begun. Raises what forbids it."""
        n = self._numbers[call.id]
        self._makes[n] = going = self._loop.create_future()
        self.tell("make", n)
        try:
            key, headers = await going
        except asyncio.CancelledError:
            if self._makes.pop(n, None):
                self.tell("unmake", n)
            elif self.settled(call):  # it has begun, and nobody will make it
                self.tell("unbegun", n)
            raise
        if headers:
            self.traced[call.id] = headers
        if call.key:
            call.be_known_by(key)

    def settled(self, call: Call[Any]) -> int | None:
        """Its number, if it had begun and is over by that."""
        n = self._numbers.get(call.id, 0)
        if n in self._begun:
            self._begun.discard(n)
            return n
        return None

    async def end_of(self, child: int) -> None:
        """Return when a child has ended."""
        await asyncio.shield(self._end(child))

    def has_ended(self, child: int) -> bool:
        """Whether it has."""
        return self._end(child).done()

    def _end(self, child: int) -> asyncio.Future[None]:
        if child not in self._ended:
            self._ended[child] = self._loop.create_future()
        return self._ended[child]

    # what is answered

    def hear(self, what: str, *said: Any) -> None:  # noqa: ANN401 - whatever the host says
        """Something came."""
        match what, said:
            case "go", (int(n), str(key), headers):
                self._go(n, key, headers)
            case "no", (int(n), bytes() | InWords() as why):
                _resolve(self._makes.pop(n, None), error=arrived(why))
            case "answer", (int(n), value):
                _resolve(self._answers.pop(n, None), value)
            case "error", (int(n), bytes() | InWords() as why):
                _resolve(self._answers.pop(n, None), error=arrived(why))
            case "notes", (notes,):
                self.notes += notes
            case "child_done", (int(n),):
                _resolve(self._end(n))
            case "process_ended", (int(n), int(code)):
                self.process_ended(n, code)
            case _:
                pass

    def _go(self, n: int, key: str, headers: Headers) -> None:
        going = self._makes.pop(n, None)
        if going is None or going.done():  # whoever wanted it has given up
            self.tell("unbegun", n)
            return
        self._begun.add(n)
        going.set_result((key, headers))


class Muted:
    """A line on which nobody is."""

    full = False

    def send(self, body: bytes, kind: int = 0) -> None:
        """Nobody hears."""

    def answered(self, wait_on: Callable[[], object]) -> bytes:
        wait_on()  # which raises
        raise EOFError

    async def room(self, *, all_of_it: bool = False) -> None: ...


def _nobody(n: int, code: int) -> None:
    """Nobody has started a process."""


def _pieces(words: str) -> list[str]:
    if len(words) <= _MUCH:
        return [words]
    return [words[at : at + _MUCH] for at in range(0, len(words), _MUCH)]


def _resolve(
    waits: asyncio.Future[Any] | None, value: object = None, *, error: BaseException | None = None
) -> None:
    if waits is None or waits.done():
        return
    if error is None:
        waits.set_result(value)
    else:
        waits.set_exception(error)
        waits.exception()  # whoever waits is told; if nobody does, it is no news
