"""What a run says is stored before it is shown.

So whatever a person was shown is in the log, to the word, however the process ends. What is stored
and then does not reach anybody, because the run lost its session or the delivery failed, is taken
back: in the fence's own commit if the run was stopped. Only after a crash may the log have a little
more than was seen: the piece that was about to be shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from lastword.core.entries import Entry, Text, Thinking, Unshown
from lastword.core.model import RunId
from lastword.core.undo import FilesReport
from lastword.errors import StoreError
from lastword.runtime.journal import EntryLog
from lastword.runtime.streaming import Streaming


@dataclass(eq=False, slots=True)
class Piece:
    """Some of what a run says, on its way out."""

    of: Literal["text", "thinking"]
    length: int
    end: int  # how much its run had said with it
    out: bool = False  # set in the same breath as the check that lets it out


class Speech:
    """What one run says and thinks. A store that ends with the process is not waited for."""

    __slots__ = ("_journal", "_run", "_said", "files", "pieces", "streams", "waits")

    def __init__(self, run: RunId, journal: EntryLog, *, waits: bool) -> None:
        self.waits = waits
        self.files: FilesReport | None = None  # what its run has changed there, once it has said so
        self.streams: Streaming | None = None  # once its run passes on what a model streams
        self._run = run
        self._journal = journal
        self._said: dict[Literal["text", "thinking"], int] = {"text": 0, "thinking": 0}
        self.pieces: dict[Piece, None] = {}  # stored, and not known to have arrived

    def note(self, entry: Text | Thinking) -> None:
        """Write it down."""
        self._said[_kind(entry)] += len(entry.text)
        self._journal.add(entry)  # in the same step as what comes before and after it

    async def stored(self, entry: Text | Thinking, wanted: Callable[[], bool]) -> Piece:
        """Write it down; it is stored when this returns, or not wanted any more.

        What cannot be stored is not shown: as with a call, whoever wanted to say it is told.
        """
        self.note(entry)
        of = _kind(entry)
        piece = Piece(of, len(entry.text), self._said[of])
        self.pieces[piece] = None
        if self.waits:
            try:
                await self._journal.committed()
            except (StoreError, asyncio.CancelledError) as error:
                self.take_back(piece)
                if wanted() or isinstance(error, asyncio.CancelledError):
                    raise
        return piece

    def arrived(self, piece: Piece) -> None:
        """Whoever it was for has it."""
        self.pieces.pop(piece, None)

    def take_back(self, piece: Piece) -> None:
        """Nobody has it, and nobody will."""
        if piece in self.pieces:
            del self.pieces[piece]
            self._journal.add(self._unshown(piece))

    def settle(self) -> list[Entry]:
        """The run has lost its session: what is not out never will be."""
        held = [piece for piece in self.pieces if not piece.out]
        for piece in held:
            del self.pieces[piece]
        return [self._unshown(piece) for piece in held]

    @property
    def unshown(self) -> list[Entry]:
        """What is stored, or about to be, and is not out at this moment."""
        return [self._unshown(piece) for piece in self.pieces if not piece.out]

    def _unshown(self, piece: Piece) -> Unshown:
        back = self._said[piece.of] - piece.end + piece.length
        return Unshown(self._run, back, piece.length, piece.of)


def _kind(said: Text | Thinking) -> Literal["text", "thinking"]:
    return "text" if type(said) is Text else "thinking"
