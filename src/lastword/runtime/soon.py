"""A stop from any thread. Its first step is taken there, lock and all, so that the fence does not
wait for the event loop; the loop does the rest when it comes to it, and if it does not, the
watchdog answers at the deadline."""

from __future__ import annotations

import asyncio
import concurrent.futures
from contextlib import suppress

from lastword.core.events import StopAsked
from lastword.core.receipt import Receipt
from lastword.errors import Superseded
from lastword.runtime.conversation import Conversation, at_fence
from lastword.runtime.going import run_here


def stop_soon(conversation: Conversation, asked: StopAsked) -> concurrent.futures.Future[Receipt]:
    """Nothing acts after this call; the receipt comes when it can."""
    caller, driver = run_here(), conversation.driver
    shared = driver.shared
    future: concurrent.futures.Future[Receipt] = concurrent.futures.Future()
    try:
        step = conversation.seat.moves.make(asked)
    except Superseded:
        future.set_result(conversation.refused(asked))
        return future
    conversation.end_processes_now()

    def give(receipt: Receipt) -> None:
        with suppress(concurrent.futures.InvalidStateError):  # the loop or the watchdog, once
            future.set_result(receipt)

    def overdue() -> None:
        step.promised = step.early  # its receipt says so
        give(at_fence(conversation, step, beyond=conversation.beyond))

    def on_loop() -> None:
        conversation.driver.carry_out()
        conversation.answer(step, caller).add_done_callback(answered)

    def answered(done: asyncio.Future[Receipt]) -> None:
        if watchdog:
            watchdog.take_back(overdue)
        with suppress(concurrent.futures.InvalidStateError):
            _hand_over(done, future)

    if watchdog := shared.watchdog:
        watchdog.answer_by(step.at + shared.deadline, overdue)
    shared.loop.call_soon_threadsafe(on_loop)
    return future


def _hand_over(done: asyncio.Future[Receipt], to: concurrent.futures.Future[Receipt]) -> None:
    if done.cancelled():
        to.cancel()
    elif error := done.exception():
        to.set_exception(error)
    else:
        to.set_result(done.result())
