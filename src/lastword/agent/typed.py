"""What a person says that no model is asked for: `!` and a command line, and /compact.

It is a message like any other, whatever surface it was typed at. So its answer is a run, which is
stopped, taken over and recorded as any other is; its command is a call of the tool `shell`, which
the rules allow, or a person; and the model is shown of it what the person saw.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from lastword.agent.tools.shell import Shell
from lastword.agent.tools.shell_tools import Around
from lastword.core.model import Message
from lastword.core.rows import count, short
from lastword.errors import LastwordError
from lastword.runtime.run import Engine, Run

_COMMAND = re.compile(r"!\s*(\S.*)", re.DOTALL)
_COMPACT = re.compile(r"/compact\s*")
_FENCE = "`" * 5  # longer than one that a file has
_WELL, _NOTHING = "exit code 0", "It wrote nothing, and ended well."
_SAID = "what it wrote was said to the person, as it follows"
Compact: TypeAlias = Callable[[Run], Awaitable[str]]


def typed(engine: Engine, shell: Shell, around: Around, compact: Compact) -> Engine:
    """An engine that does what a person typed, and answers all else as it did."""

    async def answer(run: Run) -> None:
        said = _said(run.messages)
        if command := _COMMAND.fullmatch(said):
            await _run(run, command[1].strip(), shell, around)
        elif _COMPACT.fullmatch(said):
            await _shorten(run, compact)
        else:
            await engine(run)

    return answer


def _said(messages: tuple[Message, ...]) -> str:
    """By a person, and alone: what comes together with other words is for the model to read."""
    first, *others = messages
    alone = not others and first.origin == "person" and not first.attachments
    return first.text if alone else ""


async def _run(run: Run, line: str, shell: Shell, around: Around) -> None:
    opened, ending = "", ""

    async def say(text: str) -> None:
        nonlocal opened
        await run.emit(text if opened else f"{_FENCE}\n{text}")
        opened = f"{_FENCE}\n"

    async def aloud() -> str:
        nonlocal ending
        async with around(run, line):
            ending = await shell.aloud(run, line, say)
        return f"[{ending}; {_SAID}]"

    try:
        await run.gate(aloud, name="shell", arguments={"command": line})()
    except (PermissionError, OSError, ValueError, LastwordError) as error:
        ending = f"It was not run: {error}" if not opened else str(error)
    if opened or ending != _WELL:
        await run.emit(f"{opened}{'' if ending == _WELL else ending}")
    else:
        await run.emit(_NOTHING)


async def _shorten(run: Run, compact: Compact) -> None:
    before = len({item.run for item in run.history if item.run not in (None, run.id)})
    if not before:
        await run.emit("There is nothing to summarise yet.")
        return
    try:
        summary = await compact(run)
    except Exception as error:  # noqa: BLE001 - whatever a model's client raises
        why = short(str(error)) or type(error).__name__
        await run.emit(f"It could not be summarised, so nothing is different: {why}")
        return
    if not summary:
        await run.emit("The model gave no summary, so nothing is different.")
        return
    words = count(len(summary.split()), "word")
    await run.emit(
        f"{count(before, 'turn')} before this one became a summary of {words}. It is what the "
        "model is shown from here on; the log keeps all of it."
    )
