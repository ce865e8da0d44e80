"""What was changed, for people: how many files and lines, and each as a diff."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from lastword.agent.tools.edits import MOST_COMPARED
from lastword.agent.undo.copies import Copies
from lastword.core.changes import Change, change
from lastword.core.undo import FileChange, FilesReport, There

_MOST = 200  # files that are compared line by line


def report(
    changes: Sequence[FileChange],
    copies: Copies,
    roots: Sequence[str],
    notes: Iterable[str] = (),
) -> FilesReport | None:
    """All of it, in short; None if there is nothing to say."""
    files = [one for one in changes if _is_file(one)]
    compared = [compare(one, copies) for one in files[:_MOST]]
    said = list(notes)
    if doubtful := [one for one in files if one.doubt]:
        said.append(f"of {len(doubtful)} of these nobody can tell whether it was done here")
    if not files and not said:
        return None
    return FilesReport(
        tuple(shown(one.path, roots) for one in files),
        sum(one.come for one in compared if one),
        sum(one.gone for one in compared if one),
        tuple(said),
    )


def compare(one: FileChange, copies: Copies) -> Change | None:
    """Line by line; None if it is no text, or is too long for that."""
    before, after = _text(one.before, copies), _text(one.after, copies)
    if before is None or after is None:
        return None
    return change(before if one.before else None, after)


def became(one: FileChange) -> str:
    """In a word or two, what happened to it."""
    if one.before is None:
        return "new"
    if one.after is None:
        return "deleted"
    if one.before.kind != one.after.kind:
        return f"a {one.after.kind}, was a {one.before.kind}"
    if one.before.mark == one.after.mark:
        return f"mode {one.after.mode:o}, was {one.before.mode:o}"
    return "changed"


def shown(path: str, roots: Sequence[str]) -> str:
    """As a person would write it: from the first root, or in full."""
    first = f"{roots[0].rstrip('/')}/" if roots else "/"
    return path.removeprefix(first)


def _is_file(one: FileChange) -> bool:
    """A folder that came or went with what is in it is told by that."""
    kinds = {state.kind for state in (one.before, one.after) if state}
    return kinds != {"folder"} or None not in (one.before, one.after)


def _text(state: There, copies: Copies) -> str | None:
    if state is None:
        return ""
    if state.kind != "file" or not state.kept:
        return None
    with suppress(ValueError):
        data = copies.of(state.mark)
        if len(data) <= MOST_COMPARED and b"\0" not in data:
            return data.decode()
    return None
