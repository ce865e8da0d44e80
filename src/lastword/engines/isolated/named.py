"""What goes on under an id, for a run in a process of its own: it is the session's, and here."""

from __future__ import annotations

import asyncio
import base64
from typing import NamedTuple

from lastword.core.model import RunId
from lastword.engines.isolated.shapes import Verb
from lastword.engines.isolated.started import ProcessesApart
from lastword.runtime.jobs import Job, OutputPiece
from lastword.runtime.run import Run


class JobFacts(NamedTuple):
    """What does not change of one."""

    id: str
    run: RunId
    by: str
    pid: int
    command: str
    started_at: float
    kept: bool
    takes_input: bool


class JobState(NamedTuple):
    """What does."""

    number: int | None
    code: int | None
    alive: bool
    ending: str
    standing: str
    left: tuple[str, ...]


class JobsApart:
    """Those of the session, for one run."""

    def __init__(self, run: Run, started: ProcessesApart) -> None:
        self._run = run
        self._started = started
        self.requests = {
            "job_write": Verb(self._write, (str, str, bool)),
            "job_signal": Verb(self._signal, (str, int)),
            "job_end": Verb(self._end, (str, float | None, str)),
            "job_over_within": Verb(self._over_within, (str, float)),
            "job_over": Verb(self._over, (str,)),
        }
        self.at_once = {
            "job": Verb(self._job, (int, float | None)),
            "job_of": Verb(self._job_of, (int,)),
            "job_at": Verb(self._job_at, (str,)),
            "job_whose": Verb(self._job_whose, (str, str | None)),
            "job_state": Verb(self._state, (str,)),
            "job_output": Verb(self._output, (str,)),
            "job_read": Verb(self._read, (str, int, int)),
            "jobs": Verb(self._jobs, ()),
        }

    # which

    def _job(self, n: int, grace: float | None) -> JobFacts:
        """Name one."""
        return _facts(self._run.job(self._started.of(n), grace=grace))

    def _job_of(self, n: int) -> JobFacts | None:
        job = self._run.jobs.of(self._started.of(n))
        return _facts(job) if job else None

    def _job_at(self, id: str) -> JobFacts:
        return _facts(self._run.jobs[id])

    def _job_whose(self, id: str, by: str | None) -> JobFacts:
        return _facts(self._run.jobs.whose(id, by))

    def _jobs(self) -> list[JobFacts]:
        return [_facts(job) for job in self._run.jobs]

    # it

    def _state(self, id: str) -> JobState:
        job = self._run.jobs[id]
        return JobState(job.number, job.code, job.alive, job.ending, job.standing, job.left)

    def _output(self, id: str) -> str:
        return self._run.jobs[id].output

    def _read(self, id: str, offset: int, limit: int) -> OutputPiece:
        return self._run.jobs[id].read(offset, limit)

    async def _write(self, id: str, data: str, last: bool) -> bool:
        return await self._run.jobs[id].write(base64.b64decode(data), last=last)

    async def _signal(self, id: str, number: int) -> bool:
        return await self._run.jobs[id].signal(number)

    async def _end(self, id: str, grace: float | None, why: str) -> None:
        await self._run.jobs[id].end(grace, why=why)

    async def _over_within(self, id: str, seconds: float) -> bool:
        return await self._run.jobs[id].over_within(seconds)

    async def _over(self, id: str) -> None:
        over = asyncio.Event()
        self._run.jobs[id].when_over(over.set)
        await over.wait()


def _facts(job: Job) -> JobFacts:
    return JobFacts(
        job.id,
        job.run,
        job.by,
        job.pid,
        job.command,
        job.started_at,
        job.kept,
        job.takes_input,
    )
