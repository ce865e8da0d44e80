"""A server of OpenAI's responses that run in the background, and can be cancelled.

A stop is `POST …/cancel`; its answer is the later of that request's and the end of the stream. A
server that answers before it acts is broken, as it should be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lastword.check.contract import Target
from lastword.check.recipes import Recipe
from lastword.check.round import Round
from lastword.check.story import Faculty
from lastword.check.targets.served import Halves, NoOneWrite, ServedTarget, asking
from lastword.check.targets.web import request
from lastword.check.times import now

_FACULTIES = frozenset[Faculty]({"text", "hears on", "tools", "two sessions"})
_ENDS = ("completed", "incomplete", "failed", "cancelled")


def responses(
    url: str, command: Sequence[str], recipe: Recipe, headers: Mapping[str, str]
) -> Callable[[], Target]:
    """Makes the target, as often as it is started. The URL ends in `/responses`."""

    def make() -> Target:
        target = ServedTarget(url, command, recipe, headers, _FACULTIES, ResponsesDialogue)
        target.kind = "responses"
        return target

    return make


class ResponsesDialogue(NoOneWrite):
    """A chain of responses, each on the one before it."""

    def __init__(self, target: ServedTarget) -> None:
        self._target = target
        self._last = ""
        self._halves: dict[Round, Halves] = {}

    def say(self, run: str) -> Round:
        one = Round(run)
        self._halves[one] = Halves(one)
        self._target.begin(lambda: self._follow(one), one)
        return one

    def stop(self, of: Round | None, times: int = 1) -> float:
        at = now()
        if of is not None:
            of.stop_at = at
            where = f"{self._target.at()}/%s/cancel"
            self._target.ask_to_stop(self._halves[of], of, lambda: where % of.key, times)
        return at

    async def _follow(self, one: Round) -> None:
        asked: dict[str, Any] = {"model": "scripted", "input": asking(one.run), "stream": True}
        asked |= {"background": True, "store": True}
        asked |= {"previous_response_id": self._last} if self._last else {}
        async with request("POST", self._target.at(), self._target.headers, asked) as coming:
            if coming.status >= 300:
                raise ValueError(f"refused with {coming.status}: {await coming.whole()}")
            ended = False
            async for event in coming.events():
                self._target.note("from it", event)
                ended = self._heard(one, event) or ended
        if not ended:
            self._halves[one].half("stream", "the stream ended", refused=not one.stop_at)

    def _heard(self, one: Round, event: Mapping[str, Any]) -> bool:
        """What an event says; whether the response is over by it."""
        kind = str(event.get("type", ""))
        response: dict[str, Any] = event.get("response") or {}
        if response.get("id"):
            one.key = self._last = str(response["id"])
        if kind == "response.output_text.delta":
            one.hear(str(event["delta"]))
        elif kind.startswith("response.reasoning") and kind.endswith(".delta"):
            one.think(str(event["delta"]))
        how = kind.removeprefix("response.")
        if how not in _ENDS:
            return False
        told = "end_turn" if how == "completed" else how
        self._halves[one].half("stream", told, refused=how == "failed" and not one.stop_at)
        return True
