"""What a run offers to whoever starts processes in it: each has an owner from before its first
instruction, and ends with the run unless it was declared to stay."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

from lastword.processes import Completed, Process, ProcessLimits, Warden, command
from lastword.processes.command import OUTPUT_LIMIT, Stdin
from lastword.processes.served import Served
from lastword.runtime.adopting import Adopted, Page, adopt
from lastword.runtime.checks import must_be_one_of, must_be_seconds, must_be_text
from lastword.runtime.framework import ForFrameworks
from lastword.runtime.jobs import Job, Jobs


class Starting(ForFrameworks):
    """The part of a `Run` that starts processes."""

    async def spawn(  # noqa: PLR0913 - each is one thing to say of a process, with a default
        self,
        *argv: str | os.PathLike[str],
        shell: str | None = None,
        name: str = "",
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        stdin: Stdin = "none",
        pty: bool = False,
        merged: bool = False,
        on_stop: Literal["end", "leave", "keep"] = "end",
        grace: float | None = None,
        limits: ProcessLimits | None = None,
        output_limit: int = OUTPUT_LIMIT,
        told: bool = True,
    ) -> Process:
        """Start a program, or a shell's command line. It ends no later than this run.

        When the run ends, however it does, the process and all that it started are asked to end,
        and killed after `grace` seconds. With `on_stop="leave"` it has a moment to leave by itself
        before it is asked, as one does that was told so or reads the end of its input. With
        `on_stop="keep"` it lives until the runtime is closed, or until it is ended through
        `session.processes`. `name` is what it is called in receipts, if that is not what was
        typed; `merged` has it write its errors to its output. With `told=False`, for what only
        serves another call, it is named where a stop ends it, and nowhere else.
        """
        must_be_text(name, "what a process is called")
        must_be_one_of(on_stop, ("end", "leave", "keep"), "on_stop")
        what = command(
            *argv,
            shell=shell,
            name=name,
            cwd=cwd,
            env=env,
            stdin=stdin,
            pty=pty,
            merged=merged,
            limits=limits,
            output_limit=output_limit,
        )
        grace = self._desk.grace_of(grace)
        if not told:
            if on_stop != "end":
                raise ValueError("what nobody is told of ends with its run: on_stop must be 'end'")
            return await self._going.processes.serve(what, grace=grace)
        await self._going.all_said()  # what was said before it leaves before it
        return await self._going.processes.spawn(what, grace=grace, on_stop=on_stop)

    def adopt(self, warden: Warden, who: Served, page: Page) -> Adopted:
        """Have a process be this run's that was started before it, with its warden and all that it
        starts. A stop ends them; `page` is shut in the instant in which the run may not act."""
        return adopt(self._going, warden, who, page, self._desk.grace_of(None))

    def may_have(self, adopted: Adopted) -> bool:
        """Whether a process that another run has let go may be this one's."""
        return adopted.may_go_on(self._going)

    def job(self, process: Process, *, grace: float | None = None) -> Job:
        """Have it go on under an id, by which the session has it: its person can read, write to,
        signal and end it, and later runs can if it is kept. The model is told of its end with its
        next request; that starts no turn."""
        self.must_hold(f"naming of {process.command}")
        return self._going.processes.job(process, self._desk.grace_of(grace))

    @property
    def jobs(self) -> Jobs:
        """What goes on in the session under an id."""
        return self._going.processes.jobs

    async def processes_gone(self) -> None:
        """Return when none is left that it has started, nor its children; what is kept may be."""
        await self._going.processes_gone()

    async def shell(
        self,
        line: str,
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float | None = None,
        grace: float | None = None,
        limits: ProcessLimits | None = None,
    ) -> Completed:
        """Run a command line to its end; its exit code and what it wrote, both streams in one.

        After `timeout` seconds it is ended, with all that it started, and what it wrote until
        then is given.
        """
        if timeout is not None:
            must_be_seconds(timeout, "timeout")
        grace = self._desk.grace_of(grace)
        what = command(shell=line, cwd=cwd, env=env, stdin=stdin, merged=True, limits=limits)
        await self._going.all_said()
        process = await self._going.processes.spawn(what, grace=grace)
        return await process.completed(timeout=timeout, grace=grace)
