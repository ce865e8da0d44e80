"""Stops too early, too often, or when there is nothing to stop; and whoever sits beside."""

from __future__ import annotations

import asyncio

from lastword.check.keeper import marked
from lastword.check.machine import weights
from lastword.check.stage import Stage
from lastword.check.story import Broken, InVain, NotAsked, Unclear
from lastword.check.times import until

_CYCLES = 50
_GROWN = 3  # processes more after all cycles than before
_UNDER_WAY = 1.0  # seconds for a request that had left before the stop was read
_HEARD = 0.3  # seconds until an idle target has heard a stop
_BESIDE = 150  # words of the other session, for some seconds


async def harmless(stage: Stage) -> None:
    await stage.goes_on()
    stage.stop(None)
    await asyncio.sleep(_HEARD)
    await stage.goes_on()


async def same_write(stage: Stage) -> None:
    await stage.goes_on()
    await stage.goes_on(stage.stop_and_say(None))


async def honoured(stage: Stage) -> None:
    """The message and its stop leave in one write."""
    one = stage.say_and_stop()
    at = await stage.answered(one)
    await asyncio.sleep(_UNDER_WAY)
    before = stage.model.sent(one.run)
    await stage.watch()
    more = stage.model.sent(one.run) - before
    later = [request for request in stage.model.requests(one.run) if request.when > at]
    if more or len(later) > 1:
        raise Broken(f"the model went on: {more} words were paid for after the stop was answered")
    await stage.goes_on()


async def same(stage: Stage) -> None:
    one = await stage.streaming()
    stage.stop(one, times=3)
    await stage.answered(one)
    await stage.goes_on()
    if one.answers > 1:
        raise Broken(f"one message had {one.answers} answers")


async def untouched(stage: Stage) -> None:
    """Two sessions talk, and one is stopped."""
    other = await stage.target.dialogue()
    run = stage.scripted()
    stage.model.script(run, stage.model.text(run, _BESIDE))
    beside = other.say(run)
    one = await stage.streaming()
    await until(lambda: beside.heard or beside.answered_at, stage.times.patience)
    if beside.answered_at or not beside.heard:
        raise Unclear(f"the other session did not talk ({beside.outcome})")
    stage.rounds.append(beside)
    stage.stop(one)
    await stage.answered(one)
    await until(lambda: beside.answered_at, stage.times.limit)
    said = {n for n in range(_BESIDE) if f"{beside.mark}{n:04d}" in beside.text}
    if missing := _BESIDE - len(said):
        raise InVain(f"{missing} words of a session that nobody stopped never came")


async def flat(stage: Stage) -> None:
    if stage.target.strangers or not marked(stage.premises.mark):
        raise NotAsked("its processes cannot be told from others here")
    await stage.goes_on()
    pids = marked(stage.premises.mark)
    before, light = len(pids), weights(pids)
    for _ in range(_CYCLES):
        one = await stage.streaming()
        stage.stop(one)
        await stage.answered(one)
    await until(lambda: len(marked(stage.premises.mark)) <= before, stage.times.watch, every=0.2)
    pids = marked(stage.premises.mark)
    after, heavy = len(pids), weights(pids)
    stage.seen |= {"processes_before": before, "processes_after": after}
    stage.seen |= {f"{name}_before": light[name] for name in light}
    stage.seen |= {f"{name}_after": heavy[name] for name in heavy}
    if after > before + _GROWN:
        raise InVain(f"{after - before} more processes after {_CYCLES} messages and stops")
