"""What was changed in files, and what of it can be taken back: the rules, without a disk.

A path is in a state: what is there, its mode, and a mark of what it holds. A step takes a path from
one state to the next, and is written down before it is made. Steps of one answer are one change for
each path, as long as each begins where the one before has ended; where one does not, somebody else
was there. What is there is replaced only if it is what the steps have left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Literal, TypeAlias

from lastword.core.rows import count, some
from lastword.core.value import value

FileKind: TypeAlias = Literal["file", "link", "folder"]
_NAMED = 5
_BETWEEN = "somebody else changed it between two changes of the answer"
_SINCE = "somebody else has changed it since"
_TOO_LARGE = "no copy can be kept of what is there, so this could not be undone in its turn"
_NO_COPY = "there is no copy of what was there: it was too large, or could not be read"


@value
class FileState:
    """What is at a path. Nothing is None."""

    kind: FileKind
    mode: int  # of a link 0
    mark: str = ""  # a file's content, by its SHA-256; where a link leads
    kept: bool = field(default=True, compare=False)  # there is a copy of what it holds


There: TypeAlias = FileState | None


@value
class Step:
    """One path, from one state to the next."""

    path: str
    before: There
    after: There
    sure: bool = True  # if not, it was about to be made: it was, or it was not
    doubt: str = ""  # why nobody can tell whose it is


@value
class FileChange:
    """All steps at one path, as one."""

    path: str
    before: There
    after: There
    maybe: tuple[There, ...]  # the states in which they may have left it
    doubt: str = ""


@value
class Judgement:
    """What is to become of one change, and why not what was asked for."""

    change: FileChange
    now: There
    act: Literal["restore", "none", "refuse"]
    why: str = ""


@value
class Order:
    """One thing to do at a path, on the way back."""

    path: str
    act: Literal["remove", "make", "mode"]
    to: There
    now: There


@value
class FilesReport:
    """What a run changed in files, for its receipt."""

    names: tuple[str, ...]
    come: int = 0  # lines
    gone: int = 0
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        files = count(len(self.names), "file") if self.names else "no file that is known of"
        lines = f", {in_lines(self.come, self.gone)}" if self.come or self.gone else ""
        named = f": {some(self.names, _NAMED)}" if self.names else ""
        return "; ".join([f"{files}{lines}{named}", *self.notes])


def in_lines(come: int, gone: int) -> str:
    """How many lines came and went."""
    return f"+{come:,} \N{MINUS SIGN}{gone:,}"


def together(steps: Iterable[Step]) -> tuple[FileChange, ...]:
    """The steps at each path as one, in the order of the first; those that come to nothing are
    left out."""
    by_path: dict[str, list[Step]] = {}
    for step in steps:
        by_path.setdefault(step.path, []).append(step)
    every = (_as_one(path, found) for path, found in by_path.items())
    return tuple(one for one in every if one.doubt or set(one.maybe) != {one.before})


def _as_one(path: str, steps: Sequence[Step]) -> FileChange:
    before, doubt = steps[0].before, ""
    ends: tuple[There, ...] = (before,)
    for step in steps:
        doubt = doubt or step.doubt or ("" if step.before in ends else _BETWEEN)
        ends = (step.after,) if step.sure else (step.after, *ends)
    return FileChange(path, before, ends[0], ends, doubt)


def judged(
    changes: Iterable[FileChange], now: Mapping[str, There], *, anyway: bool = False
) -> tuple[Judgement, ...]:
    """What is to be done about each, as the paths are now. `anyway` is for a person who was shown
    what somebody else did there, and wants it replaced all the same."""
    return tuple(_judged(change, now.get(change.path), anyway=anyway) for change in changes)


def _judged(change: FileChange, now: There, *, anyway: bool) -> Judgement:
    if now == change.before:
        return Judgement(change, now, "none")
    if change.before and change.before.kind == "file" and not change.before.kept:
        return Judgement(change, now, "refuse", _NO_COPY)
    if change.doubt and not anyway:
        return Judgement(change, now, "refuse", change.doubt)
    if now not in change.maybe and not anyway:
        return Judgement(change, now, "refuse", _SINCE)
    if now and now.kind == "file" and not now.kept and not anyway:
        return Judgement(change, now, "refuse", _TOO_LARGE)
    return Judgement(change, now, "restore")


def in_order(judgements: Iterable[Judgement]) -> tuple[Order, ...]:
    """What is done, one by one: what is in the way goes first, the deepest before what holds it;
    then folders come before what is in them; and folders get their modes last, when nothing more
    has to be written there."""
    ways = [(one.change.path, one.change.before, one.now) for one in judgements if _is_due(one)]
    goes = [way for way in ways if way[2] and (way[1] is None or way[1].kind != way[2].kind)]
    comes = [way for way in ways if way[1]]
    folders = [way for way in comes if way[1] and way[1].kind == "folder"]
    return (
        *(Order(path, "remove", None, now) for path, _, now in sorted(goes, key=_depth)[::-1]),
        *(
            Order(path, "make", to, None if (path, to, now) in goes else now)
            for path, to, now in sorted(comes, key=_depth)
        ),
        *(Order(path, "mode", to, to) for path, to, _ in sorted(folders, key=_depth)[::-1]),
    )


def _is_due(one: Judgement) -> bool:
    return one.act == "restore"


def _depth(way: tuple[str, There, There]) -> tuple[int, str]:
    return way[0].count("/"), way[0]


def differences(before: Mapping[str, FileState], now: Mapping[str, FileState]) -> tuple[Step, ...]:
    """The steps from one look at a tree to the next."""
    paths = sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
    return tuple(Step(path, before.get(path), now.get(path)) for path in paths)


def less_others(
    mine: Iterable[Step], others: Iterable[Step], why: str, *, beside: str = ""
) -> tuple[Step, ...]:
    """What was seen of a tree, without what others have written down that they did there meanwhile.
    Where that does not account for all of it, nobody can tell whose it is (`why`); nor can anybody
    where others worked `beside` it whose doings are only seen as well."""
    known = {change.path: change for change in together(others)}
    left = list[Step]()
    for step in mine:
        if (other := known.get(step.path)) is None:
            left.append(Step(step.path, step.before, step.after, doubt=beside))
        elif step.before != other.before or step.after not in other.maybe:
            left.append(Step(step.path, step.before, step.after, doubt=why))
    return tuple(left)
