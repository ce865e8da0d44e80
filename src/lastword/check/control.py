"""What is proven before any silence counts: that we would see it if it were not kept.

A control that fails makes the stories that rest on it *cannot tell*; none of them becomes *kept*.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lastword.check.contract import CannotStart
from lastword.check.history import codes
from lastword.check.round import Round
from lastword.check.stage import Stage, new_run
from lastword.check.story import Faculty
from lastword.check.times import until

_FINE = "as it should be"


@dataclass(slots=True)
class Controls:
    """What is known to work, and why not."""

    told: dict[str, str] = field(default_factory=dict[str, str])
    offences: frozenset[str] = frozenset()

    def lacks(self, needs: frozenset[Faculty], carrier: str) -> str:
        """Why a story cannot be told."""
        wanted = (
            ("the journal", "tools" in needs or "shell" in needs),
            (carrier, "tools" in needs and bool(carrier)),
            ("shell", "shell" in needs or carrier == "shell"),
        )
        for name, needed in wanted:
            why = self.told.get(name, _FINE)
            if needed and why != _FINE:
                return f"{name}: {why}"
        return ""

    def has(self, name: str) -> bool:
        return self.told.get(name) == _FINE


async def controls(stage: Stage) -> Controls:
    """Nothing is stopped here: the target is heard, its model is ours, our tools are called."""
    found = Controls()
    await _heard(stage)
    found.told["the model"] = _FINE
    works = stage.deeds.works()
    found.told["the journal"] = _FINE if works else "what is written there is not read here"
    if works:
        for carrier in (*stage.target.carriers, "shell"):
            if carrier != "shell" or "shell" in stage.target.faculties:
                found.told[carrier] = await _carries(stage, carrier)
    asked = [request for some in stage.model.asked.values() for request in some]
    found.offences = codes(asked)
    return found


async def _heard(stage: Stage) -> None:
    one = await _spoken(stage)
    if not _in_full(one) and not stage.model.toolless:
        one = await _spoken(stage)  # an errand had taken the first answer
    if _in_full(one):
        return
    asked = [*stage.model.provider.requests]
    if not asked:
        paths = "nothing came to it"
        raise CannotStart(f"the target does not ask our model: {paths} ({one.outcome})")
    if not stage.model.asked:
        ways = sorted({f"{request.method} {request.path}" for request in asked})
        raise CannotStart(f"our model was not asked for an answer, only for {', '.join(ways)}")
    raise CannotStart(f"the model's words were not heard from the target ({one.outcome})")


async def _spoken(stage: Stage) -> Round:
    run = new_run()
    one = stage.say(stage.model.text(run, 5), run=run)
    await until(lambda: one.answered_at, stage.times.patience)
    return one


def _in_full(one: Round) -> bool:
    return f"{one.mark}0004" in one.text


async def _carries(stage: Stage, carrier: str) -> str:
    """A tool that nobody stops has its effect, and its result goes to the model."""
    stage.carrier = carrier
    run = new_run()
    one = stage.say(stage.called(run, "lw_fast", fuse=0.01), run=run)
    await until(lambda: one.answered_at, stage.times.patience)
    stage.carrier = ""
    missing = {"shell": "a shell"}.get(carrier, "lw_fast")
    if missing in stage.model.missing:
        stage.model.missing.discard(missing)
        return "the target has no shell" if carrier == "shell" else "our tools are not offered"
    if not stage.deeds.of(run, "effect"):
        return f"a call that nobody stopped had no effect ({one.outcome or 'not answered'})"
    if "0 of " + run not in str([request.body for request in stage.model.requests(run)[1:]]):
        return "the result of a call did not go to the model"
    return _FINE
