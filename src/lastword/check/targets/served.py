"""What targets have in common that answer by HTTP: a server, ours to start or somebody else's.

Whatever is heard is judged by content: each word of the model names its run.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from lastword.check import background
from lastword.check.contract import CannotStart, Dialogue, Premises
from lastword.check.names import still_going
from lastword.check.programs import Started
from lastword.check.recipes import Recipe, filled
from lastword.check.round import Round
from lastword.check.story import Faculty
from lastword.check.targets.web import NO_SENSE, told
from lastword.check.times import Times, now, until
from lastword.check.wire import WireLog

_OURS = frozenset[Faculty]({"kill"})  # what can be done to a server that we started
_REFUSED = 300  # and above: a status that is no yes
_NOWHERE = (404, 405)
_STARTING = 60.0  # seconds until a server can be asked
_ASKED = 5.0  # seconds for one try


class ServedTarget:
    """A server. With a command it is started, on a port of its own, and found by its processes."""

    kind = ""
    carriers: Sequence[str] = ("mcp",)
    weak = ""
    brings_tools = False
    told_where_to_stop = False  # by the person: then it may be the wrong address
    one_stream = False

    def __init__(
        self,
        url: str,
        command: Sequence[str],
        recipe: Recipe,
        headers: Mapping[str, str],
        faculties: frozenset[Faculty],
        converse: Callable[[ServedTarget], Dialogue],
    ) -> None:
        self.name = recipe.name or url.replace(":{port}", "")
        self.faculties: frozenset[Faculty] = faculties | (_OURS if command else frozenset())
        self.strangers = not command
        self.headers = dict(headers)
        self.port = 0
        self.limit = Times().limit
        self.wire = WireLog()
        self._url, self._command, self._recipe = url, command, recipe
        self._converse = converse
        self._program: Started | None = None
        self._going: set[asyncio.Task[None]] = set()

    def times(self, usual: Times) -> Times:
        self.limit = usual.limit
        return usual.lenient() if self.weak else usual

    def at(self, url: str = "") -> str:
        """An address, with the port that the server has now."""
        return (url or self._url).replace("{port}", str(self.port))

    async def open(self, premises: Premises) -> None:
        if self._command:
            self.port = _free_port()
            self._recipe.write(premises)
            argv = [self.at(filled(word, premises)) for word in self._command]
            self._program = await Started.start(argv, premises, self._recipe.settings(premises))
        end = now() + _STARTING
        while True:
            try:
                await asyncio.wait_for(told("GET", self.at(), self.headers), _ASKED)
            except TimeoutError:
                return  # it is there: whether it answers is asked next
            except NO_SENSE as error:
                starting = isinstance(error, OSError | EOFError)  # what makes no sense stays so
                if not starting or now() > end or self._program is None or self._program.ended:
                    told_by = f": {self._program.last_errors()}" if self._program else ""
                    raise CannotStart(f"{self.at()} cannot be asked: {error}{told_by}") from error
                await asyncio.sleep(0.1)
            else:
                return

    async def dialogue(self) -> Dialogue:
        return self._converse(self)

    async def again(self, dialogue: Dialogue) -> Dialogue | None:
        return dialogue  # a conversation is known by its name, and the server has started anew

    async def kill(self) -> None:
        if self._program:
            await self._program.kill()

    async def close(self) -> None:
        await background.end(*self._going)
        if self._program:
            await self._program.end(reads=False)
        self._program = None

    def begin(self, what: Callable[[], Awaitable[None]], one: Round) -> asyncio.Task[None]:
        """Go on with a request; whatever becomes of it is told to the message it is about."""

        async def going() -> None:
            try:
                await what()
            except NO_SENSE as error:
                gone = isinstance(error, OSError | EOFError)
                one.answer(f"error: {error!r}"[:200], refused=True, gone=gone)

        task = background.begin(going(), f"check: {self.kind}")
        self._going.add(task)
        task.add_done_callback(self._going.discard)
        return task

    def ask_to_stop(self, halves: Halves, one: Round, url: Callable[[], str], times: int) -> None:
        """So many requests to stop it, to an address that is known once the run has its name."""
        one.stops += times

        async def asking() -> None:
            await until(lambda: one.key or one.answered_at, self.limit)
            try:
                status, body = await told("POST", url(), self.headers, {})
            except NO_SENSE as error:
                halves.refuse(repr(error))
                return
            self.note("stopped", f"{status} {body}")
            if status in _NOWHERE and self.told_where_to_stop:
                one.nowhere = f"the stop was answered {status}: is it the right address?"
            if status >= _REFUSED:
                halves.refuse(f"{status} {body or ''}".strip())
                return
            one.named += still_going(body.get("receipt") or {})
            halves.half("stop", "cancelled")

        for _ in range(times):
            self.begin(asking, one)

    def note(self, way: str, what: object) -> None:
        """For evidence."""
        self.wire.note(way, what)


class Halves:
    """An answer to a stop that has two: what the request for it says, and the stream's own end.

    A stop that is refused is no half. Where the stream had told its end before, that counts: there
    was nothing to stop any more.
    """

    def __init__(self, one: Round) -> None:
        self._one = one
        self._how: dict[str, str] = {}

    def half(self, which: str, how: str, *, refused: bool = False) -> None:
        """One of both; the message is answered with the later. Each stop has its own answer."""
        if which == "stop" and which in self._how:
            return
        self._how[which] = how
        stopping = bool(self._one.stops)
        if not stopping or len(self._how) > 1:
            self._one.answer("cancelled" if stopping else how, refused=refused)

    def refuse(self, why: str) -> None:
        """A stop was not taken."""
        one = self._one
        one.refusals.append(why[:200])
        if one.stop_refused and "stream" in self._how and not one.answered_at:
            one.answer(self._how["stream"])


class NoOneWrite:
    """What cannot be done where each message is a request of its own."""

    asked = 0
    hold = False

    def stop_and_say(self, of: Round | None, run: str) -> Round:
        raise NotImplementedError("there is no such thing as one write here")

    def say_and_stop(self, run: str) -> Round:
        raise NotImplementedError("there is no such thing as one write here")

    def stop_and_allow(self, of: Round) -> float:
        raise NotImplementedError("nothing is asked here")


def asking(run: str) -> str:
    """The words of a message."""
    return f"[[run:{run}]] Please go on with this."


def texts(told: Any) -> str:  # noqa: ANN401 - whatever an event has
    """All texts in an event, in order."""
    if isinstance(told, str):
        return told
    if isinstance(told, Mapping):
        return " ".join(texts(one) for one in told.values())  # pyright: ignore[reportUnknownVariableType] - JSON
    if isinstance(told, list):
        return " ".join(texts(one) for one in told)  # pyright: ignore[reportUnknownVariableType] - JSON
    return ""


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
