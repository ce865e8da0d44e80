"""What goes on in the session under an id, for a run in its own process: each is the host's."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator

from lastword.engines.isolated.inside.post import Post
from lastword.engines.isolated.named import JobFacts, JobState
from lastword.processes import Process
from lastword.runtime.jobs import MOST, Job, Jobs, OutputPiece


class JobInside(Job):
    """A handle on one."""

    def __init__(self, post: Post, facts: JobFacts) -> None:
        self._post = post
        self._facts = facts
        self.id = facts.id
        self.run = facts.run
        self.by = facts.by
        self.started_at = facts.started_at
        self.kept = facts.kept

    def _now(self) -> JobState:
        return self._post.at_once("job_state", self.id)

    @property
    def pid(self) -> int:
        return self._facts.pid

    @property
    def number(self) -> int | None:
        return self._now().number

    @property
    def command(self) -> str:
        return self._facts.command

    @property
    def output(self) -> str:
        return self._post.at_once("job_output", self.id)

    @property
    def code(self) -> int | None:
        return self._now().code

    @property
    def alive(self) -> bool:
        return self._now().alive

    @property
    def ending(self) -> str:
        return self._now().ending

    @property
    def standing(self) -> str:
        return self._now().standing

    @property
    def takes_input(self) -> bool:
        return self._facts.takes_input

    def when_over(self, act: Callable[[], object]) -> None:
        self._post.ask("job_over", self.id).add_done_callback(lambda _: act())

    async def over_within(self, seconds: float) -> bool:
        return await self._post.request("job_over_within", self.id, seconds)

    def read(self, offset: int = 0, limit: int = MOST) -> OutputPiece:
        return self._post.at_once("job_read", self.id, offset, limit)

    async def write(self, data: bytes, *, last: bool = False) -> bool:
        said = base64.b64encode(data).decode()
        return await self._post.request("job_write", self.id, said, last)

    async def signal(self, number: int) -> bool:
        return await self._post.request("job_signal", self.id, int(number))

    async def end(self, grace: float | None = None, *, why: str = "") -> None:
        await self._post.request("job_end", self.id, grace, why)


class JobsInside(Jobs):
    """Those of the session."""

    def __init__(self, post: Post) -> None:
        self._post = post

    def __iter__(self) -> Iterator[Job]:
        return (JobInside(self._post, facts) for facts in self._post.at_once("jobs"))

    def __getitem__(self, id: str) -> Job:
        return JobInside(self._post, self._post.at_once("job_at", id))

    def of(self, process: Process) -> Job | None:
        facts = self._post.at_once("job_of", process.id)
        return JobInside(self._post, facts) if facts else None

    def whose(self, id: str, by: str | None) -> Job:
        return JobInside(self._post, self._post.at_once("job_whose", id, by))
