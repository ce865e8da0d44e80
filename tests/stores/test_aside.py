"""What takes a while is done a turn at a time, so that the event loop has its own."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lastword.stores.aside import Breathe, aside


@pytest.mark.scenario("W30", part="sqlite")
def test_of_all_that_takes_a_while_one_has_the_turn() -> None:
    inside, most = 0, 0

    def work(breathe: Breathe) -> None:
        nonlocal inside, most
        for _ in range(20):
            inside += 1
            most = max(most, inside)
            threading.Event().wait(0.001)  # whoever else could go on does
            inside -= 1
            breathe()

    with ThreadPoolExecutor(4) as threads:
        for one in [threads.submit(aside, work) for _ in range(4)]:
            one.result()

    assert most == 1


@pytest.mark.scenario("W30", part="sqlite")
def test_what_goes_on_and_on_keeps_nothing_else_from_its_turn() -> None:
    ended = threading.Event()

    def endless(breathe: Breathe) -> None:
        while not ended.is_set():
            breathe()

    with ThreadPoolExecutor(1) as threads:
        going = threads.submit(aside, endless)
        assert [aside(lambda _, n=n: n) for n in range(5)] == [0, 1, 2, 3, 4]
        ended.set()
        going.result()


@pytest.mark.scenario("W30", part="sqlite")
def test_what_fails_gives_its_turn_back() -> None:
    def failing(breathe: Breathe) -> None:
        breathe()
        raise LookupError

    for _ in range(2):
        with pytest.raises(LookupError):
            aside(failing)

    assert aside(lambda _: "next") == "next"
