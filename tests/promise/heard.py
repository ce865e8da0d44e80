"""What a session's story tells of questions, for whoever stands in for a surface."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager

from lastword import Session
from lastword.core.entries import Answered, Asked, Withdrawn
from lastword.core.question import Question


@contextmanager
def hearing(session: Session, watcher: Callable[[str, Question], object]) -> Generator[None]:
    """Have somebody told of every question meanwhile: opened, answered, withdrawn. They follow in
    the name of whoever has them told, which is a run if this is inside of one."""
    events = session.events()  # from this very moment on

    async def follow() -> None:
        known: dict[str, Question] = {}
        async for event in events:
            match event.fact:
                case Asked(question=Question() as question):
                    known[question.id] = question
                    watcher("opened", question)
                case Answered(ask=ask) if ask in known:
                    watcher("answered", known[ask])
                case Withdrawn(ask=ask) if ask in known:
                    watcher("withdrawn", known[ask])
                case _:
                    pass

    following = asyncio.create_task(follow())
    try:
        yield
    finally:
        following.cancel()
