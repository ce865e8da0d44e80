"""What an answer changes, written down as it does: file tools say it, commands are seen to do it.

A file tool says it before it does it, with a copy of what is there. Around a command all that is
below the roots is looked at, and what differs is what the command did, less what others have
written down meanwhile. The last look is after everything of the run has ended, also after a stop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress

from lastword.agent.tools.aside import aside
from lastword.agent.tools.roots import Place, Roots
from lastword.agent.undo.answer import AnswerNotes, UndoRoom
from lastword.core.undo import FilesReport
from lastword.errors import LastwordError
from lastword.runtime.run import Run
from lastword.runtime.tasks import Tasks

_PATIENCE = 5.0  # seconds for processes to be gone; what is left then is named elsewhere


class UndoKeeper:
    """That of one agent."""

    def __init__(self, roots: Roots) -> None:
        self._kept = UndoRoom.of(roots)
        self._answers: dict[str, AnswerNotes] = {}
        self._runs: dict[str, list[Run]] = {}  # of each answer, with its children
        self._begins = Tasks("undo")
        self._ends: dict[str, Tasks] = {}  # of each session, the last looks

    @asynccontextmanager
    async def during(self, run: Run) -> AsyncGenerator[None]:
        """A run: what it has changed is told at its end, or in the receipt of its stop."""
        name = run.top
        session, epoch = run.lives[-1]
        answer = self._answers.setdefault(name, AnswerNotes(self._kept, session, name, epoch))
        answer.runs.add(run.id)
        going = self._runs.setdefault(name, [])
        going.append(run)
        try:
            yield
        finally:
            try:
                if answer.began:
                    await self._end(session, answer, run)
            finally:
                going.remove(run)
                if not going:
                    del self._runs[name], self._answers[name]
                    answer.close()

    async def _end(self, session: str, answer: AnswerNotes, run: Run) -> None:
        looks = self._ends.setdefault(session, Tasks("undo"))
        try:
            await _seen_through(looks.start(_end(answer, run), name="last look"))
        finally:
            if not looks.living:
                self._ends.pop(session, None)

    @contextmanager
    def writing(self, run: Run, place: Place, data: bytes) -> Generator[None]:
        """A file tool of this run is about to have a file hold this. Any thread may say it."""
        with self._answers[run.top].writing(place.shown, data):
            yield

    @contextmanager
    def making(self, run: Run, name: Callable[[], str]) -> Generator[None]:
        """It may make the folders that are missing on the way to what has this name."""
        with ExitStack() as noted:
            with suppress(OSError, ValueError):  # it says so by itself
                noted.enter_context(self._answers[run.top].making(name()))
            yield

    @asynccontextmanager
    async def command(self, run: Run, command: str) -> AsyncGenerator[None]:
        """A command runs, and what differs afterwards was done by it."""
        answer, begun = self._answers[run.top], False
        try:
            before = self._ends.get(run.lives[-1][0])  # of the answer that this one replaced
            if before and (looks := before.living):
                await asyncio.wait(looks)
            begin = aside(lambda: answer.begin(command))
            await _seen_through(self._begins.start(begin, name="first look"))
            begun = True
            yield
        except Exception:
            await _over(answer, run, command)
            raise
        except BaseException:  # stopped: the last look is when all of it has ended
            answer.over(command, cut=begun)
            raise
        await _over(answer, run, command)


async def _seen_through(task: asyncio.Task[None]) -> None:
    """Return at its end, however often it is asked to be quick: it is bounded by itself."""
    asked: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            asked = error
    task.result()
    if asked:
        raise asked


async def _over(answer: AnswerNotes, run: Run, command: str) -> None:
    answer.over(command)
    alive = _living(answer, run)
    await aside(lambda: answer.look(alive))


async def _end(answer: AnswerNotes, run: Run) -> None:
    """Look once more when nothing of the run is left, and tell what it came to."""
    for job in tuple(run.jobs) if run.current else ():
        if job.run == run.id and job.alive and not job.kept:
            with suppress(LastwordError):
                await job.end()  # as it does with every answer: before the last look
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            await run.processes_gone()
    kept = _living(answer, run)
    told = await aside(lambda: _last(answer, kept, whole=run.id == answer.name))
    if told:
        run.has_changed(told)
    if told and run.current:
        await run.progress(f"Changed {told}")


def _last(answer: AnswerNotes, kept: list[str], *, whole: bool) -> FilesReport | None:
    if answer.looking:
        answer.look(kept, last=whole)
    return answer.report() if whole else None


def _living(answer: AnswerNotes, run: Run) -> list[str]:
    """What this answer has started, and goes on."""
    return [job.command for job in run.jobs if job.alive and job.run in answer.runs]
