"""A server that speaks AG-UI.

The protocol has no stop but to hang up, and then nobody answers: the stop counts as answered after
the limit, and every verdict is weak. A server that can be told to stop is asked for that, with
`--stop URL`; its answer is the later of that request's and the end of the run in the stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from lastword.check import background
from lastword.check.contract import Target
from lastword.check.recipes import Recipe
from lastword.check.round import Round
from lastword.check.story import Faculty
from lastword.check.targets.served import Halves, NoOneWrite, ServedTarget, asking
from lastword.check.targets.web import request
from lastword.check.times import now

_WORDS = ("TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK")
_THOUGHTS = (
    "REASONING_MESSAGE_CONTENT",
    "REASONING_MESSAGE_CHUNK",
    "THINKING_TEXT_MESSAGE_CONTENT",
)
_ENDS = ("RUN_FINISHED", "RUN_ERROR")
_BY_LEAVING = "by hanging up: nobody answers, so A is the limit after it"


def agui(
    url: str, command: Sequence[str], recipe: Recipe, headers: Mapping[str, str], stop: str
) -> Callable[[], Target]:
    """Makes the target, as often as it is started."""
    ears = frozenset[Faculty]({"hears on"} if stop else set())
    can = frozenset[Faculty]({"text", "tools", "two sessions"}) | ears

    def make() -> Target:
        target = ServedTarget(url, command, recipe, headers, can, lambda at: AguiDialogue(at, stop))
        target.kind, target.weak = "agui", "" if stop else _BY_LEAVING
        target.told_where_to_stop = bool(stop)
        return target

    return make


class AguiDialogue(NoOneWrite):
    """One thread."""

    def __init__(self, target: ServedTarget, stop: str) -> None:
        self._target, self._stop = target, stop
        self._thread = f"check-{uuid4().hex[:12]}"
        self._messages: list[dict[str, Any]] = []
        self._streams: dict[Round, asyncio.Task[None]] = {}
        self._halves: dict[Round, Halves] = {}

    def say(self, run: str) -> Round:
        one = Round(run, key=f"run-{uuid4().hex[:12]}")
        self._messages.append({"id": f"msg-{run}", "role": "user", "content": asking(run)})
        self._halves[one] = Halves(one)
        self._streams[one] = self._target.begin(lambda: self._follow(one), one)
        return one

    def stop(self, of: Round | None, times: int = 1) -> float:
        at = now()
        if of is None:
            return at
        of.stop_at = at
        if self._stop:
            named = self._stop.replace("{threadId}", self._thread).replace("{runId}", of.key)
            at_it = self._target.at(named)
            self._target.ask_to_stop(self._halves[of], of, lambda: at_it, times)
        else:
            self._streams[of].cancel()
            background.begin(self._nobody_answers(of), "check: agui")
        return at

    async def _nobody_answers(self, one: Round) -> None:
        await asyncio.sleep(self._target.limit)
        one.answer("hung up")

    async def _follow(self, one: Round) -> None:
        asked: dict[str, Any] = {
            "threadId": self._thread,
            "runId": one.key,
            "protocolVersion": "1.0",
            "messages": list(self._messages),
            "tools": [],
            "context": [],
            "state": {},
            "forwardedProps": {},
        }
        how = ""
        async with request("POST", self._target.at(), self._target.headers, asked) as coming:
            if coming.status >= 300:
                raise ValueError(f"refused with {coming.status}: {await coming.whole()}")
            async for event in coming.events():
                self._target.note("from it", event)
                how = self._heard(one, event) or how
        self._messages.append({"id": f"said-{one.run}", "role": "assistant", "content": one.text})
        if not how:
            self._halves[one].half("stream", "the stream ended", refused=not one.stop_at)

    def _heard(self, one: Round, event: Mapping[str, Any]) -> str:
        """What an event says; how the run ended, if it does."""
        kind, text = str(event.get("type")), str(event.get("delta") or "")
        if kind in _WORDS and text:
            one.hear(text)
        elif kind in _THOUGHTS and text:
            one.think(text)
        elif kind in _ENDS:
            how = "ended" if kind == "RUN_FINISHED" else f"error: {event.get('message')}"
            self._halves[one].half("stream", how, refused=kind == "RUN_ERROR" and not one.stop_at)
            return how
        return ""
