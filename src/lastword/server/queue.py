"""What waits: edited, moved, removed, resumed; and questions, which are answered.

Who has no right to stop may change what is theirs. An answer counts once, and for the generation at
which its question was seen.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace

from msgspec import UNSET

from lastword.core.resume import resume_in
from lastword.errors import NotWaiting
from lastword.runtime.session import Session
from lastword.server import wire
from lastword.server.desk import ApiRequest, Reply, made, reply
from lastword.server.problems import Trouble


async def listed(asked: ApiRequest) -> Reply:
    """The messages that wait, in the order of their turns."""
    session = await asked.named()
    news = await session.queued()
    if "read" not in asked.who.rights:  # and has changed it: they see what is theirs
        mine = tuple(one for one in news.messages if one.message.by == asked.who.name)
        news = replace(news, messages=mine)
    return await made(asked.shapes.queue(news))


async def change(asked: ApiRequest) -> Reply:
    """Give a message that waits another text, or another place."""
    told, message = await asked.body(wire.QueueChange), asked.part("message")
    session = await asked.named()
    await _must_be_theirs(asked)
    if told.text is UNSET and told.to is UNSET:
        raise Trouble("bad-request", "say what is to change: text, or to")
    if told.text is not UNSET:
        _must_be_words(session, message)
        _must_fit(asked, session, _size(told.text), less=message)
        await session.edit(message, told.text)
    if told.to is not UNSET:
        await session.move(message, _place(asked, told.to))
    return await listed(asked)


@contextmanager
def fits(asked: ApiRequest, session: Session, said: Iterable[wire.MessageIn]) -> Generator[None]:
    """Whether there is room for messages to wait, while they are being accepted."""
    size = sum(_size(m.text) + sum(_size(one.data) for one in m.attachments) for m in said)
    coming = asked.desk.coming
    _must_fit(asked, session, size + coming[session.id])
    coming[session.id] += size
    try:
        yield
    finally:
        coming[session.id] -= size
        if not coming[session.id]:
            del coming[session.id]


def _must_fit(asked: ApiRequest, session: Session, size: int, less: str = "") -> None:
    waiting = [one.message for one in session.waiting.messages if one.message.id != less]
    here = sum(_size(m.text) + sum(_size(a.data) for a in m.attachments) for m in waiting)
    most = asked.desk.limits.waiting
    if waiting and here + size > most:
        why = f"the messages that wait in {asked.name} have {here} bytes already, of {most}"
        raise Trouble("queue-full", f"{why}; this was not accepted")


def _size(text: str) -> int:
    """About: to know it exactly takes as long as to encode it."""
    return len(text) if text.isascii() else 4 * len(text)


def _place(asked: ApiRequest, to: int) -> int:
    """Among those that can be moved: what was sent to steer comes first, and stays there."""
    ahead = sum(one.placed == "steering" for one in asked.session.waiting.messages)
    return max(to - ahead, 0)


def _must_be_words(session: Session, message: str) -> None:
    """Answers to a program say what they say; other words around them would be a lie."""
    waiting = [one.message for one in session.waiting.messages if one.message.id == message]
    if waiting and resume_in(waiting[0]):
        raise Trouble("bad-request", "answers to a program cannot be edited; remove them instead")


async def remove(asked: ApiRequest) -> Reply:
    """Take a message that waits out of the queue."""
    session = await asked.named()
    await _must_be_theirs(asked)
    await session.remove(asked.part("message"))
    return await listed(asked)


async def resume(asked: ApiRequest) -> Reply:
    """Let what a stop left waiting go on."""
    session = await asked.named()
    await session.resume()
    return await listed(asked)


async def _must_be_theirs(asked: ApiRequest) -> None:
    """Who has no right to stop may change what is theirs."""
    message, rights = asked.part("message"), asked.who.rights
    if "stop" in rights:
        return
    session = asked.session
    await session.loaded()
    waiting = session.waiting.messages
    theirs = [one for one in waiting if one.message.id == message]
    if not theirs:
        raise NotWaiting(message)
    if theirs[0].message.by != asked.who.name:
        raise Trouble("not-allowed", f"{asked.who.name} did not send message {message}")


async def answer(asked: ApiRequest) -> Reply:
    """Answer a question of a run's. The first answer holds."""
    await answered(asked, asked.part("question"), await asked.body(wire.AnswerIn))
    return reply(wire.Empty())


async def answered(asked: ApiRequest, id_: str, told: wire.AnswerIn) -> None:
    """The same, for an answer that came in another way. Raises `AnswerRefused`."""
    always, scope, by, seen = told.always, told.scope, asked.who.name, told.generation
    try:
        await asked.session.answer(id_, told.allow, seen, always=always, scope=scope, by=by)
    except ValueError as error:
        raise Trouble("bad-request", str(error)) from error
