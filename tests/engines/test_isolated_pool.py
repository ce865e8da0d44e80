"""Z17, Z18, Z19. How many processes are had ahead, and how much one may have its host do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from lastword.engines.isolated.line import Nonsense
from lastword.engines.isolated.long import MUCH, WITH, Texts, taken_apart
from lastword.engines.isolated.measure import Measure
from lastword.engines.isolated.pool import Pool
from lastword.errors import RuntimeClosed
from lastword.testing.seeded import explore


class Ready:
    """A process that nobody has to fork."""

    def __init__(self) -> None:
        self.fit = True
        self.killed = False

    def kill(self) -> None:
        self.killed = True


class Starts:
    """Those that are asked for, and when; each fails for as long as it is to."""

    def __init__(self, *, failing: int = 0, held: bool = False) -> None:
        self.held = held
        self.at: list[float] = []
        self.made: list[Ready] = []
        self.failing = failing

    async def __call__(self) -> Any:
        self.at.append(asyncio.get_running_loop().time())
        await asyncio.sleep(0)
        while self.held:
            await asyncio.sleep(0.01)
        if len(self.at) <= self.failing:
            raise OSError("no process")
        self.made.append(Ready())
        return self.made[-1]

    @property
    def living(self) -> int:
        return sum(not one.killed for one in self.made)


def since(at: Iterable[float]) -> list[int]:
    first, *rest = at
    return [round(one - first) for one in rest]


@pytest.mark.scenario("Z17")
def test_a_start_that_fails_and_nobody_waits_for_is_tried_again_later_and_later(
    schedules: int,
) -> None:
    async def story() -> None:
        starts = Starts(failing=7)
        pool = Pool(starts, warm=1, most=10)
        pool.refill()
        await asyncio.sleep(1000)

        assert since(starts.at) == [1, 3, 7, 15, 31, 61, 91]
        pool.close()

    explore(story, schedules)


@pytest.mark.scenario("Z17")
def test_who_waits_is_told_at_once_of_a_start_that_failed(schedules: int) -> None:
    async def story() -> None:
        starts = Starts(failing=3)
        pool = Pool(starts, warm=0, most=10)
        for _ in range(3):
            with pytest.raises(OSError, match="no process"):
                await pool.take()
        assert (await pool.take()).fit
        assert since(starts.at) == [0, 0, 0]
        pool.close()

    explore(story, schedules)


@pytest.mark.scenario("Z17")
def test_the_next_is_started_when_the_run_that_took_one_has_had_a_moment(schedules: int) -> None:
    async def story() -> None:
        starts = Starts()
        pool = Pool(starts, warm=1, most=10)
        pool.refill()
        await asyncio.sleep(1)
        await pool.take()
        await asyncio.sleep(0.001)

        assert len(starts.at) == 1
        await asyncio.sleep(1)
        assert len(starts.at) == 2
        pool.close()

    explore(story, schedules)


@pytest.mark.scenario("Z17")
def test_one_that_is_not_fit_any_more_is_ended_and_another_taken(schedules: int) -> None:
    async def story() -> None:
        pool = Pool(Starts(), warm=2, most=10)
        pool.refill()
        await asyncio.sleep(1)
        first: Any = await pool.take()
        pool.give_back(first)
        first.fit = False

        assert await pool.take() is not first
        assert first.killed
        pool.close()

    explore(story, schedules)


@pytest.mark.scenario("Z19")
def test_those_whom_nobody_took_in_the_end_are_few_and_leave(schedules: int) -> None:
    async def story() -> None:
        starts = Starts(held=True)
        pool = Pool(starts, warm=1, most=50)
        waiting = [asyncio.create_task(pool.take()) for _ in range(50)]
        while len(starts.at) < 4:
            await asyncio.sleep(0.01)
        for one in waiting:
            one.cancel()
        await asyncio.wait(waiting)
        starts.held = False
        await asyncio.sleep(59)

        assert len(starts.at) == starts.living == 4
        await asyncio.sleep(2)
        assert starts.living == 1
        pool.close()
        assert starts.living == 0

    explore(story, schedules)


@pytest.mark.scenario("Z19")
def test_those_that_are_given_back_are_few_and_leave_and_the_last_one_is_taken(
    schedules: int,
) -> None:
    async def story() -> None:
        starts = Starts()
        pool = Pool(starts, warm=1, most=50)
        for worker in [await pool.take() for _ in range(50)]:
            pool.give_back(worker)

        assert starts.living <= 1 + 4 + 1
        await asyncio.sleep(61)
        assert starts.living == 1
        assert await pool.take() in starts.made
        pool.close()

    explore(story, schedules)


@pytest.mark.scenario("Z19")
def test_who_waits_when_it_is_closed_is_told_and_what_comes_then_is_ended(schedules: int) -> None:
    async def story() -> None:
        starts = Starts()
        pool = Pool(starts, warm=0, most=2)
        worker = await pool.take()
        waiting = [asyncio.create_task(pool.take()) for _ in range(3)]  # the last two for room
        await asyncio.sleep(0)
        early = [one for one in waiting if one.done()]
        pool.close()
        told = [one for one in waiting if one not in early]
        took = await asyncio.gather(*told, return_exceptions=True)

        assert told
        assert all(isinstance(one, RuntimeClosed) for one in took), took
        for taken in [worker, *[await one for one in early]]:
            pool.give_back(taken)
        with pytest.raises(RuntimeClosed):
            await pool.take()
        assert starts.living == 0

    explore(story, schedules)


@pytest.mark.scenario("Z18")
def test_much_is_done_at_once_and_then_no_more_in_a_second_than_can_be_kept(
    schedules: int,
) -> None:
    async def story() -> None:
        loop = asyncio.get_running_loop()
        began, turns = loop.time(), 0

        async def others() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += 1

        beside = asyncio.create_task(others())
        measure = Measure()
        for _ in range(16 << 10):
            await measure.take(1 << 10)
        assert loop.time() - began < 0.1
        assert turns > 100
        beside.cancel()
        for _ in range(40):
            await measure.take(1 << 20)
        assert 9 < loop.time() - began < 11

    explore(story, min(schedules, 3))


@pytest.mark.scenario("Z18")
@pytest.mark.parametrize(
    "message",
    [
        ["progress", "x" * 1_000_000, None],
        ["think", "é\ud800" * 100_000, {"engine": "e", "data": "y" * 400_000}, True],
        ["request", 1, "shell", ["ls", "", {"PATH": "z" * 20_000}, "", None, None, None]],
        ["short", [], {}],
    ],
)
def test_long_texts_go_apart_and_come_to_their_places(message: list[Any]) -> None:
    apart = taken_apart(message)
    texts = Texts()
    for text in apart.texts:
        for at in range(0, len(text), MUCH):
            texts.add(text[at : at + MUCH])

    places = [[list(path), length] for path, length in apart.places]
    assert texts.put_in([WITH, places, apart.rest]) == message
    with pytest.raises(Nonsense):
        texts.put_in([WITH, [[[1], 1]], ["progress", None, None]])


def test_more_than_can_be_said_at_once_is_refused_where_it_is_said() -> None:
    with pytest.raises(ValueError, match="at most"):
        taken_apart(["progress", "x" * (17 << 20), None])
