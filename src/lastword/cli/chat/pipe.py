"""One message and its answer, for whoever reads the output: text as it comes, and nothing else.

Nothing here waits for the reader: a pipe that is full would hold up the stop that a person asks
for. What the reader has not taken by then is not written any more.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import TextIO

from lastword.cli.chat.asking import OpenQuestions
from lastword.cli.chat.output import Form, Output
from lastword.cli.chat.piped import Piped
from lastword.cli.chat.words import plain, receipt_lines, short
from lastword.cli.chat.writing import Writing
from lastword.core.model import Outcome
from lastword.core.question import Question
from lastword.core.receipt import Receipt
from lastword.errors import LastwordError
from lastword.runtime.runtime import Runtime
from lastword.runtime.session import Session
from lastword.runtime.tasks import Tasks
from lastword.runtime.threads import DaemonThreads
from lastword.runtime.ticket import Stopping
from lastword.surfaces.following import Following

_BY_SIGNAL = 128  # and its number: what a shell calls a command that a signal ended
_UNREAD = _BY_SIGNAL + signal.SIGPIPE
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_TO_THE_END = {Outcome.COMPLETED, Outcome.FAILED}  # whatever was said then is to be read
_HOME = 1.0  # seconds for what is being written when it is over


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
    questions: OpenQuestions | None = None,
    by: str = "",
    output: Output = "text",
) -> int:
    """Send a message, write its answer as it comes, and return the exit code.

    SIGINT, SIGTERM or SIGHUP stops it: nothing more is written, and the receipt goes to `err`; a
    second one leaves at once. It is stopped as well if nobody reads the output any more. What
    would have to be asked is not allowed.
    """
    told = Writing(err)
    once = _Once(runtime.session(session_id), _Output(out), told, questions, output)
    with once.heeding_signals():
        code = await once.run(text, by)
        await told.rest(_HOME)
        return code


class _Output:
    """Where the answer goes."""

    def __init__(self, out: TextIO) -> None:
        self.writing = Writing(out)
        self._safe = plain if out.isatty() else str  # a file is to hold what was said
        self._last = "\n"

    def put(self, text: str) -> None:
        if safe := self._safe(text):
            self._last = safe[-1]
            self.writing.put(safe)

    def end(self) -> None:
        """There is no more of it."""
        if self._last != "\n":
            self.put("\n")
        self.writing.end()


class _Once:
    """One message, from its sending to the exit code."""

    def __init__(
        self,
        session: Session,
        out: _Output,
        told: Writing,
        questions: OpenQuestions | None,
        output: Output,
    ) -> None:
        self._questions = questions
        self._session = session
        self._out = out
        self._form = Form(output, session.id, out.put)
        self._told = told
        self._loop = asyncio.get_running_loop()
        self._tasks = Tasks("chat")
        self._answering: asyncio.Task[int] | None = None
        self._signalled: tuple[int, Stopping] | None = None

    @contextmanager
    def heeding_signals(self) -> Generator[None]:
        """A signal is a stop meanwhile."""
        before = {number: signal.getsignal(number) for number in _SIGNALS}
        if before[signal.SIGHUP] is signal.SIG_IGN:
            del before[signal.SIGHUP]  # it is to go on without its terminal, as nohup has it
        for number in before:
            self._loop.add_signal_handler(number, self._stop, number)
        try:
            yield
        finally:
            for number, handler in before.items():
                self._loop.remove_signal_handler(number)
                signal.signal(number, handler)

    def _deny(self, question: Question) -> None:
        """There is nobody to ask."""
        if self._questions:
            with suppress(LastwordError):  # it was withdrawn
                self._questions.nobody(question.id, question.generation)
                self._say(f"{short(question.tool)} was not allowed: there is nobody to ask")

    def _stop(self, number: int) -> None:
        code = _BY_SIGNAL + number
        if self._signalled:
            os._exit(code)  # what has not ended is ended by its wardens
        if self._form.is_text:
            self._out.writing.cut()
        else:
            self._out.writing.cut_after_line()  # the last one says how it ended
        if self._answering:
            self._answering.cancel()  # before the stop: what is not accepted yet never will be
        self._signalled = code, self._session.stop()

    async def run(self, text: str, by: str) -> int:
        self._answering = self._tasks.start(self._answer(text, by), name="answer")
        await asyncio.wait([self._answering])
        if self._signalled:
            code, stopping = self._signalled
            self._say_receipt(await stopping)
            await self._say_what_is_under_way()
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
        following, message = Following(self._session), token_hex(8)
        following.begin_after(self._session.last_event)
        ticket = await self._session.send(text, id=message, by=by)
        reading = self._tasks.start(self._read(following, message), name="read")
        try:
            await self._out.writing.written()
            await reading
        finally:
            reading.cancel()
        outcome = await ticket.outcome()
        if outcome is Outcome.FAILED:
            self._say(f"the answer failed: {short(ticket.error, 500)}")
        elif outcome is not Outcome.COMPLETED:
            self._say(f"the answer was not completed: {outcome}")
        return int(outcome is not Outcome.COMPLETED)

    async def _read(self, following: Following, message: str) -> None:
        piped = Piped(message, self._form.words, self._deny)
        try:
            async for event, changes in following.heard():
                piped.tell(changes, following.picture)
                if piped.is_about(event.fact) and following.may_tell(event):
                    self._form.happened(event)
                if piped.outcome is not None:
                    break
            if self._form.is_text and piped.outcome not in _TO_THE_END:
                self._out.writing.cut()
        finally:
            self._form.over(piped.outcome or Outcome.STOPPED, piped.error)
            self._out.end()

    async def _say_what_is_under_way(self) -> None:
        writing = self._out.writing
        if writing.under_way and not await writing.rest(_HOME) and writing.under_way:
            self._say("a piece of the answer was being written then, and may still be read")

    def _say_receipt(self, receipt: Receipt) -> None:
        for line in receipt_lines(receipt, more=""):
            self._say(line)

    def _say(self, line: str) -> None:
        self._told.put(f"lastword chat: {plain(line)}\n")
