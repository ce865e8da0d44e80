"""Everything at once: any order of messages, stops, edits, tools, children and store failures.

Each story is drawn from its schedule's number, told under that schedule, and asked at the end
what the promise asks of every history: one run at a time, one outcome a message, one result a
call, nothing left behind, and what was acknowledged is in the log.
"""

import asyncio
import random
from contextlib import suppress
from typing import get_args

import pytest

from lastword import FeedEvent, LastwordError, Policy, Refused, Run, Session, Ticket
from lastword.core.entries import Said
from lastword.core.transcript import build
from lastword.errors import StoreError
from lastword.stores.contract import Write
from lastword.stores.memory import MemoryStore
from lastword.testing.seeded import Choices, play
from tests.promise.stories import OneAtATime, a_while, check_log, runtime

POLICIES = get_args(Policy)


class Flaky(MemoryStore):
    """A store that is slow, and sometimes fails."""

    def __init__(self, draw: random.Random, failing: float) -> None:
        super().__init__()
        self.failing = failing
        self._draw = draw

    async def commit(self, write: Write) -> None:
        for _ in range(self._draw.randrange(3)):
            await asyncio.sleep(0)
        if self._draw.random() < self.failing:
            raise StoreError("a bad moment")
        await super().commit(write)


class Storm:
    """One story."""

    def __init__(self, seed: int, failing: float, rest: float) -> None:
        self.rest = rest
        self.draw = random.Random(seed)
        self.store = Flaky(self.draw, failing)
        self.tickets: list[tuple[str, Ticket]] = []
        self.acts = 0

    async def tool(self) -> None:
        await asyncio.sleep(self.draw.choice([0, 0.1, 0.5]))
        if self.draw.random() < 0.2:
            raise ValueError("a tool that failed")

    async def sink(self, _: FeedEvent) -> None:
        await asyncio.sleep(self.draw.choice([0, 0, 0.1, 0.4]))

    async def engine(self, run: Run) -> None:
        for _ in range(self.draw.randrange(6)):
            try:
                await self.act(run)
            except (ValueError, LastwordError):
                pass
            except asyncio.CancelledError:
                if self.draw.random() < 0.3:
                    await asyncio.sleep(0.2)
                raise

    async def act(self, run: Run) -> None:
        self.acts += 1
        match self.draw.randrange(7):
            case 0:
                await run.emit("hm")
            case 1:
                await run.call(self.tool)
            case 2:
                await run.call(len, "in a thread")
            case 3:
                await run.steering()
            case 4 if run.session.count("/") < 2:
                child = await run.child("help", keep=self.draw.random() < 0.3)
                if self.draw.random() < 0.5:
                    await child.outcome()
            case 5:
                async with run.typing(0.2):
                    await asyncio.sleep(0.3)
            case _:
                run.task(run.call(len, "aside"))
                await asyncio.sleep(self.draw.choice([0, 0.1, 1]))

    async def interfere(self, session: Session) -> None:
        with suppress(LastwordError):
            match self.draw.randrange(10):
                case 0 | 1:
                    await session.stop()
                case 2 if session.active:
                    await session.stop(run=session.active)
                case 3 if session.queue:
                    await session.remove(self.draw.choice(session.queue).id)
                case 4 if session.queue:
                    await session.move(self.draw.choice(session.queue).id, 0)
                case 5 if session.queue:
                    await session.edit(self.draw.choice(session.queue).id, "otherwise")
                case 6:
                    await session.resume()
                case _:
                    origin = self.draw.choice(("person", "person", "timer"))
                    policy = self.draw.choice((None, *POLICIES))
                    ticket = await session.send("m", origin=origin, on_message=policy)
                    self.tickets.append((session.id, ticket))

    async def tell(self) -> None:
        keep = self.draw.choice(["drop", "keep"])
        engine = OneAtATime(self.engine)
        async with runtime(
            engine,
            sink=self.sink,
            store=self.store,
            deadline=2,
            queue_on_stop=keep,
            rest=self.rest,
        ) as r:
            sessions = [r.session("s"), r.session("z")]
            doing: list[asyncio.Task[None]] = []
            for _ in range(self.draw.randrange(4, 14)):
                doing.append(asyncio.create_task(self.interfere(self.draw.choice(sessions))))
                await asyncio.sleep(self.draw.choice([0, 0, 0.05, 0.3, 1.5]))
            await asyncio.gather(*doing)
            self.store.failing = 0
            for _ in range(3):  # a kept child may have come home meanwhile, and waits
                for session in sessions:
                    await session.resume()
                await a_while()
            await self.check(sessions)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, left

    async def check(self, sessions: list[Session]) -> None:
        for session in sessions:
            assert not session.busy
            assert not session.queue
            await check_log(session)
            log = await session.log()
            said = {entry.message.id for entry in log if isinstance(entry, Said)}
            acknowledged = {t.message.id for name, t in self.tickets if name == session.id}
            assert acknowledged <= said
            build(log)
        assert all(ticket.done for _, ticket in self.tickets)


@pytest.mark.parametrize(
    ("failing", "rest"),
    [
        (0, 60),
        (0.15, 60),
        # sessions leave memory, and come back, all the time
        pytest.param(0, 1, marks=pytest.mark.scenario("R15")),
        pytest.param(0.15, 1, marks=pytest.mark.scenario("R15")),
    ],
)
def test_no_storm_breaks_the_promise(
    failing: float, rest: float, schedules: int, seed: int
) -> None:
    acts = 0
    for number in range(seed, seed + schedules):
        storm = Storm(number, failing, rest)
        try:
            play(storm.tell, Choices(number))
        except BaseException as error:
            error.add_note(f"story and schedule {number}, failing {failing}, rest {rest}")
            raise
        acts += storm.acts
    assert acts > 3 * schedules, "the storms were not much of a storm"


def test_what_was_refused_is_told_so_and_nothing_of_it_is_stored(schedules: int, seed: int) -> None:
    async def story(seed: int) -> None:
        draw = random.Random(seed)
        store, refused, accepted = Flaky(draw, 0.5), list[str](), list[str]()

        async with runtime(OneAtATime(_nothing), store=store, on_message="queue") as r:
            session = r.session("s")

            async def send(name: str) -> None:
                try:
                    await session.send(name, id=name)
                    accepted.append(name)
                except Refused:
                    refused.append(name)

            await asyncio.gather(*(send(f"{n}") for n in range(8)))
            store.failing = 0
            for name in list(refused):
                ticket = await session.send(name, id=name)  # the sender tries again
                assert await ticket.outcome() == "completed"
            await a_while()
            said = [e.message.id for e in await session.log() if isinstance(e, Said)]
            assert sorted(said) == [f"{n}" for n in range(8)]
            await check_log(session)

    for number in range(seed, seed + schedules):
        play(lambda number=number: story(number), Choices(number))


async def _nothing(run: Run) -> None:
    return
