"""Commands of the framework's shell tools, as processes of the run: `ShellTool(executor=shell)`.

They end with the run, with all that they started, and receipts name them. An executor of a team's
own starts what it starts: it is called through the gate, and its processes are not seen.
"""

from __future__ import annotations

import asyncio
import shlex
from typing import Literal, overload

from agents import LocalShellCommandRequest, ShellCommandRequest, ShellResult
from agents.tool import ShellCallOutcome, ShellCommandOutput

from lastword.processes.process import Completed
from lastword.runtime.framework import run_inside
from lastword.runtime.run import Run

_NO_RUN = "there is no run of lastword's here, whose process this command could be"


@overload
async def shell(request: ShellCommandRequest) -> ShellResult: ...
@overload
async def shell(request: LocalShellCommandRequest) -> str: ...
async def shell(request: ShellCommandRequest | LocalShellCommandRequest) -> ShellResult | str:
    """Run the commands that a model gave to a `ShellTool` or a `LocalShellTool`."""
    run = run_inside()
    if not isinstance(run, Run):
        raise RuntimeError(_NO_RUN)  # noqa: TRY004 - nothing is of a wrong type
    work = _all_of(run, request) if isinstance(request, ShellCommandRequest) else _one(run, request)
    if asyncio.get_running_loop() is run.loop:
        return await work
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, run.loop))


async def _all_of(run: Run, request: ShellCommandRequest) -> ShellResult:
    action = request.data.action
    outputs: list[ShellCommandOutput] = []
    for line in action.commands:
        done = await run.shell(line, timeout=_seconds(action.timeout_ms))
        outputs.append(_output(line, done))
        if done.timed_out:
            break
    return ShellResult(outputs, max_output_length=action.max_output_length)


async def _one(run: Run, request: LocalShellCommandRequest) -> str:
    action = request.data.action
    line, within = shlex.join(action.command), _seconds(action.timeout_ms)
    env = action.env or None
    return str(await run.shell(line, cwd=action.working_directory, env=env, timeout=within))


def _output(line: str, done: Completed) -> ShellCommandOutput:
    kind: Literal["exit", "timeout"] = "timeout" if done.timed_out else "exit"
    outcome = ShellCallOutcome(type=kind, exit_code=None if done.timed_out else done.code)
    return ShellCommandOutput(done.output, outcome=outcome, command=line)


def _seconds(milliseconds: int | None) -> float | None:
    return milliseconds / 1000 if milliseconds else None
