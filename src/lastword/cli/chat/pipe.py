"""One message and its answer, for whoever reads the output: text as it comes, and nothing else.

Nothing here waits for the reader. A pipe that is full would block the event loop, and with it the
stop that a person asks for, so the output is written in a thread, past Python's buffers, which
would be waited for once more at exit.
"""

from __future__ import annotations

import asyncio
import io
import os
import signal
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import TextIO

from lastword.cli.chat.asking import Questions
from lastword.cli.chat.words import about, plain, receipt_lines, short
from lastword.core.model import Outcome, RunId
from lastword.core.receipt import Receipt
from lastword.errors import LastwordError
from lastword.runtime.feed import FeedEvent
from lastword.runtime.runtime import Runtime
from lastword.runtime.session import Session
from lastword.runtime.stop import Answer
from lastword.runtime.tasks import Tasks
from lastword.runtime.threads import DaemonThreads

_BY_SIGNAL = 128  # and its number: what a shell calls a command that a signal ended
_UNREAD = _BY_SIGNAL + signal.SIGPIPE


async def all_of(source: TextIO) -> str:
    """Everything that an input holds."""
    loop = asyncio.get_running_loop()
    data = await loop.run_in_executor(DaemonThreads(), source.buffer.read)
    return data.decode("utf-8", "replace")


async def run_once(
    runtime: Runtime,
    session_id: str,
    text: str,
    out: TextIO,
    err: TextIO,
    *,
    questions: Questions | None = None,
    by: str = "",
) -> int:
    """Send a message, write its answer as it comes, and return the exit code.

    SIGINT or SIGTERM stops it, and the receipt goes to `err`; a second one leaves at once. It is
    stopped as well if nobody reads the output any more. What would have to be asked is not allowed.
    """
    once = _Once(runtime.session(session_id), _Output(out), err)
    with once.heeding_signals(), once.denying(questions):
        return await once.run(text, by)


class _Output:
    """Where the answer goes. What cannot be written yet is kept, and nobody waits for it."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._safe = plain if out.isatty() else str  # a file is to hold what was said
        self._threads = DaemonThreads()
        self._kept: list[str] = []
        self._more = asyncio.Event()
        self._whole = False
        self._last = "\n"

    def put(self, text: str) -> None:
        self._kept.append(text)
        self._more.set()

    def end(self) -> None:
        """There is no more of it."""
        self._whole = True
        self._more.set()

    async def write(self) -> None:
        """Write it as it comes, to the end."""
        while self._kept or not self._whole:
            await self._more.wait()
            self._more.clear()
            text, self._kept = self._safe("".join(self._kept)), []
            await self._leave(text)
        if self._last != "\n":
            await self._leave("\n")

    async def _leave(self, text: str) -> None:
        if text:
            self._last = text[-1]
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._threads, self._write, text)

    def _write(self, text: str) -> None:
        try:
            number = self._out.fileno()
        except io.UnsupportedOperation:
            self._out.write(text)
            return
        data = text.encode(self._out.encoding or "utf-8", "replace")
        while data:
            data = data[os.write(number, data) :]


class _Once:
    """One message, from its sending to the exit code."""

    def __init__(self, session: Session, out: _Output, err: TextIO) -> None:
        self._session = session
        self._out = out
        self._err = err
        self._loop = asyncio.get_running_loop()
        self._tasks = Tasks("chat")
        self._answering: asyncio.Task[int] | None = None
        self._signalled: tuple[int, Answer] | None = None

    @contextmanager
    def heeding_signals(self) -> Generator[None]:
        """A signal is a stop meanwhile."""
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        for number in before:
            self._loop.add_signal_handler(number, self._stop, number)
        try:
            yield
        finally:
            for number, handler in before.items():
                self._loop.remove_signal_handler(number)
                signal.signal(number, handler)

    @contextmanager
    def denying(self, questions: Questions | None) -> Generator[None]:
        """There is nobody to ask meanwhile."""
        if questions is None:
            yield
            return

        def deny() -> None:
            for question in questions.open():
                with suppress(LastwordError):  # it was withdrawn
                    questions.answer(question.id, False, question.generation)
                    self._say(f"{short(question.tool)} was not allowed: there is nobody to ask")

        unwatch = questions.watch(lambda *_: self._loop.call_soon(deny))
        try:
            yield
        finally:
            unwatch()

    def _stop(self, number: int) -> None:
        code = _BY_SIGNAL + number
        if self._signalled:
            os._exit(code)  # what has not ended is ended by its wardens
        if self._answering:
            self._answering.cancel()  # before the stop: what is not accepted yet never will be
        self._signalled = code, self._session.stop()

    async def run(self, text: str, by: str) -> int:
        self._answering = self._tasks.start(self._answer(text, by), name="answer")
        await asyncio.wait([self._answering])
        if self._signalled:
            code, stopping = self._signalled
            self._say_receipt(await stopping)
            return code
        try:
            return self._answering.result()
        except BrokenPipeError:  # whoever read it has left; that is theirs to decide
            await self._session.stop()
            return _UNREAD
        except OSError as error:
            self._say(f"the answer could not be written, so it was stopped: {error}")
            self._say_receipt(await self._session.stop())
        except LastwordError as error:
            self._say(short(str(error), 500))
        return 1

    async def _answer(self, text: str, by: str) -> int:
        message = token_hex(8)
        events = self._session.events()
        ticket = await self._session.send(text, id=message, by=by)
        reading = self._tasks.start(self._read(events, message), name="read")
        try:
            await self._out.write()
            await reading
        finally:
            reading.cancel()
        outcome = await ticket.outcome()
        if outcome is Outcome.FAILED:
            self._say(f"the answer failed: {short(ticket.error, 500)}")
        elif outcome is not Outcome.COMPLETED:
            self._say(f"the answer was not completed: {outcome}")
        return int(outcome is not Outcome.COMPLETED)

    async def _read(self, events: AsyncIterator[FeedEvent], message: str) -> None:
        run: RunId | None = None
        try:
            async for event in events:
                if message in about(event):
                    if event.kind == "ended":
                        return
                    run = event.run
                elif event.kind == "text" and event.run == run:
                    self._out.put(event.text)
        finally:
            self._out.end()

    def _say_receipt(self, receipt: Receipt) -> None:
        for line in receipt_lines(receipt, more=""):
            self._say(line)

    def _say(self, line: str) -> None:
        with suppress(OSError):  # nobody reads that either
            print(f"lastword chat: {plain(line)}", file=self._err, flush=True)
