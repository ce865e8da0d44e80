"""R15. Who watches a session, and the numbers of its events, while it is not in memory."""

import gc
from collections.abc import Callable
from typing import Any

import pytest

from lastword import Outcome, Runtime, SlowWatcher
from lastword.testing.seeded import Choices, play
from tests.promise.stories import a_while, answer, heard_by, runtime

pytestmark = pytest.mark.scenario("R15")


def told(story: Callable[[], Any]) -> None:
    """In virtual time, in which a while is longer than any rest."""
    play(story, Choices())


def names(r: Runtime) -> list[str]:
    return sorted(session.id for session in r.at_hand)


def test_who_watches_hears_what_comes_after_the_session_left_and_came_back() -> None:
    async def story() -> None:
        async with runtime(answer) as r:
            seen = heard_by(r.session("s"))  # it holds nothing but what it watches
            for text in ("one", "two"):
                await (await r.session("s").send(text)).outcome()
                await a_while()
                gc.collect()
                assert names(r) == []
            assert [event.text for event in seen if event.kind == "text"] == ["re: one", "re: two"]
            assert [event.number for event in seen] == list(range(1, len(seen) + 1))

    told(story)


def test_events_are_numbered_on_though_nobody_had_anything_of_the_session() -> None:
    async def story() -> None:
        async with runtime(answer) as r:
            await (await r.session("s").send("one")).outcome()
            await a_while()
            gc.collect()
            last = r.session("s").last_event
            assert last > 0
            gc.collect()
            events = r.session("s").events(after=last)
            await (await r.session("s").send("two")).outcome()
            first = await anext(events)
            assert (first.number, first.kind, first.text) == (last + 1, "said", "two")
            with pytest.raises(SlowWatcher):
                await anext(r.session("s").events(after=1))

    told(story)


def test_a_deleted_session_is_not_numbered_on() -> None:
    async def story() -> None:
        async with runtime(answer) as r:
            await (await r.session("s").send("one")).outcome()
            await a_while()
            generation = r.session("s").generation
            await r.delete("s")
            assert r.session("s").last_event == 0
            ticket = await r.session("s").send("new")
            assert await ticket.outcome() == Outcome.COMPLETED
            assert r.session("s").generation > generation
            assert [item.text for item in await r.session("s").history()] == ["new", "re: new"]

    told(story)
