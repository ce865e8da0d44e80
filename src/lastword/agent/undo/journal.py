"""What was changed, written down before it is: one file of lines for each answer, and each undo.

A line is whole or it does not count, also where a disk was full in its middle. What a process
that was killed had begun is told from the last lines: a step without an end was made or not, and
the disk shows which; of a command without an end there is a picture of the tree from before it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any, cast

from lastword.agent.tools.private import Private
from lastword.agent.undo.copies import Copies
from lastword.core.plain import from_plain, to_plain
from lastword.core.undo import FileState, Step, There

DAYS, MOST_BYTES = 7, 1 << 30  # how long it is kept, and how much


@dataclass
class UndoRecord:
    """A journal, as it reads."""

    path: Path
    session: str = ""
    run: str = ""
    epoch: str = ""  # of the session, in the process that wrote it
    at: float = 0.0  # when it began
    roots: tuple[str, ...] = ()
    private: Private = field(default_factory=Private)
    undoes: str = ""  # the journal that this one took back
    part: bool = False  # only at some paths
    over: bool = False  # it came to its end, and nobody was killed in the middle
    steps: list[Step] = field(default_factory=list[Step])
    told: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])
    """Of the steps that were told by who made them, and not only seen: when, and which."""
    open: list[str] = field(default_factory=list[str])  # commands whose end was not written down
    tree: str = ""  # the picture from before those
    since: int = 0  # how many steps there were then
    looks: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    cut: list[str] = field(default_factory=list[str])  # commands that were stopped
    alive: list[str] = field(default_factory=list[str])  # commands that went on
    uncovered: str = ""  # why commands are not covered

    @property
    def id(self) -> str:
        return self.path.stem


class UndoJournal:
    """One that is being written."""

    def __init__(self, home: Path, session: str, **head: object) -> None:
        folder = home / "journals"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path = folder / f"{time.time_ns()}-{token_hex(4)}.jsonl"
        fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        self._file = os.fdopen(fd, "wb", buffering=0)
        self._before = ""
        self.write("head", session=session, **head)

    @property
    def id(self) -> str:
        return self.path.stem

    def write(self, what: str, **told: object) -> None:
        """One line; it survives this process when this returns."""
        line = json.dumps({"what": what, "at": time.time_ns() / 1e9, **told})
        data = memoryview(f"{self._before}{line}\n".encode())
        self._before = "\n"  # the last line is not whole, if this is not
        while data:
            data = data[self._file.write(data) or 0 :]
        self._before = ""

    def step(self, step: Step) -> None:
        """It is about to be made."""
        self.write("step", step=to_plain(step))

    def done(self, path: str, after: There) -> None:
        """What came of the one that was about to be made last at that path."""
        self.write("done", path=path, after=to_plain(after))

    def look(self, steps: Iterable[Step], **told: object) -> None:
        """These were seen, and how it stands now."""
        self.write("look", steps=[to_plain(one) for one in steps], **told)

    def close(self) -> None:
        """Nothing more is written."""
        self._file.close()


def picture(tree: dict[str, FileState], copies: Copies) -> str:
    """A look at a tree, kept like a file: two that are alike are kept once."""
    told = {path: [one.kind, one.mode, one.mark, one.kept] for path, one in sorted(tree.items())}
    return copies.keep(json.dumps(told).encode())


def pictured(mark: str, copies: Copies) -> dict[str, FileState]:
    """It again."""
    told = cast("dict[str, list[Any]]", json.loads(copies.of(mark)))
    return {path: FileState(*one) for path, one in told.items()}


def records(home: Path, *, since: float = 0.0) -> list[UndoRecord]:
    """All journals that were written to since then, in the order in which they began."""
    found = list[UndoRecord]()
    for path in sorted((home / "journals").glob("*.jsonl")):
        with suppress(OSError, ValueError, KeyError, TypeError):
            if path.stat().st_mtime >= since - 1:
                found.append(read(path))
    return found


def read(path: Path) -> UndoRecord:
    """One journal. A last line that is not whole was not written."""
    record = UndoRecord(path)
    *lines, _ = path.read_bytes().split(b"\n")
    for told in filter(None, map(_told, lines)):
        record.over = False
        _KINDS[told["what"]](record, told)
    return record


def _told(line: bytes) -> dict[str, Any] | None:
    """A line; None of one that a full disk has cut, and whose step was not made."""
    try:
        return cast("dict[str, Any]", json.loads(line))
    except ValueError:
        return None


def _head(record: UndoRecord, told: dict[str, Any]) -> None:
    record.session, record.run, record.at = told["session"], told["run"], told["at"]
    record.epoch = told["epoch"]
    record.roots = tuple(told["roots"])
    record.undoes, record.part = told["undoes"], told["part"]
    files, folders = told["private"]
    record.private = Private(tuple(files), tuple(folders))


def _step(record: UndoRecord, told: dict[str, Any]) -> None:
    record.told.append((told["at"], len(record.steps)))
    record.steps.append(from_plain(Step, told["step"]))


def _done(record: UndoRecord, told: dict[str, Any]) -> None:
    at = range(len(record.steps) - 1, -1, -1)
    number = next(n for n in at if record.steps[n].path == told["path"])
    step, after = record.steps[number], told["after"]
    state = from_plain(FileState, after) if after else None
    record.steps[number] = Step(step.path, step.before, state)


def _open(record: UndoRecord, told: dict[str, Any]) -> None:
    record.open.append(told["command"])
    if told["tree"]:
        record.tree, record.since = told["tree"], len(record.steps)


def _look(record: UndoRecord, told: dict[str, Any]) -> None:
    record.looks.append((told["since"], told["at"]))
    record.steps += [from_plain(Step, one) for one in told["steps"]]
    record.open, record.tree, record.since = told["open"], told["tree"], len(record.steps)
    record.cut += told["cut"]
    record.alive = told["alive"]


def _uncovered(record: UndoRecord, told: dict[str, Any]) -> None:
    record.uncovered, record.open, record.tree = told["why"], [], ""


def _over(record: UndoRecord, _: dict[str, Any]) -> None:
    record.over = True


_KINDS = {
    "head": _head,
    "step": _step,
    "done": _done,
    "open": _open,
    "look": _look,
    "uncovered": _uncovered,
    "over": _over,
}


def wanted(every: Iterable[UndoRecord], copies: Copies) -> set[str]:
    """The copies that these speak of."""
    marks = set[str]()
    for record in every:
        for step in record.steps:
            marks.update(one.mark for one in (step.before, step.after) if one)
        if record.tree:
            marks.add(record.tree)
            with suppress(ValueError):
                marks.update(one.mark for one in pictured(record.tree, copies).values())
    return marks


def prune(home: Path, copies: Copies, now: float) -> None:
    """Forget what is older than it is kept, and the oldest of what is too much."""
    for path in (home / "journals").glob("*.jsonl"):
        with suppress(OSError):
            if path.stat().st_mtime < now - DAYS * 86_400:
                path.unlink()
    hour = now - 3600
    copies.prune(wanted(records(home), copies), hour)
    every = sorted((home / "journals").glob("*.jsonl"))
    while every and copies.size() > MOST_BYTES:
        every.pop(0).unlink(missing_ok=True)
        copies.prune(wanted(records(home), copies), hour)
