"""What comes after a stop: the next message, and what the model is shown by it."""

from __future__ import annotations

import asyncio

from lastword.check.history import new_offence
from lastword.check.round import Round
from lastword.check.stage import Stage
from lastword.check.story import Broken, InVain, Unclear
from lastword.check.times import until

_HOME = 0.3  # seconds for a result to come home
_LAST = "0004"


async def runs(stage: Stage) -> None:
    one = await stage.streaming()
    stage.stop(one)
    await stage.answered(one)
    await stage.goes_on()


async def history(stage: Stage) -> None:
    one = await stage.working("lw_slow", 2)
    stage.stop(one)
    await stage.answered(one)
    following = await stage.goes_on()
    wrong = new_offence(stage.model.requests(following.run)[0], stage.offences)
    if wrong:
        raise Broken(f"providers refuse the next request: {wrong}")
    if stage.offences:
        stage.seen["already_before_a_stop"] = sorted(stage.offences)


async def truth(stage: Stage) -> None:
    run, fuse = stage.scripted(), stage.times.fuse
    fast = {"tool": "lw_fast", "run": run, "n": 0, "fuse": fuse}
    one = stage.say(stage.model.calls(fast, {**fast, "tool": "lw_slow", "n": 1}), run=run)

    def ready() -> bool:
        done = stage.deeds.of(run, "effect", "lw_fast")
        return bool(done and stage.deeds.of(run, "begun", "lw_slow"))

    await until(lambda: ready() or one.answered_at, stage.times.patience)
    if one.answered_at or not ready():
        raise Unclear(f"the two tools did not run ({one.outcome or 'nothing was heard'})")
    await asyncio.sleep(_HOME)
    if stage.deeds.of(run, "effect", "lw_slow"):
        raise Unclear("the slow tool was through before the stop")
    stage.stop(one)
    await stage.answered(one)
    following = await stage.goes_on()
    if f"lw_fast 0 of {run} is done" not in stage.shown(following.run):
        raise Broken("a tool that was done before the stop is not shown to the model as done")


async def _stopped_with_words(stage: Stage) -> tuple[Round, Round]:
    """A stop and a new message leave in one write."""
    one = await stage.streaming()
    new = stage.stop_and_say(one)
    await stage.answered(one)
    await until(lambda: new.answered_at, stage.times.limit)
    return one, new


async def not_swallowed(stage: Stage) -> None:
    _, new = await _stopped_with_words(stage)
    stage.seen["the_new_message"] = new.outcome
    if not stage.model.requests(new.run) and not new.refused:
        how = f"answered {new.outcome!r}" if new.answered_at else "never answered"
        raise InVain(f"a message behind a stop was neither run nor refused: it was {how}")


async def same_write(stage: Stage) -> None:
    _, new = await _stopped_with_words(stage)
    if f"{new.mark}{_LAST}" not in new.text:
        raise InVain(f"a message behind a stop was not run ({new.outcome or 'not answered'})")


async def no_stop(stage: Stage) -> None:
    """New words while it talks, and nobody says stop."""
    one = await stage.streaming(lambda run: stage.model.text(run, 120))
    new = stage.say(stage.model.text(run := stage.scripted(), 5), run=run)
    await until(lambda: new.answered_at and one.answered_at, stage.times.limit + 5)
    if new.refused:
        what = "refuses the new words"
    elif not stage.model.requests(run):
        raise InVain("new words while it talked were lost: neither run nor refused")
    elif f"{one.mark}0119" not in one.text:
        what = "the new words supersede"
    else:
        began = stage.model.requests(run)[0].when
        ended = max((at for at, _ in one.heard), default=0.0)
        what = "the new words wait" if began >= ended - 0.1 else "both are answered side by side"
    stage.seen["policy"] = what
    words = stage.words_at(new)
    between = [at for at in stage.words_at(one) if words and words[0] < at < words[-1]]
    if stage.target.one_stream and between:
        raise Broken("the words of two answers were mixed")
