"""Command lines, as processes of the run: whatever they start ends no later than it does.

What comes back is for a model: the first and the last of what was written, how much lies between,
and how it ended. While it runs, the person is shown what is new, twice a second at most.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping

from lastword.agent.tools.environment import for_commands
from lastword.processes import Process
from lastword.processes.output import Output
from lastword.processes.process import Completed
from lastword.runtime.run import Run
from lastword.runtime.threads import DaemonThreads

_LONGEST = 3600.0  # seconds
_NEWS = 1000  # bytes of what is new that the person is shown at once
_PACE = 0.5
_threads = DaemonThreads()
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])|[\x00-\x08\x0e-\x1a]"
)


class Shell:
    """Runs command lines for an agent, in one directory.

    Without an `env` of their own they have ours, but not the keys with which models are asked, and
    git runs nothing in them that a repository names.
    """

    def __init__(
        self,
        cwd: str | os.PathLike[str] | None = None,
        *,
        env: Mapping[str, str] | None = None,
        grace: float = 0.25,
        output_limit: int = 30_000,
    ) -> None:
        self._cwd = cwd
        self._env = env
        self._grace = grace
        self._output_limit = output_limit

    async def run(
        self,
        run: Run,
        command: str,
        timeout: float = 120.0,
        pty: bool = False,
        background: bool = False,
    ) -> str:
        """Run a command line to its end and give what it wrote; after `timeout` it is ended.

        With `pty` it has a terminal. With `background` it is only started, and lives on after the
        run, also after a stop, until the person ends it or the runtime is closed.
        """
        if not 0 < timeout <= _LONGEST:
            raise ValueError(
                f"timeout must be more than 0 and at most {_LONGEST:.0f} seconds; it is {timeout}. "
                "What is to run longer can be started with background=true"
            )
        env = self._env
        if env is None:  # files are read for it, so not on the loop
            loop = asyncio.get_running_loop()
            env = await loop.run_in_executor(_threads, for_commands, os.environ, self._cwd)
        process = await run.spawn(
            shell=command,
            cwd=self._cwd,
            env=env,
            pty=pty,
            on_stop="keep" if background else "end",
            grace=self._grace,
            output_limit=self._output_limit,
        )
        if background:
            return (
                f"[started in the background as process {process.pid}; the person can see it, "
                "with what it writes, among the session's processes, and end it there. To read "
                "what it writes yourself, have it write to a file]"
            )
        live = run.task(_show(run, process), name="live output")
        try:
            done = await process.completed(timeout=timeout, grace=self._grace)
        finally:
            live.cancel()
        return _for_a_model(done, timeout)


async def _show(run: Run, process: Process) -> None:
    """Tell the person what is new. Nobody waits for it: what comes too fast is cut."""
    streams = [stream for stream in (process.stdout, process.stderr) if stream]
    seen = [0 for _ in streams]
    while process.code is None and run.current:
        await asyncio.sleep(_PACE)
        for number, stream in enumerate(streams):
            total = stream.total
            if total > seen[number]:
                await run.progress(_news(stream, total - seen[number]))
                seen[number] = total


def _news(stream: Output, count: int) -> str:
    kept = stream.head + stream.tail
    text = plain(kept[-min(count, _NEWS) :].decode(errors="replace"))
    return f"… {text}" if count > _NEWS else text


def plain(text: str) -> str:
    """What a terminal would be left with: no colours, and of a line that was redrawn the last."""
    lines = _ESCAPES.sub("", text).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


def _for_a_model(done: Completed, timeout: float) -> str:
    output, errors = plain(done.output).strip("\n"), plain(done.errors).strip("\n")
    parts = [output] if output else []
    if errors:
        parts += ["[on its error stream]", errors]
    if not parts:
        parts = ["[it wrote nothing]"]
    if done.timed_out:
        parts.append(f"[ended, with all that it started: it took longer than {timeout:g} seconds]")
    else:
        parts.append(str(Completed(done.code, "")))
    return "\n".join(parts)
