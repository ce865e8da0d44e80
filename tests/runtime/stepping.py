"""Two or more threads, led line by line through the orders in which their lines can fall.

Chance finds a lock that is missing once in a million rounds; here each order is tried. A thread is
held before each line of the modules under trial, and one of them is let go on by a line. The lock
is a double, at the seam where they are given one: who finds it taken is not let go on until it is
free. Where a module takes no lock, there is nothing to hold the others back, and some order breaks
what the lock was for. Orders in which a thread is passed over more than a few times are left out:
there are millions, and a lock that is missing shows when one is passed over once or twice.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType, ModuleType, TracebackType
from typing import Any, cast

PASSED_OVER = 2  # times in one order that a thread which could go on is not let

Scene = Callable[["Steps"], Sequence[Callable[[], object]]]


def every_order(modules: Sequence[ModuleType], scene: Scene) -> Iterator[list[object]]:
    """What the threads of a scene gave, once for each order of their lines that is tried."""
    chosen: list[int] = []
    while True:
        steps = Steps([str(module.__file__) for module in modules], chosen)
        yield steps.play(scene(steps))
        choices = steps.choices
        while choices and choices[-1][0] + 1 == choices[-1][1]:
            choices.pop()
        if not choices:
            return
        *before, (last, _) = choices
        chosen = [*(choice for choice, _ in before), last + 1]


class Steps:
    """One order."""

    def __init__(self, files: Sequence[str], chosen: Sequence[int]) -> None:
        self.lock = cast("threading.Lock", SteppedLock(self))
        self.choices: list[tuple[int, int]] = []  # which of how many was let go on
        self._files = frozenset(files)
        self._chosen = list(chosen)
        self._threads: list[_Thread] = []
        self._back = threading.Semaphore(0)  # whoever was let go on stands again
        self._last: _Thread | None = None  # that was let go on
        self._passed_over = 0

    def play(self, functions: Sequence[Callable[[], object]]) -> list[object]:
        self._threads = [_Thread(function, self) for function in functions]
        for thread in self._threads:
            thread.start()
        while living := [thread for thread in self._threads if not thread.ended]:
            ready = [thread for thread in living if thread.waits_for is None or not self.taken]
            assert ready, "each of them waits for another"
            self._pick(ready).go.release()
            self._back.acquire()
        return [thread.result() for thread in self._threads]

    @property
    def taken(self) -> bool:
        return cast("SteppedLock", self.lock).holder is not None

    def _pick(self, ready: list[_Thread]) -> _Thread:
        if self._last in ready:  # it goes on first, and at last alone
            others = [thread for thread in ready if thread is not self._last]
            ready = [self._last, *(others if self._passed_over < PASSED_OVER else ())]
        number = len(self.choices)
        choice = self._chosen[number] if number < len(self._chosen) else 0
        self.choices.append((choice, len(ready)))
        self._passed_over += self._last in ready and choice > 0
        self._last = ready[choice]
        return self._last

    def stand(self) -> None:
        """Be held until it is this thread's turn; nobody holds whoever is not led."""
        thread = threading.current_thread()
        if isinstance(thread, _Thread):
            self._back.release()
            thread.go.acquire()

    def trace(self, frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename not in self._files:
            return None
        if event == "line":
            self.stand()
        return self.trace

    def ended(self) -> None:
        self._back.release()


class _Thread(threading.Thread):
    def __init__(self, function: Callable[[], object], steps: Steps) -> None:
        super().__init__(daemon=True)
        self.go = threading.Semaphore(0)
        self.ended = False
        self.waits_for: SteppedLock | None = None
        self._function = function
        self._steps = steps
        self._result: object = None
        self._error: BaseException | None = None

    def run(self) -> None:
        self.go.acquire()
        sys.settrace(self._steps.trace)
        try:
            self._result = self._function()
        except BaseException as error:  # noqa: BLE001 - whoever asks for the result has it
            self._error = error
        finally:
            sys.settrace(None)
            self.ended = True
            self._steps.ended()

    def result(self) -> object:
        self.join()
        if self._error:
            raise self._error
        return self._result


class SteppedLock:
    """A lock that its threads' leader can see."""

    def __init__(self, steps: Steps) -> None:
        self.holder: threading.Thread | None = None
        self._steps = steps

    def __enter__(self) -> bool:
        thread = threading.current_thread()
        while self.holder is not None:
            assert isinstance(thread, _Thread), "nobody would ever let it go"
            thread.waits_for = self
            self._steps.stand()
            thread.waits_for = None
        self.holder = thread
        return True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.holder = None
