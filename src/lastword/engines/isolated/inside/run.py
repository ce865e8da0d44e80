"""The `Run` of a run's process: the same as everywhere, over the page and the line.

What is only work is done here, and checked by the page. What is an effect on the session (a word, a
call, a child, a question) is the host's, which asks the run's own hold in the step that begins it.
"""

from __future__ import annotations

import asyncio
import json
import mmap
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, NoReturn, TypeVar

from lastword.core.asks import Answer
from lastword.core.doubts import Doubts
from lastword.core.entries import Text, Thinking
from lastword.core.model import RunId
from lastword.core.plain import to_plain
from lastword.core.question import Question
from lastword.core.shown import Shown
from lastword.core.story import Progress, Typing, kind_of
from lastword.core.undo import FilesReport
from lastword.engines.isolated.inside.ledger import LedgerInside
from lastword.engines.isolated.inside.post import Post
from lastword.engines.isolated.inside.started import OwnedInside
from lastword.engines.isolated.inside.world import (
    HomeApart,
    NoProcesses,
    Nowhere,
    Paged,
    SessionApart,
    TraceInside,
    not_available,
)
from lastword.runtime.active_run import ActiveRun
from lastword.runtime.asks import ForGood
from lastword.runtime.beginning import Beginning
from lastword.runtime.checks import must_be_seconds, must_be_text
from lastword.runtime.hold import Hold
from lastword.runtime.run import Run
from lastword.runtime.speech import Speech

R = TypeVar("R")
_BREATH = 64  # a run that only ever speaks gives way to the event loop once in so many


def run_inside_of(told: Beginning, post: Post, page: mmap.mmap, module: str) -> RunInside:
    """The run that has begun, here."""
    session = SessionApart(told, post, module)
    paged = Paged(page, told.generation)
    hold = HoldInside(
        paged,
        threading.Lock(),
        Nowhere(told),
        told.run,
        told.generation,
        sessions=told.sessions,
    )
    post.must_hold, hold.told = hold.must_hold, post.dropped
    trace = TraceInside(told, post, asyncio.get_running_loop().time)
    speech = Speech(told.run, session.journal, waits=False)
    going = ActiveRun(
        told.turn, hold, None, speech, HomeApart(OwnedInside(post, hold.must_hold)), trace
    )
    ledger = LedgerInside(
        going, NoProcesses(), session.journal, session.threads, post.make, Doubts()
    )
    ledger.post = post
    going.ledger = ledger
    run = RunInside(session, going, told, post)
    run.paged = paged
    return run


class HoldInside(Hold):
    """What it refuses is counted by the host, for the receipt."""

    __slots__ = ("told",)

    def _refuse(self, what: str) -> None:
        super()._refuse(what)
        self.told(what)


class RunInside(Run):
    """One answer in the making, in a process of its own."""

    paged: Paged

    def __init__(
        self, session: SessionApart, going: ActiveRun, told: Beginning, post: Post
    ) -> None:
        super().__init__(session, going, told.history)
        self._told_of = told
        self._post = post

    def retire(self) -> None:
        """It has ended, and its process goes on for another: it may do nothing any more."""
        self.paged.over = True
        self._post.mute()

    @property
    def going(self) -> ActiveRun:
        """It, for whoever has to end it."""
        return self._going

    @property
    def hold(self) -> Hold:
        """Its hold."""
        return self._hold

    @property
    def by(self) -> str:
        return self._told_of.by

    @property
    def top(self) -> RunId:
        return self._told_of.top

    @property
    def lives(self) -> Any:  # noqa: ANN401 - as a run has it
        return self._told_of.lives

    # what it says

    async def _say(self, fact: Text | Thinking | Progress | Typing, *, soon: bool = False) -> None:
        if self._hold.granted:
            self._said(fact, soon=soon)
            self._told += 1
        else:
            self._hold.drop(kind_of(fact))
            self._told = 0
        if self._post.full:
            await self._post.room()
        elif not self._told % _BREATH:
            await asyncio.sleep(0)

    def _said(self, fact: Text | Thinking | Progress | Typing, *, soon: bool) -> None:
        match fact:
            case Text(text=text):
                (self._post.stream if soon else self._post.say)(text)
            case Thinking(text=text, native=native):
                self._post.tell("think", text, to_plain(native), soon)
            case Progress(text=text, call=call):
                self._post.tell("progress", text, self._post.number(call) if call else None)
            case Typing():
                pass  # the host keeps the mark up

    def _stream(self, fact: Text | Thinking) -> Coroutine[Any, Any, None]:
        return self._say(fact, soon=True)

    async def said(self) -> None:
        """Return when what was said has left."""
        await self._post.request("said")

    @asynccontextmanager
    async def typing(self, every: float = 4.0) -> AsyncGenerator[None]:
        """Show the typing mark meanwhile; the host keeps it up."""
        must_be_seconds(every, "every")
        self._typing += 1
        try:
            if self._typing == 1:
                self._hold.must_hold("start of typing")
                self._post.tell("typing", every)
            yield
        finally:
            self._typing -= 1
            if not self._typing and self._hold.current:
                self._post.tell("typing", None)

    async def ask(self, question: Question, for_good: ForGood | None = None) -> Answer:
        """Ask a person, and wait for what they say."""
        if for_good:  # the rules are where the answer is taken
            not_available("run.ask(for_good=)")
        self._hold.must_hold(f"this question about {question.tool}")
        return await self._post.request("ask", to_plain(question))

    async def answered_before(self, question: Question, answer: Answer) -> None:
        """Somebody was asked for a call, and has answered, before it was this run's to make."""
        await self._post.request("answered_before", to_plain(question), to_plain(answer))

    def has_changed(self, files: FilesReport) -> NoReturn:  # noqa: ARG002 - nobody would have it
        """Its host would not hear what is said late."""
        not_available("run.has_changed")

    # what is started

    async def processes_gone(self) -> NoReturn:
        """This process is one of them."""
        not_available("run.processes_gone")

    async def request(self, service: str, *given: Any) -> Any:  # noqa: ANN401 - whatever JSON has
        """Ask the program for something, and wait for the answer."""
        must_be_text(service, "a service's name")
        return json.loads(await self._post.request("service", service, given))

    def adopt(self, *_: Any, **__: Any) -> Any:  # noqa: ANN401 - it never does
        """A process is the host's to give."""
        not_available("run.adopt")

    async def isolate(self, function: Callable[..., R], *args: object, **kwargs: object) -> R:
        """Call a function in a thread: it ends with this process, as one of its own would."""
        return await self._loop.run_in_executor(self.executor, partial(function, *args, **kwargs))

    # for frameworks

    def used(self, model: str, input_tokens: int, output_tokens: int) -> None:
        """A model was asked, and this is what it cost."""
        if self._hold.granted:
            self._post.tell("used", model, input_tokens, output_tokens)

    def costs(self, model: str, input_tokens: int, output_tokens: int) -> None:
        """What a request cost that was told of as it was made."""
        if self._hold.granted:
            self._post.tell("costs", model, input_tokens, output_tokens)

    async def summarise(self, text: str, *, upto: RunId) -> Sequence[Shown]:
        """Put this in place of all turns up to that run's, from now on; what is shown then."""
        self._hold.must_hold("this summary")
        self.history = await self._post.request("summarise", text, upto)
        return self.history
