"""What a person does about the messages that wait for their turn, by their numbers as last listed.

One that has begun meanwhile is not changed: the error says so, and nothing was done.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from lastword.core.model import Message
from lastword.core.rows import count
from lastword.runtime.session import Session
from lastword.surfaces.marking import in_short

USAGE = "remove N · edit N TEXT · move N M · resume"
Act: TypeAlias = Callable[[Session, str], Awaitable[str]]


async def do(session: Session, words: str) -> str:
    """Do it, and say what came of it. Raises ValueError, or an error of lastword's, that says why
    nothing was done."""
    verb, _, rest = words.partition(" ")
    act = _ACTS.get(verb)
    if act is None:
        raise ValueError(f"say one of these: {USAGE}; without a word, all of them are listed")
    return await act(session, rest.strip())


async def _list(session: Session, _: str) -> str:
    rows = [f"{number}. {in_short(one.text)}" for number, one in enumerate(session.queue, 1)]
    return "\n".join(rows) or "Nothing waits."


async def _remove(session: Session, words: str) -> str:
    message = _waiting(session, words)
    await session.remove(message.id)
    return f"Removed: {in_short(message.text)}"


async def _edit(session: Session, words: str) -> str:
    number, _, text = words.partition(" ")
    message = _waiting(session, number)
    if not text.strip():
        raise ValueError("/queue edit takes a number and the new text")
    await session.edit(message.id, text.strip())
    return await _list(session, "")


async def _move(session: Session, words: str) -> str:
    number, _, to = words.partition(" ")
    message = _waiting(session, number)
    _waiting(session, to)
    await session.move(message.id, int(to) - 1)
    return await _list(session, "")


async def _resume(session: Session, _: str) -> str:
    await session.resume()
    return f"{count(len(session.queue), 'message')} left in the queue."


def _waiting(session: Session, word: str) -> Message:
    queue = session.queue
    if not word.strip().isdecimal() or not 1 <= int(word) <= len(queue):
        there = f"1 to {len(queue)}" if queue else "and nothing waits"
        raise ValueError(f"say which by its number in /queue: {there}")
    return queue[int(word) - 1]


_ACTS: dict[str, Act] = {
    "": _list,
    "remove": _remove,
    "edit": _edit,
    "move": _move,
    "resume": _resume,
}
