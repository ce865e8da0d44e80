"""Stops while a tool is at work, before it is, and while a person is asked about it."""

from __future__ import annotations

import asyncio
import json

from lastword.check.model import Reply, Step
from lastword.check.stage import Stage
from lastword.check.story import Broken, NotAsked, Unclear
from lastword.check.times import until
from lastword.testing.provider import Answer, Call, Request

_STEPS = 20  # of a thousandth of a second
_SETTLED = 0.3  # seconds for a question, or what comes of an answer to one


async def no_effect(stage: Stage) -> None:
    one = await stage.working("lw_slow")
    stage.stop(one)
    at = await stage.answered(one)
    await stage.watch()
    stage.no_effect_after(one, at, "the tool")


async def batch(stage: Stage) -> None:
    one = await stage.working("lw_slow", 4)
    stop = stage.stop(one)
    at = await stage.answered(one)
    await stage.watch()
    begun = stage.deeds.of(one.run, "begun")
    stage.seen["begun_before_the_stop"] = sum(deed["t"] <= stop for deed in begun)
    stage.seen["begun_between_stop_and_answer"] = sum(stop < deed["t"] <= at for deed in begun)
    if late := stage.unnamed(one, stage.begun_after(one, at)):
        raise Broken(f"{len(late)} of 4 tools were begun after the stop was answered")
    stage.no_effect_after(one, at, "4 tools")


async def between(stage: Stage) -> None:
    """The last byte of the model's call and the stop leave together, a little later each time."""
    late: list[float] = []
    for step in range(_STEPS):
        run = stage.scripted()
        holder: list[Answer] = []
        one = stage.say(_held_call(stage, run, holder), run=run)
        await stage.asked(one)
        if not holder:
            raise Unclear("lw_slow is not offered to the model")
        await holder[0].release(2)
        holder[0].free()
        await asyncio.sleep(step / 1000)
        stage.stop(one)
        at = await stage.answered(one)
        late.append(at)
    await stage.watch()
    for at, one in zip(late, stage.rounds[-_STEPS:], strict=True):
        if begun := stage.begun_after(one, at):
            when = (begun[0]["t"] - at) * 1000
            raise Broken(f"a tool was begun {when:.0f} ms after the stop was answered")


def _held_call(stage: Stage, run: str, holder: list[Answer]) -> Step:
    call = stage.called(run, "lw_slow")

    def step(request: Request) -> Reply:
        made = call(request)
        if isinstance(made, Answer) and any(isinstance(part, Call) for part in made.parts):
            made = Answer(*made.parts, paced=True)
            holder.append(made)
        return made

    return step


async def deaf(stage: Stage) -> None:
    one = await stage.working("lw_deaf", fuse=stage.times.deaf)
    stage.stop(one)
    at = await stage.answered(one)
    if any(deed["t"] <= at for deed in stage.deeds.of(one.run, "effect")):
        waited = stage.seen["answered_ms"]
        raise Broken(f"the stop waited for a tool that does not listen ({waited} ms)")
    await stage.goes_on()
    await until(lambda: stage.deeds.of(one.run, "effect"), stage.times.deaf + stage.times.watch)
    await asyncio.sleep(_SETTLED)
    result = f"lw_deaf 0 of {one.run} is done"
    if any(result in json.dumps(request.body) for request in stage.model.provider.requests):
        raise Broken("the late result of the stopped tool was taken to the model")


async def thread(stage: Stage) -> None:
    one = await stage.working("lw_block")
    stage.stop(one)
    at = await stage.answered(one)
    await stage.watch()
    stage.no_effect_after(one, at, "a tool in a thread")


async def once(stage: Stage) -> None:
    one = await stage.working("lw_slow")
    stage.stop(one)
    await stage.answered(one)
    begun = len(stage.deeds.of(one.run, "begun"))
    await stage.goes_on()
    again = len(stage.deeds.of(one.run, "begun")) - begun
    if again:
        raise Broken("the next message made the stopped call again")


async def asked(stage: Stage) -> None:
    stage.dialogue.hold = True
    before, run = stage.dialogue.asked, stage.scripted()
    one = stage.say(stage.called(run, "lw_fast"), run=run)
    await until(
        lambda: stage.dialogue.asked > before or stage.deeds.of(run) or one.answered_at,
        stage.times.patience,
    )
    if stage.deeds.of(run):
        raise NotAsked("the target does not ask before a tool, as it is set up here")
    if stage.dialogue.asked == before:
        raise Unclear(f"nothing was asked ({one.outcome or 'nothing was heard'})")
    stage.stop_and_allow(one)
    stage.dialogue.hold = False
    await stage.answered(one)
    await stage.watch()
    if stage.deeds.of(run):
        raise Broken("a yes that came behind the stop was acted on: the tool was run")
