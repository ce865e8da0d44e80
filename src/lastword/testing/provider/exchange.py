"""One request being answered: every byte goes through here, and is counted as sent or too late."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from lastword.testing.provider.connection import (
    LAST_CHUNK,
    Connection,
    chunk,
    in_one_piece,
    streamed_head,
)
from lastword.testing.provider.formats import SPEECH, Speech
from lastword.testing.provider.marks import Marks
from lastword.testing.provider.request import Request
from lastword.testing.provider.script import Answer, Failure, Reply, Silence
from lastword.testing.provider.told import encoded


class Exchange:
    """A request, the connection it came by, and what goes back."""

    def __init__(self, connection: Connection, request: Request, marks: Marks) -> None:
        self.connection = connection
        self.request = request
        self._marks = marks
        self._speech: Speech = SPEECH[request.format or "chat"]
        connection.left = self._left

    def give(self, status: int, body: Mapping[str, Any], retry_after: float | None = None) -> None:
        """Answer in one piece, now."""
        headers = {"x-request-id": f"req_{self._marks.hex('request', 32)}"}
        if retry_after is not None:
            headers["retry-after"] = f"{retry_after:g}"
        self.connection.write(in_one_piece(status, encoded(body), headers))
        self._finish()

    def fail(self, failure: Failure) -> None:
        self.give(failure.status, self._speech.error(failure), failure.retry_after)

    async def play(self, reply: Reply) -> None:
        """Answer by the script; returns when the answer is through, or the client has left."""
        self.request.answer = reply
        match reply:
            case Silence():
                await self.request.closed.wait()
            case Failure():
                self.fail(reply)
            case Answer():
                try:
                    await (self._stream(reply) if self.request.stream else self._whole(reply))
                finally:
                    reply.end()

    async def _stream(self, answer: Answer) -> None:
        told = self._speech.stream(answer, self.request.body, self._marks)
        self.connection.write(streamed_head({}) + chunk(told.opening))
        for data in told.chunks:
            if not await self._may_go_on(answer):
                return
            self._send(data)
            answer.left()
        if not await self._may_go_on(answer):
            return
        if isinstance(answer.ending, Failure):
            self.connection.write(chunk(self._speech.broken(answer.ending)) + LAST_CHUNK)
        elif answer.ending == "end":
            self.connection.write(chunk(told.ending) + LAST_CHUNK)
        self._end(answer)

    async def _whole(self, answer: Answer) -> None:
        body = self._speech.whole(answer, self.request.body, self._marks)
        if not await self._may_go_on(answer):
            return
        if isinstance(answer.ending, Failure):
            self.fail(answer.ending)
        elif answer.ending == "end":
            self.give(200, body)
        else:
            whole = in_one_piece(200, encoded(body), {})
            self.connection.write(whole[: -len(encoded(body)) // 2])
        self._end(answer)

    async def _may_go_on(self, answer: Answer) -> bool:
        """Wait for the next step; whether there is somebody to send it to, or to count it."""
        await answer.turn()
        return answer.paced or not self.request.closed.is_set()

    def _send(self, data: bytes) -> None:
        if self.connection.open:
            self.connection.write(chunk(data))
            self.request.sent += 1
        else:
            self.request.sent_after_close += 1

    def _end(self, answer: Answer) -> None:
        if answer.ending == "cut":
            self.connection.close()
        else:
            self._finish()
        answer.left()

    def _finish(self) -> None:
        if self.connection.open and not self.request.finished.is_set():
            self.request.finished.set()
            self.connection.done()

    def _left(self) -> None:
        self.request.closed_at = asyncio.get_running_loop().time()
        self.request.closed.set()
