"""A lastword server, by the calls that anybody can make.

A stop is `POST …/stop`; its answer is the later of its receipt and the change in the event stream
that says how the run ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from lastword.check.contract import Target
from lastword.check.recipes import Recipe
from lastword.check.round import Round
from lastword.check.story import Faculty
from lastword.check.targets.served import Halves, NoOneWrite, ServedTarget, asking, texts
from lastword.check.targets.web import request, told
from lastword.check.times import now

_FACULTIES = frozenset[Faculty]({"text", "hears on", "tools", "shell", "two sessions"})


def v1(
    url: str, command: Sequence[str], recipe: Recipe, headers: Mapping[str, str]
) -> Callable[[], Target]:
    """Makes the target, as often as it is started. The URL ends in `/v1`."""

    def make() -> Target:
        target = ServedTarget(url, command, recipe, headers, _FACULTIES, V1Dialogue)
        target.kind, target.one_stream = "v1", True
        return target

    return make


class V1Dialogue(NoOneWrite):
    """One session."""

    def __init__(self, target: ServedTarget) -> None:
        self._target = target
        self._name = f"check-{uuid4().hex[:12]}"
        self._rounds: dict[str, Round] = {}  # by the run that answers
        self._all: list[Round] = []
        self._halves: dict[Round, Halves] = {}
        self._ended: dict[str, str] = {}  # told before its ticket was here
        self._following: asyncio.Task[None] | None = None

    def say(self, run: str) -> Round:
        one = Round(run)
        self._halves[one] = Halves(one)
        self._all.append(one)
        self._target.begin(lambda: self._send(one), one)
        return one

    def stop(self, of: Round | None, times: int = 1) -> float:
        one = of or Round("idle", key="nothing to stop")
        one.stop_at = at = now()
        halves = self._halves.get(one) or Halves(one)
        self._target.ask_to_stop(halves, one, lambda: self._at("stop"), times)
        return at

    def _at(self, what: str) -> str:
        return f"{self._target.at()}/sessions/{self._name}/{what}"

    async def _send(self, one: Round) -> None:
        body = {"text": asking(one.run)}
        status, ticket = await told("POST", self._at("messages"), self._target.headers, body)
        self._target.note("accepted", ticket)
        if status >= 300:
            raise ValueError(f"refused with {status}: {ticket}")
        one.key = str(ticket["run"])
        self._rounds[one.key] = one
        if one.key in self._ended:
            self._over(one, self._ended[one.key])
        if self._following is None or self._following.done():
            self._following = self._target.begin(self._follow, one)

    async def _follow(self) -> None:
        async with request("GET", self._at("events"), self._target.headers) as coming:
            async for event in coming.events():
                self._target.note("from it", event)
                snapshot: list[dict[str, Any]] = event.get("items") or []
                changes: list[dict[str, Any]] = event.get("changes") or []
                for item in snapshot:
                    if item.get("kind") == "turn":
                        self._heard(item)
                        self._head(item)
                for change in changes:
                    self._heard(change)
                    self._head(change.get("head") or {})

    def _heard(self, change: Mapping[str, Any]) -> None:
        text = texts(change)
        part: dict[str, Any] = change.get("part") or {}
        thinks = "thinking" in (change.get("of"), part.get("kind"))
        for one in self._all:
            if one.mark in text:
                one.think(text) if thinks else one.hear(text)

    def _head(self, head: Mapping[str, Any]) -> None:
        """How a run ended, if it has."""
        run, outcome = str(head.get("run", "")), str(head.get("outcome", ""))
        if not outcome or run in self._ended:
            return
        self._ended[run] = outcome
        if run in self._rounds:
            self._over(self._rounds[run], outcome)

    def _over(self, one: Round, outcome: str) -> None:
        refused = outcome in ("failed", "refused", "lost")
        how = "end_turn" if outcome == "completed" else outcome
        self._halves[one].half("stream", how, refused=refused)
