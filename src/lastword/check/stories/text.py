"""Stops while nothing but the model is at work: it talks, thinks, is silent, is asked again."""

from __future__ import annotations

import asyncio

from lastword.check.stage import Stage
from lastword.check.story import Broken, InVain, NotAsked, Unclear
from lastword.check.times import until

_WORDS = 5  # that come before nothing more does
_STALLED = 0.4  # seconds without a word
_ENOUGH = 100  # thoughts that have left the model: who shows them has shown some


async def quiet(stage: Stage) -> None:
    one = await stage.streaming()
    stage.stop(one)
    await stage.answered(one, by_itself=False)
    await stage.watch()
    if late := one.late():
        raise Broken(f"{len(late)} pieces of the stopped answer were heard after its end was told")


async def hangs_up(stage: Stage) -> None:
    one = await stage.streaming()
    stage.stop(one)
    await stage.answered(one, by_itself=False)
    before, request = stage.model.sent(one.run), stage.model.requests(one.run)[-1]
    await until(request.closed.is_set, stage.times.watch)
    paid = stage.model.sent(one.run) - before
    stage.seen["words_paid_for_after"] = paid
    if not request.closed.is_set():
        raise InVain(f"the model went on being read: {paid} more words were paid for, and counting")


async def silent_model(stage: Stage) -> None:
    one = stage.say(stage.model.silence())
    await stage.asked(one)
    stage.stop(one)
    await stage.answered(one, by_itself=False)
    await stage.goes_on()


async def stalled(stage: Stage) -> None:
    one = await stage.streaming(stage.model.stalled)
    await until(lambda: stage.heard(one) >= _WORDS, _STALLED * 10)
    await asyncio.sleep(_STALLED)
    stage.stop(one)
    await stage.answered(one, by_itself=False)
    await stage.goes_on()


async def thinking(stage: Stage) -> None:
    one = stage.say(stage.model.thoughts(run := _named(stage)), run=run)
    await stage.asked(one)
    await until(
        lambda: one.thoughts or one.answered_at or stage.model.sent(run) > _ENOUGH,
        stage.times.patience,
    )
    if one.answered_at:
        raise Unclear(f"it did not think for long enough to be stopped ({one.outcome})")
    if not one.thoughts:
        stage.stop(one)
        raise NotAsked("the target shows no thoughts")
    stage.stop(one)
    await stage.answered(one, by_itself=False)
    await stage.watch()
    if late := one.late_thoughts():
        raise Broken(f"{len(late)} thoughts of the stopped answer were heard after its end")


def _named(stage: Stage) -> str:
    return stage.scripted()


async def as_heard(stage: Stage) -> None:
    one = await stage.streaming()
    stage.stop(one)
    await stage.answered(one, by_itself=False)
    following = await stage.goes_on()
    heard = stage.highest(one, one.text)
    shown = stage.highest(one, stage.shown(following.run))
    stage.seen |= {"last_word_heard": heard, "last_word_shown": shown}
    if shown < 0:
        raise Broken(f"of {heard + 1} words that the person heard, the model is shown none")
    if shown > heard:
        more = shown - heard
        raise Broken(f"the model is shown {more} words more than the person ever heard")


async def no_more(stage: Stage) -> None:
    one = await stage.streaming()
    stage.stop(one)
    at = await stage.answered(one, by_itself=False)
    await stage.watch()
    later = [request for request in stage.model.requests(one.run) if request.when > at]
    if later:
        raise Broken(f"the model was asked {len(later)} more times for the stopped answer")


async def no_retry(stage: Stage) -> None:
    pause = stage.times.fuse
    run = stage.scripted()
    fails = stage.model.failing(529, pause)
    one = stage.say(fails, fails, fails, stage.model.text(run), run=run)
    await stage.asked(one)
    await until(lambda: one.answered_at, pause / 4)
    if one.answered_at:
        raise NotAsked("the target does not ask again by itself")
    before = len(stage.model.requests(run))
    stage.stop(one)
    at = await stage.answered(one, by_itself=False)
    await stage.watch()
    later = [request for request in stage.model.requests(run) if request.when > at]
    stage.seen["requests_before_the_stop"] = before
    if later:
        raise Broken(f"a request was made again {later[0].when - at:.1f} s after the stop's answer")
