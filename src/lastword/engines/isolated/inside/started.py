"""What a run starts from its own process: the host has it, and this is a handle on it.

A handle is what a handle is everywhere; only its pipes and its warden are the host's. What can be
known without waiting is asked of the host, which answers at once.
"""

from __future__ import annotations

import base64
import weakref
from functools import partial
from typing import Literal

from lastword.core.plain import to_plain
from lastword.engines.isolated.inside.jobs import JobInside, JobsInside
from lastword.engines.isolated.inside.post import Post
from lastword.engines.isolated.inside.streams import (
    HostsProcess,
    InputInside,
    May,
    OutputInside,
    next_reader,
)
from lastword.engines.isolated.started import Handle, ProcessAsked
from lastword.processes import Process
from lastword.processes.command import Command
from lastword.processes.input import Input
from lastword.processes.output import Output
from lastword.runtime.owned import Owned


class OwnedInside(Owned):
    """The processes of a run, in its process."""

    def __init__(self, post: Post, may_act: May) -> None:
        self.jobs = JobsInside(post)
        self._post = post
        self._may_act = may_act
        self._ended: dict[int, int] = {}  # before somebody had a handle on it
        self._handles = weakref.WeakValueDictionary[int, Process]()
        post.process_ended = self._heard_of_end

    async def spawn(
        self, command: Command, *, grace: float, on_stop: Literal["end", "leave", "keep"] = "end"
    ) -> Process:
        """Have the host start a program."""
        return await self._of_host(command, grace, on_stop, told=True)

    async def serve(self, command: Command, *, grace: float) -> Process:
        """The same for what only serves another call."""
        return await self._of_host(command, grace, "end", told=False)

    def job(self, process: Process, grace: float) -> JobInside:
        """Give it an id."""
        return JobInside(self._post, self._post.at_once("job", process.id, grace))

    async def _of_host(
        self,
        command: Command,
        grace: float,
        on_stop: Literal["end", "leave", "keep"],
        *,
        told: bool,
    ) -> Process:
        said = command.stdin if isinstance(command.stdin, bytes) else b""
        asked = ProcessAsked(
            argv=command.argv,
            name=command.name,
            cwd=command.cwd,
            place=command.place,
            env=tuple(command.env.items()),
            stdin="none"
            if command.stdin == "none"
            else "pipe"
            if command.stdin == "pipe"
            else "told",
            said=base64.b64encode(said).decode(),
            terminal=command.terminal,
            merged=command.errors == "merged",
            limits=command.limits,
            output_limit=command.output_limit,
            on_stop=on_stop,
            grace=grace,
            told=told,
            readers=(readers := (next_reader(), next_reader())),
        )
        unwanted = partial(self._unwanted, readers)
        handle = await self._post.request("process", to_plain(asked), too_late=unwanted)
        process = ProcessInside(self._post, command, handle, readers, self._may_act)
        self._handles[handle.n] = process
        if handle.n in self._ended:
            process.has_ended(self._ended.pop(handle.n))
        return process

    def _unwanted(self, readers: tuple[int, int], handle: Handle) -> None:
        """Nobody would know of it."""
        for reader in readers:
            self._post.tell("process_read_over", reader)
        self._post.tell("process_drop", handle.n, 0.0)
        self._post.tell("process_forget", handle.n)

    def _heard_of_end(self, n: int, code: int) -> None:
        if process := self._handles.get(n):
            process.has_ended(code)
        else:
            self._ended[n] = code


class ProcessInside(Process):
    """A handle on one."""

    def __init__(
        self,
        post: Post,
        command: Command,
        handle: Handle,
        readers: tuple[int, int],
        may_act: May,
    ) -> None:
        there = HostsProcess(post, handle.n)
        plumbing = _Plumbing(there, command, handle, readers, may_act)
        super().__init__(there, handle.n, command, plumbing, may_act)
        self._there = there
        self.has_started(handle.pid)

    async def left_behind(self) -> tuple[str, ...]:
        """By the numbers that the host knows."""
        return tuple(await self._there.post.request("process_left", self.id))


class _Plumbing:
    """Its pipes, which are the host's."""

    def __init__(
        self,
        there: HostsProcess,
        command: Command,
        handle: Handle,
        readers: tuple[int, int],
        may_act: May,
    ) -> None:
        self.told = not isinstance(command.stdin, str)
        self.terminal = "the host's" if command.terminal else ""
        self.stdout: Output = OutputInside(there, "stdout", may_act, readers[0])
        self.stderr: Output | None = None
        self.stdin: Input | None = None
        if handle.has_errors:
            self.stderr = OutputInside(there, "stderr", may_act, readers[1])
        if handle.takes_input:
            self.stdin = InputInside(there, command.name, may_act)
        self._there = there

    def resize(self, rows: int, columns: int) -> None:
        self._there.post.at_once("process_resize", self._there.n, rows, columns)

    def handed_over(self) -> None: ...
    def close(self) -> None: ...
