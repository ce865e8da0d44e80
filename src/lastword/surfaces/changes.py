"""What answers changed in files, as a person reads it, and takes it back: the same words wherever
it is asked for."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from lastword.agent.undo.taking_back import TakenBack
from lastword.agent.undo.undo import Changed, ChangedFile, changed, redo, undo
from lastword.core.rows import count
from lastword.core.undo import in_lines
from lastword.runtime.session import Session
from lastword.surfaces.marking import in_line, marked

UNDO = "[PATH …] · anyway PATH …"
_MOST = 400  # lines of a diff
_ANYWAY = "anyway"
_SIGNS = {" ": "  ", "-": "- ", "+": "+ ", "@": "@ "}


async def diff(session: Session, words: str) -> str:
    """What the last answer that changed something has changed, or only at some paths."""
    told, paths = await changed(session), set(shlex.split(words))
    lines = [f"{heading(told)}{' (taken back)' if told.taken_back else ''}"]
    for one in told.files:
        if not paths or one.path in paths:
            lines += _file(one)
    if len(lines) > _MOST:
        lines = [*lines[:_MOST], f"{len(lines) - _MOST:,} more lines; /diff PATH shows one file"]
    return marked("\n".join([*lines, *told.notes]))


def heading(told: Changed) -> str:
    """How much it was."""
    lines = [one.change for one in told.files if one.change]
    come, gone = sum(one.come for one in lines), sum(one.gone for one in lines)
    return f"Changed: {count(len(told.files), 'path')}, {in_lines(come, gone)}"


def _file(one: ChangedFile) -> Iterator[str]:
    yield f"{in_line(one.path)}: {one.became}{f' ({one.doubt})' if one.doubt else ''}"
    if one.change:
        for mark, text in one.change.lines:
            yield f"  {_SIGNS[mark]}{text}"


async def take_back(session: Session, words: str) -> str:
    """Take it back: all of it, or these paths; `anyway` also what somebody else changed since."""
    paths = shlex.split(words)
    anyway = paths[:1] == [_ANYWAY]
    if anyway and not paths[1:]:
        raise ValueError("say which paths: /undo anyway PATH. Nothing was taken back")
    done = await undo(session, paths=paths[1:] if anyway else paths, anyway=anyway)
    return outcome(done, "Taken back", "/undo anyway PATH takes it back all the same.")


async def bring_back(session: Session, _: str) -> str:
    """Undo the undo."""
    return outcome(await redo(session), "Brought back", "")


def outcome(done: TakenBack, did: str, hint: str) -> str:
    """What was done, and what was not, and why."""
    lines = [f"{did}: {', '.join(map(in_line, done.done))}."] if done.done else []
    lines += [f"Left as it is: {in_line(path)}: {why}." for path, why in done.left]
    if done.left and hint:
        lines.append(hint)
    lines += done.notes if done.done or done.left else ()
    return "\n".join(lines) or "All of it is as it was before already."
