"""Stops while a command runs, in a shell that is the target's own."""

from __future__ import annotations

import asyncio

from lastword.check.inside.witness import PARTS
from lastword.check.stage import SOME, Stage
from lastword.check.story import Broken, NotAsked, Unclear
from lastword.check.times import now, until

_AFTER_DEATH = 5.0  # seconds


async def tree(stage: Stage) -> None:
    run = stage.scripted()
    one = stage.say(stage.model.calls({"line": stage.line("tree", run)}), run=run)
    await stage.beats(one, len(PARTS))
    stage.stop(one)
    await stage.answered(one)
    await stage.watch()
    alive = stage.alive_unnamed(one)
    stage.parts |= {part: "alive" if part in alive else "" for part in PARTS}
    if alive:
        which = ", ".join(part for part in PARTS if part in alive)
        pids = sorted(alive.values())
        raise Broken(f"alive at the end of the watch: {which} (pids {pids})")


async def background(stage: Stage) -> None:
    """`command &`: the call is over, what it began is not."""
    run = stage.scripted()
    line = f"{stage.line('slow', run, '0', '0')}; {stage.line('beat', run)} >/dev/null 2>&1 &"
    one = stage.say(stage.model.calls({"line": line}), stage.model.text(run), run=run)
    await until(lambda: stage.heard(one) >= SOME or one.answered_at, stage.times.patience)
    if "a shell" in stage.model.missing:
        raise NotAsked("the target has no shell")
    if not stage.deeds.of(run) and len(stage.model.requests(run)) > 1:  # it has a result
        raise NotAsked("its shell takes no command that goes into the background")
    if not stage.deeds.of(run, "effect"):
        raise Unclear(f"the command was not run ({one.outcome or stage.silence(one)})")
    await stage.talking(one)
    stage.seen["alive_before_the_stop"] = bool(stage.alive(one))
    stage.stop(one)
    await stage.answered(one)
    await stage.watch()
    if alive := stage.alive_unnamed(one):
        raise Broken(f"alive at the end of the watch: pid {sorted(alive.values())}")


async def pipe(stage: Stage) -> None:
    """The command is over; a grandchild holds its output open."""
    run = stage.scripted()
    calls = stage.model.calls({"line": stage.line("hold", run)})
    one = stage.say(calls, stage.model.text(run), run=run)
    await stage.beats(one, 1)
    stage.stop(one)
    await stage.answered(one)
    await stage.goes_on()


async def flood(stage: Stage) -> None:
    run = stage.scripted()
    one = stage.say(stage.model.calls({"line": stage.line("flood", run)}), run=run)
    await until(lambda: stage.deeds.of(run, "begun") or one.answered_at, stage.times.patience)
    if "a shell" in stage.model.missing:
        raise NotAsked("the target has no shell")
    if one.answered_at:
        raise Unclear(f"the command was not started ({one.outcome})")
    await asyncio.sleep(0.3)  # the flood is on
    stage.stop(one)
    await stage.answered(one)
    await stage.watch()
    if late := one.late():
        raise Broken(f"{len(late)} pieces of the command's output were heard after the answer")


async def crash(stage: Stage) -> None:
    """The target is killed, and comes back."""
    run = stage.scripted()
    one = stage.say(stage.model.calls({"line": stage.line("tree", run)}), run=run)
    await stage.beats(one, len(PARTS))
    died = await stage.kill()
    await until(lambda: not stage.alive(one) and now() > died + 1, _AFTER_DEATH)
    if alive := stage.alive(one):
        which = ", ".join(part for part in PARTS if part in alive)
        raise Broken(f"alive {_AFTER_DEATH:g} s after the target was killed: {which}")
    await stage.target.close()
    await stage.target.open(stage.premises)
    dialogue = await stage.target.again(stage.dialogue)
    if dialogue is None:
        stage.seen["comes_back"] = "the target keeps no conversations"
        return
    stage.dialogue = dialogue
    asked = len(stage.model.requests(run))
    await stage.goes_on()
    if len(stage.model.requests(run)) > asked or stage.after(run, "beat", died + _AFTER_DEATH):
        raise Broken("what the crash ended was begun again by itself")
