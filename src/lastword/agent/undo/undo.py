"""Undo, as a person asks for it: what a session's answers changed, taken back and brought back.

An answer is known by the session's log, and its journal by its run and by when that began, so that
one of an earlier session of the name is not taken for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from lastword.agent.tools.aside import aside
from lastword.agent.undo.copies import Copies, undo_home
from lastword.agent.undo.journal import UndoRecord, pictured, records
from lastword.agent.undo.taking_back import TakenBack, UndoBusy, alone, take_back
from lastword.agent.undo.telling import became, compare, shown
from lastword.agent.undo.tree import TooMuch, Tree
from lastword.core.changes import Change
from lastword.core.entries import Began
from lastword.core.rows import short
from lastword.core.undo import FileChange, Step, differences, together
from lastword.errors import LastwordError
from lastword.runtime.session import Session

T = TypeVar("T")
_GOING = "an answer is being made here, and may change more; stop it first. Nothing was taken back"
_CUT_OFF = "the process ended while “{}” ran, so nobody can tell whether that did it"


class NothingToUndo(LastwordError):
    """There is nothing to take back, or not now; the words say why."""


@dataclass(frozen=True)
class ChangedFile:
    """One file that an answer has changed."""

    path: str
    became: str
    change: Change | None  # None if it is no text, or is too long
    doubt: str


@dataclass(frozen=True)
class Changed:
    """What one answer has changed in files."""

    run: str
    files: tuple[ChangedFile, ...]
    notes: tuple[str, ...]
    taken_back: bool


async def changed(session: Session, run: str | None = None) -> Changed:
    """By an answer: the last that has changed something, or the one that is named."""
    return await _aside(session, lambda desk: desk.changed(run))


async def undo(
    session: Session,
    run: str | None = None,
    paths: Collection[str] = (),
    *,
    anyway: bool = False,
) -> TakenBack:
    """Take back what an answer has changed: all of it, or at these paths. What somebody else has
    changed since is left, unless it is to go `anyway`."""
    return await _acting(session, lambda desk: desk.undo(run, paths, anyway=anyway))


async def redo(session: Session) -> TakenBack:
    """Bring back what the last undo has taken back."""
    return await _acting(session, lambda desk: desk.redo())


async def _acting(session: Session, act: Callable[[_Desk], TakenBack]) -> TakenBack:
    await session.loaded()
    if session.busy or session.ending:
        raise NothingToUndo(_GOING)

    def locked(desk: _Desk) -> TakenBack:
        with alone(desk.home):
            return act(desk)

    try:
        return await _aside(session, locked)
    except UndoBusy as error:
        raise NothingToUndo("somebody else takes something back right now; ask again") from error


async def _aside(session: Session, work: Callable[[_Desk], T]) -> T:
    began = {str(one.run): one.at for one in await session.log() if isinstance(one, Began)}
    name, epoch = session.id, session.feed.epoch
    return await aside(lambda: work(_Desk(undo_home(), name, epoch, began)))


def _since(began: Mapping[str, float], run: str) -> float:
    """A log that ends with its process has no times: what it knows is known by its epoch."""
    return began.get(run) or float("inf")


class _Desk:
    """The journals of a session."""

    def __init__(self, home: Path, session: str, epoch: str, began: Mapping[str, float]) -> None:
        self.home = home
        self._copies = Copies(home)
        self._every = [
            one
            for one in records(home)
            if one.session == session and (one.epoch == epoch or one.at >= _since(began, one.run))
        ]

    def changed(self, run: str | None) -> Changed:
        record = self._answer(run, even_taken_back=True)
        changes = self._changes(record)
        files = tuple(
            ChangedFile(
                shown(one.path, record.roots), became(one), compare(one, self._copies), one.doubt
            )
            for one in changes
        )
        return Changed(record.run, files, self._notes(record), self._is_taken_back(record))

    def undo(self, run: str | None, paths: Collection[str], *, anyway: bool) -> TakenBack:
        record = self._answer(run, even_taken_back=bool(paths))
        notes = () if run else self._unknown_since(record)
        return replace(self._back(record, paths, anyway=anyway), notes=notes)

    def _unknown_since(self, record: UndoRecord) -> tuple[str, ...]:
        """Who takes back what is known may have meant what is not."""
        later = [one for one in self._every if one.at > record.at and not one.undoes]
        unknown = [one.uncovered for one in later if one.uncovered and not self._changes(one)]
        return tuple(f"What commands did after that is not known: {why}." for why in unknown[-1:])

    def redo(self) -> TakenBack:
        ids = {one.id for one in self._every if not one.undoes}
        undone = [one for one in self._every if one.undoes in ids]
        last = next((one for one in undone[::-1] if not self._is_taken_back(one)), None)
        if last is None:
            raise NothingToUndo("Nothing was taken back here that could be brought back.")
        return self._back(last, (), anyway=False)

    def _cut_short(self, undo: UndoRecord) -> list[Step]:
        """What was taken back by those before it that were killed, and that it went on with."""
        before = [one for one in self._every if one.undoes == undo.undoes and one.at < undo.at]
        return [step for one in before if not one.over for step in one.steps]

    def _back(self, record: UndoRecord, paths: Collection[str], *, anyway: bool) -> TakenBack:
        every = changes = self._changes(record)
        if paths:
            named = {one.rstrip("/") for one in paths}
            known = {shown(one.path, record.roots) for one in changes} | {
                one.path for one in changes
            }
            if unknown := sorted(named - known):
                raise NothingToUndo(f"The answer did not change {', '.join(unknown)}.")
            changes = [c for c in changes if {c.path, shown(c.path, record.roots)} & named]
        part = len(changes) < len(every)
        return take_back(self.home, self._copies, record, changes, part=part, anyway=anyway)

    def _answer(self, run: str | None, *, even_taken_back: bool) -> UndoRecord:
        """The one that is named, or the last that has changed something and still stands."""
        for record in self._every[::-1]:
            if record.undoes or run not in (None, record.run) or not self._changes(record):
                continue
            if run or even_taken_back or not self._is_taken_back(record):
                return record
        answers = [one for one in self._every if not one.undoes]
        if answers and (why := answers[-1].uncovered) and not self._changes(answers[-1]):
            raise NothingToUndo(f"What commands did is not known: {why}. Nothing was taken back.")
        raise NothingToUndo(
            "There is nothing more to take back here."
            if answers
            else "No file is known to have been changed here."
        )

    def _is_taken_back(self, record: UndoRecord) -> bool:
        """Whole, by one that came to its end, and stands."""
        return any(
            one.undoes == record.id and one.over and not one.part and not self._is_taken_back(one)
            for one in self._every
        )

    def _changes(self, record: UndoRecord) -> list[FileChange]:
        before = self._cut_short(record) if record.undoes else []
        return list(together([*before, *record.steps, *self._cut_off(record)]))

    def _cut_off(self, record: UndoRecord) -> tuple[Step, ...]:
        """What a command may have done whose end nobody saw: what differs now from before it."""
        if not record.tree:
            return ()
        with suppress(TooMuch, OSError, ValueError):
            before = pictured(record.tree, self._copies)
            for step in record.steps[record.since :]:
                before.pop(step.path, None)
                if step.after:
                    before[step.path] = step.after
            now = Tree(record.roots, record.private, self._copies).look()
            why = _CUT_OFF.format(short(record.open[-1] if record.open else "a command"))
            found = differences(before, now)
            return tuple(Step(one.path, one.before, one.after, doubt=why) for one in found)
        return ()

    def _notes(self, record: UndoRecord) -> tuple[str, ...]:
        notes = [f"“{short(one)}” was stopped in the middle." for one in record.cut]
        notes += [f"“{short(one)}” went on, and may have changed more." for one in record.alive]
        if record.uncovered:
            notes.append(f"What commands did is not known: {record.uncovered}.")
        return (*notes, "What commands do outside of the folders is not covered.")
