"""Whose it is that goes on under an id: theirs who asked for the run that started it.

To end a process is to stop a part of what somebody asked for, and to write to it or signal it may
be more than that. So who may do it is who may stop the run, also when the run itself has ended.
"""

from __future__ import annotations

from lastword.core.model import RunId
from lastword.core.rights import Rights
from lastword.errors import NotAllowed
from lastword.runtime.checks import must_be_name
from lastword.runtime.hold import Hold
from lastword.runtime.jobs import Job, Jobs


class Whose:
    """Of a session's runs, and its children's, as long as anything of them may go on."""

    __slots__ = ("_jobs", "_rights", "_runs")

    def __init__(self, jobs: Jobs, rights: Rights) -> None:
        self._jobs = jobs
        self._rights = rights
        self._runs: dict[RunId, tuple[Hold, str]] = {}

    def begins(self, hold: Hold, by: str, above: Hold | None) -> None:
        """A run begins; a child's is theirs who asked for the one above."""
        named = {job.run for job in self._jobs}
        self._runs = {
            run: known for run, known in self._runs.items() if run in named or known[0].current
        }
        self._runs[hold.run] = (hold, self._of(above.run) if above else by)

    def _of(self, run: RunId) -> str:
        return self._runs[run][1] if run in self._runs else ""

    def job(self, id: str, by: str | None) -> Job:
        """What has this id; `NotAllowed` if `by` may not stop the run that started it."""
        must_be_name(id, "the id of a process")
        job = self._jobs[id]
        if not self._rights.may_stop(by, self._of(job.run)):
            raise NotAllowed(
                f"{by!r} has no right to stop {job.run}, which started {id}, so nothing was done"
            )
        return job
