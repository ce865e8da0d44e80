"""An asyncio loop whose schedule is chosen, recorded and replayable.

Time is virtual. Whatever is ready is a choice: one unit per task, and one for plain callbacks, so
that each task's own order and asyncio's callback order stay true. A schedule is a list of choices;
the same list is the same run. Threads are simulated: what is handed to an executor runs in one
piece, at a moment that is a choice too. Real sockets, processes and threads have no place here.
"""

from __future__ import annotations

import asyncio
import collections
import heapq
import random
from asyncio import base_events
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar, TypeVarTuple, cast

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
_MOST_STEPS = 50_000


class Deadlock(AssertionError):
    """Nothing is ready and no timer is set: something waits forever."""


class Endless(AssertionError):
    """A schedule did not come to an end."""


class Choices:
    """Where every decision comes from: a list to replay, then a seeded walk or the leftmost."""

    def __init__(self, seed: int | None = None, replay: Sequence[int] = ()) -> None:
        self._random = None if seed is None else random.Random(seed)  # noqa: S311 - not a secret
        self._replay = list(replay)
        self.made: list[tuple[int, int]] = []

    def pick(self, among: int) -> int:
        """One of so many."""
        if among == 1:
            return 0
        position = len(self.made)
        if position < len(self._replay):
            choice = min(self._replay[position], among - 1)
        else:
            choice = self._random.randrange(among) if self._random else 0
        self.made.append((choice, among))
        return choice

    @property
    def schedule(self) -> list[int]:
        return [choice for choice, _ in self.made]

    def next(self) -> list[int] | None:
        """The schedule after this one, depth first; None when there is none."""
        made = list(self.made)
        while made and made[-1][0] + 1 >= made[-1][1]:
            made.pop()
        return [choice for choice, _ in made[:-1]] + [made[-1][0] + 1] if made else None


class Trap:
    """Something to do to a task right before its k-th step. `sweep` tries every k."""

    def __init__(self, at: int) -> None:
        self.sprung = False
        self._at = at
        self._steps = 0
        self._name = ""
        self._action: Callable[[asyncio.Task[Any]], object] = _cancel

    def set(self, name: str, action: Callable[[asyncio.Task[Any]], object] | None = None) -> None:
        """Lie in wait for the task whose name begins like this; cancel it, if not told better."""
        self._name, self._action = name, action or _cancel

    def about_to_step(self, task: asyncio.Task[Any]) -> None:
        """Called by the loop."""
        if self._name and task.get_name().startswith(self._name):
            self._steps += 1
            if self._steps == self._at:
                self.sprung = True
                self._action(task)


def _cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()


class SeededLoop(base_events.BaseEventLoop):
    """The loop."""

    # asyncio's own lists; its stubs do not name them
    _ready: collections.deque[asyncio.Handle]
    _scheduled: list[asyncio.TimerHandle]
    _stopping: bool

    def __init__(self, choices: Choices, trap: Trap | None = None) -> None:
        super().__init__()
        self.slow_callback_duration = float("inf")
        self.steps = 0
        self._choices = choices
        self._trap = trap
        self._now = 0.0

    def time(self) -> float:
        return self._now

    def _write_to_self(self) -> None:
        return

    def _process_events(self, event_list: list[Any]) -> None:  # noqa: ARG002 - there are none
        return

    def _run_once(self) -> None:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise Endless(f"no end after {_MOST_STEPS} steps")
        self._ready = collections.deque(h for h in self._ready if not h.cancelled())
        if not self._ready and not self._fire_timers():
            if self._stopping:
                return
            raise Deadlock("nothing is ready and no timer is set: something waits forever")
        handle = self._choose()
        if self._trap and isinstance(task := _unit(handle), asyncio.Task):
            self._trap.about_to_step(task)
        handle._run()  # noqa: SLF001 - what asyncio's own loop does

    def _choose(self) -> asyncio.Handle:
        heads: dict[object, int] = {}  # of each unit, the first that is ready
        for position, handle in enumerate(self._ready):
            heads.setdefault(_unit(handle), position)
        position = list(heads.values())[self._choices.pick(len(heads))]
        handle = self._ready[position]
        del self._ready[position]
        return handle

    def _fire_timers(self) -> bool:
        timers = self._scheduled
        while timers and timers[0].cancelled():
            heapq.heappop(timers)
        if not timers:
            return False
        self._now = max(self._now, timers[0].when())
        while timers and timers[0].when() <= self._now:
            timer = heapq.heappop(timers)
            if not timer.cancelled():
                self._ready.append(timer)
        return True

    def run_in_executor(
        self,
        executor: Executor | None,  # noqa: ARG002 - its thread is simulated
        func: Callable[[*Ts], T],
        *args: *Ts,
    ) -> asyncio.Future[T]:
        future: asyncio.Future[T] = self.create_future()

        async def thread() -> None:
            if future.cancelled():
                return
            await asyncio.sleep(0)  # from here on it runs, whoever gives up waiting for it
            try:
                result = func(*args)
            except BaseException as error:  # noqa: BLE001 - a thread hands on whatever it raised
                if not future.cancelled():
                    future.set_exception(error)
            else:
                if not future.cancelled():
                    future.set_result(result)

        self.create_task(thread())
        return future


def _unit(handle: asyncio.Handle) -> asyncio.Task[Any] | None:
    owner: object = getattr(getattr(handle, "_callback", None), "__self__", None)
    return cast("asyncio.Task[Any]", owner) if isinstance(owner, asyncio.Task) else None


@dataclass(frozen=True, slots=True)
class Explored:
    """How much was tried."""

    schedules: int
    exhausted: bool


def play(
    main: Callable[[], Coroutine[Any, Any, T]], choices: Choices, trap: Trap | None = None
) -> T:
    """Run it once, by these choices."""
    loop = SeededLoop(choices, trap)
    try:
        return loop.run_until_complete(main())
    finally:
        _abandon(loop)


def _abandon(loop: SeededLoop) -> None:
    """End what a story left behind, as far as it lets itself be ended."""
    loop.steps = 0
    if left := asyncio.all_tasks(loop):
        for task in left:
            task.cancel()
        with suppress(Deadlock, Endless):
            loop.run_until_complete(loop.create_task(_ended(left)))
    loop.close()


async def _ended(tasks: set[asyncio.Task[Any]]) -> None:
    await asyncio.wait(tasks, timeout=3600)


def explore(
    main: Callable[[], Coroutine[Any, Any, object]],
    schedules: int,
    *,
    seed: int = 0,
    depth_first: bool = False,
) -> Explored:
    """Run it under many schedules. A failure's message says how to run that one again."""
    replay: list[int] | None = []
    for number in range(schedules):
        choices = Choices(None if depth_first else seed + number, replay or ())
        try:
            play(main, choices)
        except BaseException as error:
            how = f"schedule {number}, seed {seed + number}, choices {choices.schedule}"
            error.add_note(f"{how}; replay it with play(main, Choices(replay=...))")
            raise
        if depth_first:
            replay = choices.next()
            if replay is None:
                return Explored(number + 1, exhausted=True)
    return Explored(schedules, exhausted=False)


def sweep(main: Callable[[Trap], Coroutine[Any, Any, object]], *, seed: int | None = None) -> int:
    """Run it with the trap at the first step, the second, and so on; how many there were."""
    at = 0
    while True:
        at += 1
        trap = Trap(at)
        try:
            play(lambda trap=trap: main(trap), Choices(seed), trap)
        except BaseException as error:
            error.add_note(f"interrupted at step {at}, seed {seed}")
            raise
        if not trap.sprung:
            return at - 1
