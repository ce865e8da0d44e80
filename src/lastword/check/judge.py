"""A target is judged: the stories, side by side in lanes, each with a target of its own.

After anything but *kept* the target of a lane is started anew: one that has broken a promise is not
trusted with the next. What was seen while the machine was too busy is not believed: that run is
made again, at most twice, and then nothing is known.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import traceback
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from lastword.check import background, keeper
from lastword.check.contract import CannotStart, Premises, Target
from lastword.check.control import Controls, controls
from lastword.check.deeds import Deeds
from lastword.check.evidence import keep
from lastword.check.keeper import marked, sweep
from lastword.check.machine import TOO_LATE, Lag, described, starved, waits
from lastword.check.model import ScriptedModel
from lastword.check.plain import plain
from lastword.check.results import CheckReport, StoryResult, StoryRun
from lastword.check.stage import Stage
from lastword.check.story import Broken, Faculty, InVain, NotAsked, Story, Unclear, Verdict
from lastword.check.timeline import timeline
from lastword.check.times import Times, now, until
from lastword.testing.provider import Provider

_LONGEST = 180.0  # seconds for one run: what hangs longer is a fault of the kit, or of nobody
_AGAIN = 2  # runs more on a busy machine
_BY_CHANCE = 5
_LISTED, _OFFERED = 3.0, 0.2  # seconds until our tools are asked for, and then offered
_TRIES = 3  # to start a target, after which it is known that it starts no more
_NAME = 80  # letters


@dataclass(frozen=True, slots=True)
class Commission:
    """What is to be judged, and how."""

    stories: Sequence[Story]
    repeat: int = 0  # 0: once, and five times what can be kept by chance
    overlap: int = 4
    times: Times = field(default_factory=Times)
    evidence: Path | None = None
    network: str = "shared: what else was asked is not known"
    owns: bool = False  # whatever descends from this process came of the check
    port: int = 0
    journal: Path | None = None  # for a target that somebody else starts
    told: Callable[[StoryResult], None] = lambda _: None  # each as it is known


class Judge:
    """One target, from the first control to the report."""

    def __init__(self, make: Callable[[], Target], wanted: Commission) -> None:
        self._make, self._wanted = make, wanted
        self._lag = Lag()
        self._controls = Controls()
        self.starts_in_vain = 0
        self._waiting: deque[StoryResult] = deque()

    async def report(self) -> CheckReport:
        """Judge it, and leave nothing behind. Raises CannotStart."""
        began = now()
        with _folder(owns=self._wanted.owns) as folder:
            async with Provider(strict=False, port=self._wanted.port) as provider, self._lag:
                model = ScriptedModel(provider)
                deeds = Deeds(self._wanted.journal or folder / "journal")
                first = JudgeLane(self, model, deeds, folder / "lane0")
                try:
                    await first.prove()
                    results = self._placed(first.target)
                    await self._in_lanes(first, results, folder)
                finally:
                    await first.close()
        return CheckReport(
            target={"kind": first.target.kind, "name": plain(first.target.name, _NAME)},
            machine=described(self._wanted.network, self._lag),
            controls=plain(self._controls.told),
            results=results,
            errands=len(model.errands),
            date=datetime.now(UTC).date().isoformat(),
            seconds=round(now() - began, 1),
        )

    def _placed(self, target: Target) -> list[StoryResult]:
        results = [StoryResult(story, weak=target.weak) for story in self._wanted.stories]
        for result in results:
            result.why_not = result.story.lacks(target.kind, target.faculties)
            if result.why_not:
                self._wanted.told(result)
        asked = [result for result in results if not result.why_not]
        self._waiting.extend(sorted(asked, key=lambda result: -result.story.takes))
        return results

    async def _in_lanes(self, first: JudgeLane, results: list[StoryResult], folder: Path) -> None:
        n = min(self._wanted.overlap, len(self._waiting)) if results else 0
        lanes = [first]
        lanes += [first.beside(folder / f"lane{k}") for k in range(1, n)]
        going = [background.begin(self._work(lane), "check: lane") for lane in lanes]
        try:
            await asyncio.gather(*going)
        finally:
            await background.end(*going)
            for lane in lanes[1:]:
                await lane.close()

    async def _work(self, lane: JudgeLane) -> None:
        while self._waiting:
            result = self._waiting.popleft()
            await lane.tell(result)
            self._wanted.told(result)

    @property
    def wanted(self) -> Commission:
        return self._wanted

    @property
    def lag(self) -> Lag:
        return self._lag

    @property
    def known(self) -> Controls:
        return self._controls

    def learn(self, known: Controls) -> None:
        self._controls = known

    def made(self) -> Target:
        return self._make()


class JudgeLane:
    """A target of its own, and the stories that come to it one after another."""

    def __init__(self, judge: Judge, model: ScriptedModel, deeds: Deeds, folder: Path) -> None:
        self._judge, self._model, self._deeds = judge, model, deeds
        self.target = judge.made()
        mark = f"{folder.parent.name}-{folder.name}"
        self._premises = Premises(model.provider.url, deeds.journal, folder, mark)
        self._open = False
        self._pids: list[int] = []  # of the target, as it was started
        self._lists = True

    def beside(self, folder: Path) -> JudgeLane:
        return JudgeLane(self._judge, self._model, self._deeds, folder)

    async def prove(self) -> None:
        """The controls."""
        try:
            stage = await self._stage("")
            known = await controls(stage)
        except CannotStart:
            raise
        except Exception as error:
            raise CannotStart(_told_by(error)[1]) from error
        self._judge.learn(known)

    async def close(self) -> None:
        if self._open:
            self._open = False
            await self.target.close()
            if not self.target.strangers:
                sweep(self._premises.mark)

    async def tell(self, result: StoryResult) -> None:
        """All runs of a story, by every carrier that it is told of."""
        story, wanted = result.story, self._judge.wanted
        repeat = wanted.repeat or (_BY_CHANCE if story.by_chance else 1)
        for carrier in self._carriers(story):
            for _ in range(repeat):
                run = await self._believed(story, carrier)
                if run is None:
                    continue
                result.runs.append(run)
                if run.verdict == "not asked":
                    break
        if all(run.verdict == "not asked" for run in result.runs):
            result.why_not = result.runs[0].why if result.runs else "nothing of ours can be called"

    def _carriers(self, story: Story) -> list[str]:
        """In what ways it is told: each that works; the first of all if none does."""
        if "tools" not in story.needs:
            return [""]
        ours = list(self.target.carriers)
        if story.by_carrier and self._judge.known.has("shell"):
            return [*ours, "shell"]
        return ours[:1]

    async def _believed(self, story: Story, carrier: str) -> StoryRun | None:
        why = self._judge.known.lacks(story.needs, carrier)
        if why:
            no_shell = "has no shell" in why
            return StoryRun("not asked" if no_shell else "cannot tell", why, carrier)
        left = _AGAIN
        while True:
            began = now()
            run = await self._once(story, carrier)
            late = self._judge.lag.since(began)
            busy = f"{late:.1f} s late" if late > TOO_LATE else run.starved
            if not busy:
                return self._doubted(run, story)
            if not left:
                busy = f"the machine was too busy ({busy})"
                return StoryRun("cannot tell", busy, carrier, run.seen, {}, run.timeline)
            left -= 1

    def _doubted(self, run: StoryRun, story: Story) -> StoryRun:
        """Silence in a journal that somebody else writes, too, is no proof; nor are words."""
        if self._deeds.doubt and story.needs & _WITNESSED and run.verdict != "not asked":
            run.verdict, run.why = "cannot tell", f"the journal: {self._deeds.doubt}"
        return run

    async def _once(self, story: Story, carrier: str) -> StoryRun:
        began = now()
        stage: Stage | None = None
        before, hungry = dict[str, float](), ""
        try:
            stage = await self._stage(carrier)
            before = waits(self._pids)
            await asyncio.wait_for(story.tell(stage), _LONGEST)
            verdict, why = _KEPT
        except InVain as error:
            hungry = starved(before, waits(self._pids))
            verdict, why = _told_by(error)
        except CannotStart as error:
            self._judge.starts_in_vain += 1
            verdict, why = _told_by(error)
        except Exception as error:  # noqa: BLE001 - a fault of the kit is none of the target's
            verdict, why = _told_by(error)
        run = StoryRun(verdict, plain(why), carrier, starved=hungry)
        if stage:
            run.seen, run.parts = plain(stage.seen), plain(stage.parts)
            run.timeline = plain(timeline(stage, began))
        if verdict != "kept":
            folder = self._judge.wanted.evidence
            if stage and folder and verdict != "not asked":
                run.evidence = keep(folder, story, run, stage, began)
            await self.close()
        return run

    async def _stage(self, carrier: str) -> Stage:
        if not self._open:
            if self._judge.starts_in_vain >= _TRIES:
                raise CannotStart("it was tried often enough")
            self._open = True
            await self.target.open(self._premises)
            self._pids = marked(self._premises.mark)
        listed = len(self._deeds.of("", "listed"))
        dialogue = await self.target.dialogue()
        if self.target.brings_tools and self._lists:  # they are there a moment after it is
            asked = await until(lambda: len(self._deeds.of("", "listed")) > listed, _LISTED)
            self._lists = asked  # some ask for them with each message: nothing to wait for
            await asyncio.sleep(_OFFERED)
        return Stage(
            self.target,
            self._premises,
            self._model,
            self._deeds,
            self.target.times(self._judge.wanted.times),
            self._judge.lag,
            dialogue,
            self._judge.known.offences,
            carrier,
        )


_KEPT: tuple[Verdict, str] = ("kept", "")
_WITNESSED = frozenset[Faculty]({"tools", "shell"})  # by what is in the journal


def _told_by(error: Exception) -> tuple[Verdict, str]:
    """What the end of a story says."""
    match error:
        case Broken():
            return "broken", str(error)
        case NotAsked():
            return "not asked", str(error)
        case Unclear():
            return "cannot tell", str(error)
        case CannotStart():
            return "cannot tell", f"the target did not start again: {error}"
        case _:
            last = " ".join(traceback.format_exception(error)[-2:]).split()
            return "cannot tell", "the check itself failed: " + " ".join(last)[-300:]


@contextlib.contextmanager
def _folder(*, owns: bool) -> Generator[Path]:
    """For all that is made here; whoever sees it off outlives a judge that is killed."""
    folder = Path(tempfile.mkdtemp(prefix="lastword-check-"))
    words = [sys.executable, "-I", "-S", str(Path(keeper.__file__)), str(folder)]
    words += [str(os.getpid())] if owns else []
    began = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)  # noqa: S603, TID251 - a judge has no run
    try:
        with began:
            yield folder  # its input is closed behind this, and then it is waited for
    finally:
        if folder.exists():  # a target has killed it
            keeper.see_off(folder)
