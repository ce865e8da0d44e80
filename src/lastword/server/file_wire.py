"""Files on the wire: what an answer has changed there, and what is taken back of it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct


class DiffLine(Struct):
    """A line that goes, comes, stays, or tells what is left out."""

    mark: Literal[" ", "-", "+", "@"]
    text: str


class ChangedFileOut(Struct):
    """A file that an answer has changed; without `lines` if it is no text, or too long. `doubt` is
    why nobody can tell whether the answer did it."""

    path: str
    became: str
    doubt: str
    come: int
    gone: int
    lines: list[DiffLine]
    left_out: int


class FilesOut(Struct):
    """What an answer has changed in files; `notes` say what is not known of it."""

    run: str
    taken_back: bool
    files: list[ChangedFileOut]
    notes: list[str]


class UndoIn(Struct, forbid_unknown_fields=True):
    """What to take back: of this run, or the last that has changed something; all of it, or these
    paths. With `anyway`, also what somebody else has changed there since."""

    run: str | None = None
    paths: Annotated[list[str], Meta(max_length=1000)] = []
    anyway: bool = False


class LeftFile(Struct):
    """A file that was left as it is."""

    path: str
    why: str


class UndoneOut(Struct):
    """What is as it was, and what is not."""

    done: list[str]
    left: list[LeftFile]
    words: str
