"""What the stories of a real runtime share: engines that do what a message says, and the list."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from lastword import Engine, Run, Session, Ticket
from lastword.core.story import FeedEvent
from tests.surfaces.recording import Stage

Story: TypeAlias = Callable[[Stage], Awaitable[None]]
Play: TypeAlias = Callable[[Run], Awaitable[None]]
STORIES: dict[str, Story] = {}


def story(play: Story) -> Story:
    """One that every surface is told."""
    STORIES[play.__name__] = play
    return play


def plays(**by_text: Play) -> Engine:
    """An engine that answers each message in its own way."""

    async def engine(run: Run) -> None:
        await by_text[run.messages[-1].text](run)

    return engine


async def say(run: Run, *words: str) -> None:
    """Each by itself, so that somebody may come in between."""
    for word in words:
        await run.emit(f"{word} ")
        await asyncio.sleep(0)


async def for_ever() -> None:
    """Until it is ended."""
    await asyncio.Event().wait()


def talks(*words: str) -> Play:
    """Says this, and is done."""

    async def play(run: Run) -> None:
        await say(run, *words)

    return play


def stays(*words: str) -> Play:
    """Says this, and goes on."""

    async def play(run: Run) -> None:
        await say(run, *words)
        await for_ever()

    return play


async def told(session: Session, is_it: Callable[[FeedEvent], bool]) -> None:
    """Return when something like that has been told, now or before, fenced by now or not."""
    feed = session.feed
    while not any(map(is_it, feed.since(0))):
        await feed.more(feed.last)


async def hears(session: Session, words: str) -> None:
    """Return when these have been said."""
    await told(session, lambda event: event.text.strip() == words)


async def done(*tickets: Ticket) -> None:
    """Return when these have their outcomes."""
    for ticket in tickets:
        await ticket.outcome()
