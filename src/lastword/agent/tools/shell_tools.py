"""The shell as a model has it: five tools, and what it is told of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias

from pydantic_ai import RunContext
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.toolsets import FunctionToolset

from lastword.agent.tools.shell import WAIT, Shell
from lastword.errors import ProcessError
from lastword.runtime.run import Run

_READS = {"nature": "read_only"}
_SHELL = """\
Run a command line with {shell}, and get what it wrote, both streams in one, and its exit code.

Directory: it begins in {first}, or in `workdir` (a path from there; not outside of {roots}). {cd}
Environment: the person's, without keys of models. Nobody is at the keyboard: the input is empty, \
there is no terminal, pagers are cat, editors leave what they are given as it is, and git, ssh, \
sudo, apt, npm and pip do not ask. So give what would be asked for: `git commit -m`, `-y`, a file.
Time: `wait` is in seconds, {wait:g} if you do not say, at most {limit:g}. What takes longer is \
not lost: it goes on under an id, for shell_read, shell_write, shell_signal and shell_end, and you \
are told when it has ended. It ends with your answer, at a stop, or after {limit:g} seconds. A \
server or a watcher that is to outlive your answer needs `background`, which the person has to \
allow; it is waited for only a second.
Output: at most {output:,} bytes, the first and the last; redirect what is longer to a file.
Input: with `stdin` it stays open for shell_write, until you end it; with `pty` it has a terminal, \
as REPLs and password prompts want one. Without either, what reads gets the end of its input."""
_FORGOTTEN = "A `cd` holds for that command line only."
_LASTING = "A `cd` lasts: the next command begins where the last one has ended."


Around: TypeAlias = Callable[[Run, str], AbstractAsyncContextManager[None]]


def shell_tools(shell: Shell, around: Around) -> FunctionToolset[Run]:
    """All five. A command runs within what there is to be `around` it."""
    tools = FunctionToolset[Run]()

    @tools.tool(name="shell", description=description(shell))
    async def run_shell(
        ctx: RunContext[Run],
        command: str,
        wait: float | None = None,
        workdir: str = "",
        pty: bool = False,
        stdin: bool = False,
        background: bool = False,
    ) -> str:
        async with around(ctx.deps, command):
            told = shell.run(ctx.deps, command, wait, workdir, pty, stdin, background)
            return await _told(told)

    @tools.tool(metadata=_READS)
    async def shell_read(ctx: RunContext[Run], id: str, offset: int = 0, wait: float = 0) -> str:
        """Read what a command that goes on wrote, from an offset in bytes; if there is nothing
        yet, wait for it so many seconds. You also get how much there is, and whether it has ended.
        """
        return await _told(shell.read(ctx.deps, id, offset, wait))

    @tools.tool
    async def shell_write(ctx: RunContext[Run], id: str, text: str, end: bool = False) -> str:
        """Write to the input, or the terminal, of a command that was started with `stdin` or `pty`
        and goes on. A line needs its "\\n"; \\u0003 at a terminal is Ctrl-C. With `end`, the input
        ends there.
        """
        return await _told(shell.write(ctx.deps, id, text, end))

    @tools.tool
    async def shell_signal(ctx: RunContext[Run], id: str, signal: str) -> str:
        """Send a signal, as INT or HUP, to a command that goes on, and to what it started in its
        group: INT is what Ctrl-C does at a terminal."""
        return await _told(shell.signal(ctx.deps, id, signal))

    @tools.tool
    async def shell_end(ctx: RunContext[Run], id: str) -> str:
        """End a command that goes on, with all that it started: asked first, then killed."""
        return await _told(shell.end(ctx.deps, id))

    return tools


def description(shell: Shell) -> str:
    """What a model has to know before it runs anything."""
    places = shell.directories
    return _SHELL.format(
        shell=shell.name,
        first=places.first,
        roots=places.roots,
        cd=_LASTING if places.lasts else _FORGOTTEN,
        wait=WAIT,
        limit=shell.limit,
        output=shell.output_limit,
    )


async def _told(work: Awaitable[str]) -> str:
    """What came of it; what was wrong with the asking is for the model to read."""
    try:
        return await work
    except (OSError, ValueError, ProcessError) as error:
        raise ToolFailed(str(error)) from error
