"""A person talks to a session in a terminal, and has the last word in it.

A stop is asked for in the step in which somebody says so, and what had not been accepted by then is
not sent; it is told as such.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Generator
from contextlib import contextmanager
from secrets import token_hex

from lastword.agent.permission import Questions as Known
from lastword.cli.chat import commands
from lastword.cli.chat.aids import Aids
from lastword.cli.chat.asking import Asking, OpenQuestions
from lastword.cli.chat.coming import ComingAgent
from lastword.cli.chat.keys import bindings
from lastword.cli.chat.paint import Paint, asked_style
from lastword.cli.chat.question import answers_line
from lastword.cli.chat.recap import recap
from lastword.cli.chat.screen import Live, Screen
from lastword.cli.chat.telling import MORE, Telling
from lastword.cli.chat.words import count, receipt_lines, rows_of, short
from lastword.core.entries import Said
from lastword.core.model import DEFAULTS, MessageId, Outcome, Policy
from lastword.core.question import Question
from lastword.core.receipt import Receipt
from lastword.core.scene import AskClosed, AskOpened
from lastword.core.words import means_stop
from lastword.errors import LastwordError, Refused, SlowWatcher
from lastword.runtime.runtime import Runtime
from lastword.runtime.session import Session
from lastword.runtime.tasks import Tasks, ended
from lastword.runtime.ticket import Stopping, Ticket
from lastword.surfaces.following import Following
from lastword.surfaces.words import question_lines

_BY_SIGNAL = 128  # and its number: what a shell calls a command that a signal ended
_PLACED = {"queued": "queued", "collecting": "collected", "steering": "told to the answer"}
_LAST = 100  # events that are told even if those before them were too many
_QUESTION_ROWS = 4  # a longer question is written out above


class Chat:
    """One conversation at a terminal; another session can be gone to."""

    def __init__(
        self,
        runtime: Runtime,
        session_id: str,
        questions: OpenQuestions | ComingAgent | None = None,
        *,
        model_name: str = "",
        mode: Policy = DEFAULTS.on_message,
        by: str = "",
    ) -> None:
        self.runtime = runtime
        self.session: Session = runtime.session(session_id)
        self.mode: Policy = mode
        self.rollback = False
        self.model = model_name
        self.by = by
        self._agent = questions if isinstance(questions, ComingAgent) else None
        self._coming = self._agent  # until it is there
        self._questions = None if isinstance(questions, ComingAgent) else questions
        self._failure: Exception | None = None  # what kept it from coming
        self._screen = Screen(
            bindings(self, lambda: self._screen.buffer), live=self._live, status=self._status
        )
        self._screen.buffer.on_text_changed += self._typed
        self._paint = Paint(lambda: self._screen.columns)
        self._tasks = Tasks("chat")
        self._lines = Tasks("chat")  # what was typed and has not been done, each after the last
        self._unsent: dict[MessageId, str] = {}  # what a stop was quicker than
        self._ours: set[MessageId] = set()
        self._accepted: set[MessageId] = set()
        self._seen: dict[str, int] = {}  # the last event that was told, of each session
        self._leaving = False  # the next Ctrl-C leaves
        self._hushed = False  # the last word was a stop
        typing = lambda: bool(self._screen.buffer.text)  # noqa: E731 - it is asked later
        self._asking = Asking(self._questions, lambda: self.session.id, self._asked, by, typing)
        self._telling = self._new_telling()
        self.aids = Aids(self._screen, questions, self.say)
        self._following: asyncio.Task[None] | None = None

    async def run(self) -> int:
        """Talk until the person leaves; what goes on then is stopped. Returns the exit code."""
        with self._heeding_signals():
            try:
                before = await recap(self.session)
                code = await self._screen.run(lambda: self._begin(before))
            finally:
                await self._see_off()
        if self._failure:
            raise self._failure
        return code

    def _begin(self, before: list[str]) -> None:
        self.say(f"{short(self.session.id)}: Esc stops, /help says what else there is.")
        self._remind(before)
        self._follow()
        self._asking.look()
        if self._coming:
            self._tasks.start(self._have(self._coming), name="agent")

    async def _have(self, coming: ComingAgent) -> None:
        try:
            self._questions = self._asking.questions = await coming.questions()
        except (LastwordError, ValueError) as error:
            self._failure = error
            self.leave(1)
            return
        self._coming = None
        self._screen.draw()

    def _remind(self, before: list[str]) -> None:
        if before:
            self.say("\n".join(before))

    async def _see_off(self) -> None:
        self._lines.cancel()
        stopping = self.session.stop() if self.busy else None  # first, and then the rest
        self._asking.close()
        if self._following:
            self._following.cancel()
        self._telling.finish()
        self._tasks.cancel()
        for tasks in (self._lines, self._tasks):
            await ended(tasks.living, 1.0)
        if stopping and (receipt := await stopping):
            self._telling.say("■ " + "\n  ".join(receipt_lines(receipt, more="")), "yellow")
        await self._screen.close()

    @contextmanager
    def _heeding_signals(self) -> Generator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._screen.leave, _BY_SIGNAL + number)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGHUP):
                loop.remove_signal_handler(number)

    # what is shown

    def say(self, text: str) -> None:
        """Something of our own; it does not break into what is being said."""
        self._telling.aside(text)

    def _live(self) -> Live:
        live = self._telling.live
        if question := self._asking.question:
            shown = question_lines(question)
            for line in shown[:1] if self._is_long(question) else shown:
                live.append((f"fg:ansi{asked_style(line)}", line))
            hint = answers_line(question) if self._asking.ready else "…"
            if self._asking.waits_for_an_empty_line:
                hint = "… (empty the line to answer: it was begun before this was asked)"
            live.append(("fg:ansiyellow bold", f"  {hint}"))
        return [*live, *self.aids.live]

    def _status(self) -> str:
        session, kept = self.session, sum(one.kept for one in self.session.processes)
        running = self._telling.started if session.active else 0
        parts = [
            short(session.id, 30),
            short(self.model, 30),
            self.mode,
            "getting ready …" if self._coming else "",
            "stopping …" if self._telling.stopping else "answering" if session.active else "",
            f"{count(running, 'process')} started" if running else "",
            f"{count(kept, 'process')} kept" if kept else "",
            f"{len(session.queue)} waiting" if session.queue else "",
            f"{count(self._asking.elsewhere, 'question')} elsewhere"
            if self._asking.elsewhere
            else "",
            "Esc closes"
            if self.aids.picks and not self.session.busy
            else "Ctrl-C again leaves"
            if self._leaving
            else "Esc stops"
            if self.busy
            else "/help",
        ]
        return " · ".join(part for part in parts if part)

    def _asked(self, before: Question | None, now: Question | None) -> None:
        if before and (now is None or now.id != before.id):
            self._telling.say(f"? {short(before.tool)}: withdrawn")
        if now and now is not before and self._is_long(now):
            self._telling.ask(question_lines(now))
        self._screen.draw()

    def _is_long(self, question: Question) -> bool:
        return rows_of("\n".join(question_lines(question)), self._screen.columns) > _QUESTION_ROWS

    # what happens

    def _new_telling(self) -> Telling:
        return Telling(self._screen, self._paint, self._failed)

    def _follow(self) -> None:
        self._following = self._tasks.start(self._tell(self.session), name="follow")

    async def _tell(self, session: Session) -> None:
        telling, following = self._telling, Following(session)
        following.begin_after(self._seen.get(session.id, 0))
        while True:
            try:
                async for event, changes in following.heard():
                    self._seen[session.id] = event.number
                    if isinstance(event.fact, Said) and event.fact.message.id in self._ours:
                        self._accepted.add(event.fact.message.id)
                    telling.tell(changes)
                    if any(isinstance(change, AskOpened | AskClosed) for change in changes):
                        self._asking.look()
                    if self._screen.clogged:
                        await self._screen.room()
            except SlowWatcher:
                telling.say(MORE)
                following.begin_after(max(session.last_event - _LAST, 0))  # how it ended is told
            else:
                why = "it was deleted, or has another owner"
                telling.say(f"{short(session.id)} has ended here: {why}.")
                return

    def _failed(self, ids: tuple[MessageId, ...]) -> None:
        if not self._ours.intersection(ids):  # of ours, the ticket says why
            self._telling.say("The answer failed.", "red")

    # what the person does

    @property
    def busy(self) -> bool:
        """Whether there is something to stop."""
        return self.session.busy or bool(self._lines.living)

    @property
    def known(self) -> Known | None:
        """Where it is known what a call would do that a program waits on."""
        return self._questions if isinstance(self._questions, Known) else None

    def set_mode(self, mode: Policy) -> None:
        """What a line does from here on, while an answer is being made."""
        self.mode = mode

    async def use(self, model: str) -> None:
        """Have another model answer from here on."""
        if self._agent is None:
            raise ValueError("the agent is a team's own, and so is the choice of its model")
        if self.session.busy:
            raise ValueError("an answer is being made; stop it first. Nothing was changed")
        agent = await self._agent.use(model)
        self._questions = self._asking.questions = agent.questions
        self.model = model

    @property
    def receipt(self) -> Receipt | None:
        """The last one that was given here."""
        return self._telling.receipt

    def stop(self) -> None:
        """Nothing of what goes acts after this."""
        if self.aids.close() and not self.busy:
            return
        self._lines.cancel()  # before the stop: what is not accepted yet never will be
        self._leaving, self._hushed, self.rollback = False, True, False
        try:
            answer = self.session.stop(by=self.by or None)
        except LastwordError as error:
            self.say(short(str(error), 500))
            return
        self._tasks.start(self._answered(answer), name="stop")

    async def _answered(self, answer: Stopping) -> None:
        """What was stopped is told by the feed; that nothing was, only here."""
        receipt = await answer
        unsent, self._unsent = self._unsent, {}
        never = [text for id_, text in unsent.items() if id_ not in self._accepted]
        for text in never:
            self.say(f"Not sent: {text}")
        if not receipt and not never:
            self.say(receipt_lines(receipt)[0])

    def interrupt(self) -> None:
        """Ctrl-C: stop; if there is nothing to stop, and again, leave."""
        if self.busy:
            self.stop()
        elif self._leaving:
            self.leave(0)
        else:
            self.aids.close()
            self._screen.buffer.reset()
            self._leaving = True

    def leave(self, code: int = 0) -> None:
        """End the conversation here."""
        self._screen.leave(code)

    @property
    def is_asked(self) -> bool:
        """Whether a key can be an answer now: nothing is being typed, and it was seen."""
        return self._asking.ready and not self._screen.buffer.text and not self.aids.picks

    def edit(self) -> None:
        """Write the line in an editor."""
        self._tasks.start(self.aids.edit(), name="editor")

    def answer(self, word: str) -> None:
        """To the question that is shown; nothing, if it is gone."""
        question = self._asking.question
        if question and (answered := self._asking.take(word)):
            self._telling.say(f"? {short(question.tool)}: {answered.label}")
            self._asking.look()
        self._screen.draw()

    def take_line(self, text: str) -> None:
        """What was typed, and Enter."""
        self._leaving = False
        words = text.strip()
        if self.aids.picks and not commands.is_command(text):
            if there := self.aids.close():
                self._tasks.start(self.go_to(there), name="go")
            return
        self.aids.close()
        if not words:
            return
        if self._asking.ready and self._asking.means(words):
            self.answer(words)
        elif words == "/stop" or (means_stop(words) and (self.busy or self._hushed)):
            self.stop()
        else:
            id_ = MessageId(token_hex(8))
            self._lines.start(self._do(id_, text, self._lines.living), name="line")
            self._hushed = False

    async def _do(
        self, id_: MessageId, line: str, before: tuple[asyncio.Task[object], ...]
    ) -> None:
        """A line takes effect after those before it; only a stop waits for nothing."""
        try:
            if before:
                await asyncio.wait(before)
            if commands.is_command(line):
                await commands.do(self, line)
            else:
                mode, self.rollback = "rollback" if self.rollback else self.mode, False
                await self.send(line.strip(), mode, id_)
        except asyncio.CancelledError:
            self._unsent[id_] = line.strip()
            raise

    async def send(self, text: str, mode: Policy, id_: MessageId | None = None) -> None:
        """Say it to the agent."""
        id_ = id_ or MessageId(token_hex(8))
        self._ours.add(id_)
        try:
            ticket = await self.session.send(text, id=id_, by=self.by, on_message=mode)
        except Refused as error:
            self.say(short(str(error), 500))
            if not self._screen.buffer.text:
                self._screen.buffer.insert_text(text)
            return
        if placed := _PLACED.get(ticket.placed):
            self.say(f"({placed}) {text}")
        self._tasks.start(self._see(ticket), name="outcome")

    async def _see(self, ticket: Ticket) -> None:
        if await ticket.outcome() is Outcome.FAILED:
            self._telling.say(f"The answer failed: {short(ticket.error, 500)}", "red")
        self._ours.discard(ticket.message.id)
        self._accepted.discard(ticket.message.id)

    async def go_to(self, session: str) -> None:
        """Talk to another session; this one goes on."""
        there = self.runtime.session(session)
        before = [] if there.id in self._seen else await recap(there)
        self._telling.finish()
        if self._following:
            self._following.cancel()
        self.session = there
        self._telling = self._new_telling()
        self.say(f"Now in {short(session)}.")
        self._remind(before)
        self._follow()
        self._asking.look()

    def _typed(self, _: object) -> None:
        self._leaving = False
        self.aids.typed()
        if not self._screen.buffer.text:
            self._asking.emptied()
