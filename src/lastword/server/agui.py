"""`/v1/agui`: a session as an AG-UI 1.0 agent. A thread is a session, and a request is a message,
the answer to a question, or the wish to see what is going on.

The client sends all that it has; new are the last words of the person that the session does not
know by their ids. The protocol has no other way to stop than to hang up, so leaving stops the run
that the request asked for, and no other, unless the client says that it comes back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress
from functools import partial

from starlette.types import Receive, Scope, Send

from lastword.core.model import MessageId, Outcome, RunId, is_ours
from lastword.core.picture import Picture
from lastword.core.question import Question
from lastword.core.scene import AskOpened, Change, Joined, MessageItem, TurnItem
from lastword.errors import AnswerRefused, LastwordError, SlowWatcher
from lastword.server.agui_events import AguiRun, Encoder, Event
from lastword.server.agui_input import RunAgentInput, answers, last_words, to_send
from lastword.server.desk import ApiRequest
from lastword.server.drawn import still
from lastword.server.hub import Hub
from lastword.server.limits import must_have_room
from lastword.server.operation import Query
from lastword.server.problems import Trouble, trouble_of
from lastword.server.queue import answered
from lastword.server.sessions import all_accepted
from lastword.server.shapes import encode
from lastword.server.streams import HEADERS, Watcher
from lastword.server.watching import pictured
from lastword.server.who import Right
from lastword.server.wire import AnswerIn
from lastword.surfaces.following import Following

LEAVING = Query(
    "on_disconnect",
    "`stop`: to leave stops the run that was asked for, for who has that right.",
    {"enum": ["stop", "continue"]},
)
_ENTRIES = 5_000  # of the log that a snapshot has
_CLOSED = {"deleted": "the session was deleted", "lost": "another process has the session"}


class AguiStream:
    """What a stream tells of one run, while it is told."""

    def __init__(
        self,
        hub: Hub[Watcher],
        following: Following,
        encoder: Encoder,
        questions: Callable[[], Iterable[Question]],
    ) -> None:
        self._hub = hub
        self._following = following
        self._encoder = encoder
        self._questions = questions  # those that are open
        self._asked = list(following.picture.questions)  # before anything is told

    def chunk(self, number: int) -> tuple[int, bytes]:
        """All that may leave now."""
        if self._hub.must_wait():
            return number, b""
        told = list[Event]()
        try:
            open_ = {one.id: one for one in self._questions()}
            for _, changes in self._following.at_once():
                told += self._encoder.tell(one for one in changes if not _is_over(one, open_))
            asked = [open_[one] for one in self._asked if one in open_]
            told += self._encoder.asked(asked)
            self._asked = []
        except SlowWatcher:
            told += self._encoder.failed("too-slow", "so much came that this stream missed some")
        return self._following.picture.seen, framed(told)

    @property
    def over(self) -> bool:
        """Whether there is no more."""
        return self._encoder.over or self._hub.feed.closed

    def last_word(self) -> bytes:
        """Why there is no more, if the run did not say so."""
        if self._encoder.over:
            return b""
        why = self._hub.session.over or "shutdown"
        return framed(self._encoder.failed(why, _CLOSED.get(why, "the server was shut down")))


async def about(asked: ApiRequest) -> None:
    """Know which session it is: the body names it, and no path."""
    asked.is_about((await asked.body(RunAgentInput)).thread_id)


async def run(asked: ApiRequest, scope: Scope, receive: Receive, send: Send) -> None:
    """Do what a request says, and tell what comes of it."""
    must_have_room(scope)
    given = await asked.body(RunAgentInput)
    asked.is_about(given.thread_id)
    _must_be_allowed(asked, given)
    stops, desk, who = _stops(asked), asked.desk, asked.who
    with desk.shares.watcher(who.principal):
        with desk.shares.request(who.principal):
            following = Following(await asked.named())
            try:
                about, ended = await _done(asked, given, following)
            except AnswerRefused as error:
                await _refuse(asked, error, send)
                return
            encoder = Encoder(about, asked.shapes)
            session = following.session
            moment = still(following.picture, session.fenced, session.questions)
            first = framed(await asyncio.to_thread(encoder.first, moment, ended))
        hub = desk.streams.hub(following.session, asked.shapes)
        telling = AguiStream(hub, following, encoder, asked.questions)
        watcher = Watcher(hub, scope, receive, send, telling)
        with desk.streams.watched(hub, watcher):
            try:
                await watcher.serve(following.picture.seen, first)
            finally:
                if stops and about.asked_for and not telling.over and not desk.closing:
                    await _leave(following, about, who.name)


def _is_over(change: Change, questions: Container[str]) -> bool:
    """Whether it asks what is answered or withdrawn by now: the run goes on, or tells its end."""
    return isinstance(change, AskOpened) and change.question.id not in questions


def framed(told: Iterable[Event]) -> bytes:
    """Events as they go over the wire."""
    return b"".join(b"data: %b\n\n" % encode(one) for one in told)


# what is asked for


def _must_be_allowed(asked: ApiRequest, given: RunAgentInput) -> None:
    needed: list[Right] = ["read", "approve"] if given.resume else ["read"]
    for right in needed:
        if right not in asked.who.rights:
            raise Trouble("forbidden", f"{asked.who.name} has no right to {right} here")
    if given.tools:
        raise Trouble(
            "bad-request",
            "the agent has its own tools, and calls none of the client's; nothing was done",
        )


def _stops(asked: ApiRequest) -> bool:
    """Whether to leave is to stop."""
    told, may = asked.choice("on_disconnect", "stop", "continue"), "stop" in asked.who.rights
    if "on_disconnect" in asked.request.query_params and told == "stop" and not may:
        raise Trouble("forbidden", f"{asked.who.name} has no right to stop, on leaving or before")
    return told == "stop" and may


async def _leave(following: Following, about: AguiRun, by: str) -> None:
    """Take back what waits of what was asked for, and stop it if it began; and nothing if it is
    over: who left late stops no other answer."""
    session = following.session
    waiting = [one.message for one in session.waiting.messages if one.message.by == by]
    mine = [one.id for one in waiting if one.id in about.messages]
    if mine:  # at once, so that no turn begins in between with what is left of them
        await asyncio.gather(*(session.remove(one, by=by) for one in mine), return_exceptions=True)
    with suppress(SlowWatcher):
        for _ in following.at_once():
            pass  # so that it is known who else is answered by now
    run = about.run()
    with suppress(LastwordError, RuntimeError):
        if run and (not about.messages or _is_theirs(following.picture, run, about, by)):
            session.stop(run=run, by=by)


def _is_theirs(picture: Picture, run: RunId, about: AguiRun, by: str) -> bool:
    """Whether a run began with what was asked here, and answers nobody else."""
    began = list[MessageId]()  # they stand right before it
    for item in picture.items:
        match item:
            case MessageItem(message, outcome=""):
                began.append(message)
            case TurnItem(head, parts) if head.run == run:
                every = *began, *(one.message for one in parts if isinstance(one, Joined))
                said = [picture.messages[one].message for one in every if one in picture.messages]
                people = {one.by for one in said if one.origin == "person"}
                return people == {by} and not set(about.messages).isdisjoint(began)
            case _:
                began.clear()
    return False


async def _done(
    asked: ApiRequest, given: RunAgentInput, following: Following
) -> tuple[AguiRun, Outcome | None]:
    """Do it. What a stream is to tell of, beginning with the moment before that; and how it ended,
    if it was over by then."""
    said, session = last_words(given.messages), following.session
    resume = answers(given.resume or ())
    if said or resume:
        await session.loaded()  # so that what is seen first is where what follows begins
    known = {one.id for one in await session.record.said([MessageId(one.id) for one in said])}
    following.picture, *_ = await pictured(session, _ENTRIES)
    active = following.picture.phase.active
    about = AguiRun(given.thread_id, given.run_id, (), lambda: active, given.knows_cancelled)
    known |= following.picture.messages.keys()  # also what came since it was asked for
    new = [one for one in said if one.id not in known]
    answer = partial(_answer, asked, resume)
    if not new and (resume or not said or is_ours(said[-1].id)):
        return about._replace(asked_for=active in await answer()), None
    tickets = await all_accepted(asked, to_send(new or said[-1:]), answer if resume else None)
    about = about._replace(
        messages=tuple(one.message.id for one in tickets),
        # one of them may have been taken back before the others began
        run=lambda: next((one.run for one in tickets if one.begun), tickets[-1].run),
        asked_for=True,
        new=tuple(one.message for one in tickets) if new else (),
    )
    return about, None if new else tickets[-1].known_outcome


async def _answer(asked: ApiRequest, resume: Mapping[str, AnswerIn]) -> set[RunId]:
    """All of them, or none: what cannot be answered is refused by what became of it. The runs that
    waited for it."""
    open_ = {one.id: one for one in asked.questions()}
    waited = {
        run for one in asked.session.asks if one.id in resume for run in (one.run, *one.above)
    }
    late = {id_ for id_, told in resume.items() if not _is_open(open_.get(id_), told)}
    for id_ in sorted(resume, key=lambda one: one not in late):
        await answered(asked, id_, resume[id_])
    return waited


def _is_open(question: Question | None, told: AnswerIn) -> bool:
    """Whether an answer can be taken, which one with a scope that is not offered cannot."""
    scopes = {"", *(one.id for one in question.scopes)} if question else set[str]()
    return bool(question) and question.generation == told.generation and told.scope in scopes


async def _refuse(asked: ApiRequest, error: AnswerRefused, send: Send) -> None:
    """A run that continues from nothing fails; that is told where a client listens."""
    trouble = trouble_of(error, asked.who.space)
    told = {"type": "RUN_ERROR", "message": trouble.detail, "code": trouble.slug}
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": framed([told])})
