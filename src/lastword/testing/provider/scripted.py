"""Whoever is told what to answer: a queue of replies, and a function for what is beyond it.

A provider is one for everybody. A conversation is one for those requests that are its own, so
that sessions side by side each get what was meant for them, whoever asks first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from lastword.testing.provider.bell import Bell
from lastword.testing.provider.request import Request
from lastword.testing.provider.script import (
    Answer,
    Ending,
    Failure,
    Finish,
    Part,
    Reply,
    Say,
    Silence,
    reply,
)

Script: TypeAlias = Callable[[Request], Reply | Part | str]
About: TypeAlias = str | Callable[[Request], bool]
_R = TypeVar("_R", bound=Reply)


class Scripted:
    """What is to be answered, in order."""

    def __init__(self, bell: Bell) -> None:
        self.requests: list[Request] = []
        self._bell = bell  # rung whenever there is another request
        self._queue: deque[Reply] = deque()
        self._always: Script | None = None

    def say(self, *chunks: str, paced: bool = False, every: float = 0.0) -> Answer:
        """The next answer is this text."""
        return self.answer(Say(*chunks), paced=paced, every=every)

    def answer(
        self,
        *parts: Part | str,
        finish: Finish = "stop",
        paced: bool = False,
        every: float = 0.0,
    ) -> Answer:
        """The next answer has these parts; paced, each step waits for the test to let it go."""
        return self._next(Answer(*parts, finish=finish, paced=paced, every=every))

    def fail(
        self,
        status: int,
        message: str = "scripted to fail",
        *,
        retry_after: float | None = None,
        after: Sequence[Part | str] = (),
    ) -> Reply:
        """The next request fails: at once, or in the stream behind these parts."""
        failure = Failure(status, message, retry_after)
        return self._next(Answer(*after, ending=failure) if after else failure)

    def cut(self, *parts: Part | str, paced: bool = False, every: float = 0.0) -> Answer:
        """The next answer breaks off behind these parts: the connection is closed."""
        ending: Ending = "cut"
        return self._next(Answer(*parts, ending=ending, paced=paced, every=every))

    def hang(self) -> Silence:
        """The next request is never answered."""
        return self._next(Silence())

    def always(self, script: Script) -> None:
        """What is not scripted is answered by this function of the request."""
        self._always = script

    async def asked(self, n: int = 1) -> Request:
        """The n-th request, as soon as it is there."""
        await self._bell.until(lambda: len(self.requests) >= n)
        return self.requests[n - 1]

    def reply_to(self, request: Request) -> Reply:
        """For the server: what comes next. Whatever the function raises is the caller's."""
        if self._queue:
            return self._queue.popleft()
        if self._always is None:
            return Failure(400, f"nothing is scripted for request {request.number}")
        return reply(self._always(request))

    def end(self) -> None:
        """For the server: nobody will ask any more."""
        for one in self._queue:
            if isinstance(one, Answer):
                one.end()

    def _next(self, one: _R) -> _R:
        self._queue.append(one)
        return one


class Conversation(Scripted):
    """The script of those requests that are about something.

    A word is looked for in all that the person said, so a session keeps its script turn after
    turn; a function is asked about the request. `requests` has those that were its own and were
    not refused.
    """

    def __init__(self, about: About, bell: Bell) -> None:
        super().__init__(bell)
        self._about = about

    def has(self, request: Request) -> bool:
        """For the server: whether the request is one of its own."""
        if isinstance(self._about, str):
            return any(self._about in text for text in request.said)
        return self._about(request)

    def reply_to(self, request: Request) -> Reply:
        """For the server: what comes next here; never what was meant for others."""
        self.requests.append(request)
        self._bell.ring()
        return super().reply_to(request)
