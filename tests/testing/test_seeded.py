"""The seeded loop finds what it is for, and finds it again."""

import asyncio

import pytest

from lastword.testing.seeded import Choices, Deadlock, Endless, Trap, explore, play, sweep


def racy(repaired: bool) -> type:
    """The classic: check, await, act; against a stop that moves the generation."""

    class Race:
        def __init__(self) -> None:
            self.generation = 1
            self.late: list[int] = []

        async def emit(self) -> None:
            if repaired:
                await asyncio.sleep(0)
            if self.generation != 1:
                return
            if not repaired:
                await asyncio.sleep(0)
            if self.generation != 1:
                self.late.append(self.generation)

        async def stop(self) -> None:
            self.generation += 1

        async def story(self) -> None:
            await asyncio.gather(self.emit(), self.stop())
            assert not self.late, "emitted after the stop"

    return Race


def test_a_planted_race_is_found_soon_and_replayed_from_the_message() -> None:
    with pytest.raises(AssertionError, match="emitted after the stop") as found:
        explore(lambda: racy(repaired=False)().story(), 100)
    [note] = found.value.__notes__
    choices = [int(n) for n in note.split("choices [")[1].split("]")[0].split(",")]

    with pytest.raises(AssertionError, match="emitted after the stop"):
        play(lambda: racy(repaired=False)().story(), Choices(replay=choices))
    explore(lambda: racy(repaired=True)().story(), 500)


def test_depth_first_tries_every_schedule_of_a_small_story() -> None:
    with pytest.raises(AssertionError, match="emitted after the stop"):
        explore(lambda: racy(repaired=False)().story(), 10_000, depth_first=True)
    explored = explore(lambda: racy(repaired=True)().story(), 10_000, depth_first=True)

    assert explored.exhausted
    assert explored.schedules > 3


def test_time_is_virtual_and_timers_fire_in_order() -> None:
    fired: list[float] = []

    async def story() -> None:
        now = asyncio.get_running_loop().time

        async def tick(seconds: float) -> None:
            await asyncio.sleep(seconds)
            fired.append(now())

        await asyncio.gather(*(tick(seconds) for seconds in (3600, 1, 60)))

    play(story, Choices(seed=1))
    assert fired == [1, 60, 3600]


def test_the_same_seed_is_the_same_run() -> None:
    async def story() -> list[int]:
        order: list[int] = []

        async def step(number: int) -> None:
            await asyncio.sleep(0)
            order.append(number)

        await asyncio.gather(*(step(number) for number in range(8)))
        return order

    assert play(story, Choices(seed=7)) == play(story, Choices(seed=7))
    assert len({tuple(play(story, Choices(seed=seed))) for seed in range(20)}) > 10


def test_waiting_forever_and_never_ending_are_failures() -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    async def endless() -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(Deadlock, match="something waits forever"):
        play(forever, Choices(seed=0))
    with pytest.raises(Endless):
        play(endless, Choices(seed=0))


def test_a_trap_cancels_at_every_step_in_turn() -> None:
    reached: list[list[int]] = []

    async def story(trap: Trap) -> None:
        steps: list[int] = []

        async def work() -> None:
            for number in range(3):
                steps.append(number)
                await asyncio.sleep(0)

        trap.set("work")
        task = asyncio.create_task(work(), name="work")
        await asyncio.wait([task])
        reached.append(steps)

    assert sweep(story) == 4
    assert reached == [[], [0], [0, 1], [0, 1, 2], [0, 1, 2]]


def test_a_simulated_thread_runs_in_one_piece_at_a_chosen_moment() -> None:
    async def story() -> tuple[str, str]:
        order: list[str] = []
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(None, order.append, "thread")
        await asyncio.sleep(0)
        order.append("task")
        await future
        return order[0], order[1]

    assert {play(story, Choices(seed=seed)) for seed in range(30)} == {
        ("thread", "task"),
        ("task", "thread"),
    }
