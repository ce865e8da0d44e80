"""R15. Whatever is asked of a session in the instant in which it leaves memory."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from lastword import Outcome, Session
from lastword.errors import LastwordError, StaleRun
from lastword.stores.contract import StoredSession, Write
from lastword.stores.memory import MemoryStore
from lastword.testing.seeded import explore
from tests.promise.stories import OneAtATime, answer, check_log, heard_by, runtime, talk

pytestmark = pytest.mark.scenario("R15")


class Slow(MemoryStore):
    """Everything that is asked of it takes some steps."""

    async def load(self, session: Any) -> StoredSession | None:
        await asyncio.sleep(0)
        found = await super().load(session)
        await asyncio.sleep(0)
        return found

    async def commit(self, write: Write) -> None:
        await asyncio.sleep(0)
        await super().commit(write)
        await asyncio.sleep(0)


def test_whatever_is_asked_as_a_session_leaves_is_asked_of_the_one_that_lives(
    schedules: int,
) -> None:
    """Sends, stops, stops as from a thread, and watchers, all in the instant of the letting go."""
    rest = 1.0
    left = 0

    async def story() -> None:
        nonlocal left
        engine = OneAtATime(talk)
        async with runtime(engine, store=Slow(), rest=rest, deadline=1) as r:
            session = r.session("s")
            seen = heard_by(session)
            first = await session.send("first")
            await session.stop()
            tickets = [first]
            for _ in range(3):
                idle_since = asyncio.get_running_loop().time()

                async def send(at: float, text: str) -> None:
                    await asyncio.sleep(at)
                    tickets.append(await r.session("s").send(text))

                async def stop(at: float, *, thread: bool) -> None:
                    await asyncio.sleep(at)
                    with suppress(StaleRun, LastwordError):
                        if thread:
                            await asyncio.wrap_future(r.session("s").stop_soon())
                        else:
                            await r.session("s").stop()

                # looks are at half of it, so it leaves after one and a half at the latest
                at = [rest / 2 * looks for looks in (2, 3, 3)]
                await asyncio.gather(
                    send(at[0], "a"), stop(at[1], thread=False), stop(at[2], thread=True)
                )
                left += not r.at_hand
                await r.session("s").stop()
                while r.at_hand and asyncio.get_running_loop().time() < idle_since + 60:
                    await asyncio.sleep(rest / 2)
                left += not r.at_hand
            assert all(ticket.known_outcome == Outcome.STOPPED for ticket in tickets)
            assert not engine.broken
            numbers = [event.number for event in seen]
            assert numbers == sorted(set(numbers))  # what was fenced first is not handed out
            ended = [event.run for event in seen if event.kind == "finished"]
            assert ended == list(dict.fromkeys(ended))
            assert [ticket.run for ticket in tickets] == ended
            await check_log(session)

    explore(story, schedules)
    assert left > schedules, "the session hardly ever left"


def test_a_message_beside_the_letting_go_runs_once_whoever_holds_what(schedules: int) -> None:
    async def story() -> None:
        engine = OneAtATime(answer)
        async with runtime(engine, store=Slow(), rest=1.0, on_message="queue") as r:
            held: Session | None = r.session("s")
            await (await r.session("s").send("first")).outcome()
            for number in range(4):

                async def send(text: str, handle: Session | None) -> None:
                    await asyncio.sleep(1.0)
                    ticket = await (handle or r.session("s")).send(text)
                    assert await ticket.outcome() == Outcome.COMPLETED

                await asyncio.gather(send(f"{number}a", held), send(f"{number}b", None))
                held = None if number % 2 else r.session("s")
                await asyncio.sleep(1.5)
            assert sorted(engine.order) == sorted(
                ["first", *(f"{number}{name}" for number in range(4) for name in "ab")]
            )
            await check_log(r.session("s"))

    explore(story, schedules)
