"""What a story has in its hands: a target, the model, the witnesses; and the steps that all share.

The order is always the same. What is to be stopped is proven to be under way, the stop is sent, the
target's own answer is awaited, and what comes after the answer counts.
"""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from lastword.check.contract import Dialogue, Premises, Target
from lastword.check.deeds import Deed, Deeds
from lastword.check.inside import witness
from lastword.check.machine import TOO_LATE, Lag
from lastword.check.model import ScriptedModel, Step
from lastword.check.names import unnamed
from lastword.check.round import Round
from lastword.check.story import Broken, InVain, NotAsked, Unclear
from lastword.check.times import Times, now, until

SOME = 3  # words, of which the first may be all that a buffer lets through
_NOBODY = "whatever goes on"
_LETTERS = "bcdfghjkmpqrstvxz"
_runs = count(1)


def new_run() -> str:
    """A name that is in no other word."""
    n, name = next(_runs), ""
    while n:
        n, rest = divmod(n, len(_LETTERS))
        name = _LETTERS[rest] + name
    return "q" + name


@dataclass(eq=False, slots=True)
class Stage:
    """One run of one story."""

    target: Target
    premises: Premises
    model: ScriptedModel
    deeds: Deeds
    times: Times
    lag: Lag
    dialogue: Dialogue
    offences: frozenset[str]  # of the target's requests before anything was stopped
    carrier: str = ""
    seen: dict[str, Any] = field(default_factory=dict[str, Any])
    parts: dict[str, str] = field(default_factory=dict[str, str])  # each, and why it is broken
    rounds: list[Round] = field(default_factory=list[Round])
    moments: list[tuple[float, str, str]] = field(default_factory=list[tuple[float, str, str]])

    # what is said

    def say(self, *steps: Step | Callable[[str], Step], run: str = "") -> Round:
        """A new message; what the model answers to it, request by request."""
        one = self.dialogue.say(self.scripted(*steps, run=run))
        self.rounds.append(one)
        return one

    def scripted(self, *steps: Step | Callable[[str], Step], run: str = "") -> str:
        run = run or new_run()
        self.model.script(run, *steps)  # pyright: ignore[reportArgumentType] - see `say`
        return run

    def stop(self, one: Round | None, times: int = 1) -> float:
        return self._stopped(self.dialogue.stop(one, times), one)

    def stop_and_say(self, of: Round | None, *steps: Step) -> Round:
        """A stop, and a new message in the same write."""
        run = new_run()
        self.model.script(run, *(steps or [self.model.text(run, 5)]))
        new = self.dialogue.stop_and_say(of, run)
        self._stopped(new.sent_at, of)
        self.rounds.append(new)
        return new

    def say_and_stop(self) -> Round:
        """A message, and its stop in the same write."""
        run = new_run()
        self.model.script(run, self.model.text(run))
        one = self.dialogue.say_and_stop(run)
        self._stopped(one.sent_at, one)
        self.rounds.append(one)
        return one

    def stop_and_allow(self, one: Round) -> float:
        return self._stopped(self.dialogue.stop_and_allow(one), one)

    async def kill(self) -> float:
        """As by kill -9; when it was dead."""
        self.moments.append((now(), "KILL", _NOBODY))
        await self.target.kill()
        return now()

    def _stopped(self, at: float, one: Round | None) -> float:
        self.moments.append((at, "STOP", one.run if one else _NOBODY))
        return at

    async def streaming(self, step: Callable[[str], Step] | None = None) -> Round:
        """A run of which some words were heard."""
        run = new_run()
        return await self.talking(self.say((step or self.model.text)(run), run=run))

    async def talking(self, one: Round) -> Round:
        """Some words of a run were heard, in however many pieces they came."""
        await until(lambda: self.heard(one) >= SOME or one.answered_at, self.times.patience)
        if self.heard(one) < SOME or one.answered_at:
            raise Unclear(f"no text came to be stopped ({one.outcome or self.silence(one)})")
        return one

    def heard(self, one: Round) -> int:
        """How many words of a run were heard: an agent may join them, or break them in pieces."""
        return self.highest(one, one.text) + 1

    def words_at(self, one: Round) -> list[float]:
        """When each word of a run was heard whole: what else an agent says of itself is none."""
        found: list[float] = []
        text = ""
        for at, piece in one.heard:
            text += piece
            words = re.findall(rf"{one.mark}\d{{4}}", text)
            found += [at] * len(words)
            text = text[-len(one.mark) - 3 :] if words else text
        return found

    def silence(self, one: Round) -> str:
        """What is known of a run of which not enough was heard."""
        if not self.model.requests(one.run):
            return "the model was not asked"
        sent = self.model.sent(one.run)
        return f"of {sent} words that left the model, {self.heard(one)} were heard"

    async def asked(self, one: Round) -> None:
        """The model has the request of a run."""
        await until(lambda: self.model.requests(one.run) or one.answered_at, self.times.patience)
        if not self.model.requests(one.run):
            raise Unclear(f"the model was not asked ({one.outcome or 'and nothing was answered'})")

    async def working(self, tool: str, n: int = 1, fuse: float = 0.0) -> Round:
        """A run that has begun a tool."""
        run = new_run()
        one = self.say(self.called(run, tool, n, fuse), run=run)
        await self.begun(one, tool)
        return one

    async def begun(self, one: Round, tool: str) -> None:
        await until(lambda: self.deeds.of(one.run, "begun") or one.answered_at, self.times.patience)
        if one.answered_at or not self.deeds.of(one.run, "begun"):
            missing = sorted(self.model.missing)
            why = f"{', '.join(missing)} is not offered to the model" if missing else one.outcome
            raise Unclear(f"{tool} was not begun ({why or 'nothing was heard'})")

    def called(self, run: str, tool: str, n: int = 1, fuse: float = 0.0) -> Step:
        """Calls of a tool, by the carrier that this part of the story is about."""
        fuse = fuse or self.times.fuse
        if self.carrier == "shell":
            return self.model.calls(
                *({"line": self.line("slow", run, str(k), str(fuse))} for k in range(n))
            )
        return self.model.calls(
            *({"tool": tool, "run": run, "n": k, "fuse": fuse} for k in range(n))
        )

    def line(self, what: str, run: str, *more: str) -> str:
        """A line for a shell: our witness."""
        words = [sys.executable, "-I", "-S", str(Path(witness.__file__)), what]
        return shlex.join([*words, str(self.deeds.journal), run, *more])

    # the answer, and what comes after it

    async def answered(self, one: Round, *, by_itself: bool = True) -> float:
        """The target's word that the stopped run is over; when it came.

        Where it could have come to its end by itself, an answer that says so is none to the stop.
        """
        asked_at = one.stop_at or now()
        if not await until(lambda: one.answered_at or one.stop_refused, self.times.limit):
            half = asked_at + self.times.limit / 2
            talks = any(at > half for at, _ in [*one.heard, *one.thoughts])
            also = ", and it talks on" if talks else ""
            raise InVain(f"the stop was not answered within {self.times.limit:g} s{also}")
        if not one.answered_at and one.nowhere:
            raise Unclear(one.nowhere)
        if not one.answered_at:
            raise Broken(f"the stop was refused: {one.stop_refused}")
        if one.gone:
            raise Broken(f"the stop was not answered: {one.outcome}")
        at = one.answered_at or now()
        self.seen["answered_ms"] = round((at - asked_at) * 1000)
        if one.outcome == "end_turn":
            self.seen["answered_as"] = one.outcome
        if one.outcome == "end_turn" and by_itself:
            raise Broken("the stop was answered as if the run had come to its end")
        return at

    async def watch(self) -> None:
        """Listen for longer than any fuse, and longer still on a machine that lags."""
        await asyncio.sleep(self.times.watch + 2 * self.lag.worst)

    async def goes_on(self, one: Round | None = None) -> Round:
        """A message now is run, and answered in full."""
        if one is None:
            run = new_run()
            one = self.say(self.model.text(run, 5), run=run)
        last = f"{one.mark}0004"
        await until(lambda: one.answered_at, self.times.limit + self.lag.worst)
        if not self.model.requests(one.run):
            how = one.outcome or "not at all"
            raise InVain(f"the next message never reached the model (it was answered: {how})")
        if last not in one.text:
            how = one.outcome or "it is not over"
            raise InVain(f"the next message was not answered in full ({how})")
        return one

    def after(self, run: str, what: str, at: float) -> list[Deed]:
        return [deed for deed in self.deeds.of(run, what) if deed["t"] > at]

    def begun_after(self, one: Round, at: float) -> list[Deed]:
        """What was begun since, but for what was on its way: a call that is told at once that it is
        not wanted left the target before its answer did, and was read by a tool that is slow."""
        told = {deed.get("n") for deed in self.deeds.of(one.run, "told")}
        return [
            deed
            for deed in self.after(one.run, "begun", at)
            if deed["n"] not in told or deed["t"] - at > TOO_LATE
        ]

    def no_effect_after(self, one: Round, at: float, of: str) -> None:
        """Nothing that was stopped has had its effect since; what was named may."""
        if late := self.unnamed(one, self.after(one.run, "effect", at)):
            pids = sorted({deed["pid"] for deed in late})
            several = of[0].isdigit()
            what = f"{len(late)} of {of} had their" if several else f"{of} had its"
            since = late[0]["t"] - at
            raise Broken(f"{what} effect {since:.1f} s after the stop was answered (pids {pids})")

    def unnamed(self, one: Round, deeds: list[Deed]) -> list[Deed]:
        """Those that the answer did not name as going on; what it did name is told."""
        left, told = unnamed(one.named, deeds)
        if told:
            self.seen["named"] = sorted({*self.seen.get("named", []), *told})
        return left

    def shown(self, run: str) -> str:
        """All that the model was shown by the first request of a run."""
        return json.dumps(self.model.requests(run)[0].body, default=str, ensure_ascii=False)

    def highest(self, one: Round, text: str) -> int:
        """The last word of a run that is in a text; -1 if there is none."""
        return max((int(n) for n in re.findall(rf"{one.mark}(\d{{4}})", text)), default=-1)

    def beating(self, one: Round, since: float) -> dict[str, int]:
        """Who said that it is alive, after this: its part, and its process."""
        return {deed["part"]: deed["pid"] for deed in self.after(one.run, "beat", since)}

    async def beats(self, one: Round, parts: int) -> None:
        """So many processes are at work."""
        await until(
            lambda: len(self.beating(one, 0)) >= parts or one.answered_at, self.times.patience
        )
        if "a shell" in self.model.missing:
            raise NotAsked("the target has no shell")
        if one.answered_at or len(self.beating(one, 0)) < parts:
            raise Unclear(f"the processes did not start ({one.outcome or 'nothing was heard'})")

    def beating_deeds(self, one: Round, part: str) -> list[Deed]:
        return [deed for deed in self.deeds.of(one.run, "beat") if deed["part"] == part]

    def alive(self, one: Round) -> dict[str, int]:
        return self.beating(one, self._lately())

    def alive_unnamed(self, one: Round) -> dict[str, int]:
        """Who is alive, and the answer did not say so."""
        deeds = self.unnamed(one, self.after(one.run, "beat", self._lately()))
        return {deed["part"]: deed["pid"] for deed in deeds}

    def _lately(self) -> float:
        return now() - 0.5 - self.lag.worst
