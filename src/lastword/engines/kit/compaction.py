"""Long histories, made shorter before the model's window is full.

It is the run's own work: the requests are the run's, and the summary is written down only if the
run still holds its session when it is there. A summary that cannot be had is no reason to fail.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from lastword.core.brief import cut
from lastword.core.model import Attachment
from lastword.core.shown import Shown
from lastword.engines.kit.files import letters_of
from lastword.runtime.checks import encodable
from lastword.runtime.run import Run

Summarise: TypeAlias = Callable[[str], Awaitable[str]]
"""Asks a model with this text; gives its answer."""

log_ = logging.getLogger("lastword")
_LETTERS = 4  # in a token, about
_WORD = 8  # letters, with what is around it
_LEAST = 400  # letters of a conversation that are worth a request
_ASK = (
    "Summarise this conversation for yourself: you will go on with the summary alone in its place. "
    "Keep what the person wants, what was decided, names, paths and numbers, what was done with "
    "which result, what was stopped and what may have executed. Write plainly, in at most "
    "{words} words.\n\n{conversation}"
)


@dataclass(frozen=True)
class Compaction:
    """When to shorten, and to what."""

    window: int = 128_000  # tokens that the model can take in
    full: float = 0.75  # of it: then the older part is summarised
    keep: float = 0.25  # of it: what stays as it is, the newest
    words: int = 600  # of the summary
    summarise: Summarise | None = None  # whom to ask for it; otherwise the engine's own model

    @property
    def room(self) -> float:
        """Letters that a request may have, so that the answer has room too."""
        return self.window * self.full * _LETTERS

    async def shortened(self, run: Run, ask: Summarise, *, beside: int = 0) -> Sequence[Shown]:
        """What the model is to be shown, shortened if it has to be.

        `beside` is how many letters of instructions and tools go with it.
        """
        history = run.history
        if _size(history) + beside < self.room:
            return history
        older = self._older(history)
        if not older:
            return history
        upto = older[-1].run
        if upto is None:  # a summary, and nothing behind it
            return history
        await run.progress("Summarising what was said so far.")
        try:
            summary = await self._summary(run, self.summarise or ask, older)
        except Exception as error:  # noqa: BLE001 - whatever a model's client, or a team's own, raises
            kind = type(error).__name__
            log_.warning("not summarised session=%s run=%s error=%s", run.session, run.id, kind)
            return history
        return await run.summarise(summary, upto=upto) if summary.strip() else history

    async def at_once(self, run: Run, ask: Summarise) -> str:
        """Have all before this run be shown as a summary, however little it is; the summary.
        Raises what the model's client raises; nothing is different then."""
        older = [item for item in run.history if item.role == "summary" or item.run != run.id]
        upto = older[-1].run if older else None
        if upto is None:
            return ""
        await run.progress("Summarising what was said so far.")
        summary = (await self._summary(run, self.summarise or ask, older)).strip()
        if summary:
            await run.summarise(summary, upto=upto)
        return summary

    async def _summary(self, run: Run, ask: Summarise, older: Sequence[Shown]) -> str:
        """Of one piece after another, each of which fits, with the summary of those before it."""
        most = max(int(self.room) - len(_ASK) - self.words * _WORD, _LEAST)
        lines = [cut(_line(item), most // 4) for item in older]
        summary = ""
        for piece in _pieces(lines, most):
            told = "\n".join([f"summary: {summary}", *piece] if summary else piece)
            run.must_hold("this request to the model")
            summary = await ask(encodable(_ASK.format(words=self.words, conversation=told)))
            summary = cut(summary, self.words * _WORD * 2)
        return summary

    def _older(self, history: Sequence[Shown]) -> list[Shown]:
        """Whole turns, up to the oldest that fits into what is kept; never the one to answer.

        An earlier summary is of them: the new one takes its place.
        """
        runs = list(dict.fromkeys(item.run for item in history if item.run))
        kept, room = set(runs[-1:]), self.window * self.keep * _LETTERS
        for run in reversed(runs[:-1]):
            room -= _size([item for item in history if item.run == run])
            if room < 0:
                break
            kept.add(run)
        return [
            item
            for item in history
            if item.role == "summary" or (item.run and item.run not in kept)
        ]


def _size(history: Sequence[Shown]) -> int:
    return sum(
        len(item.text) + len(item.name) + sum(map(letters_of, _files(item))) for item in history
    )


def _line(item: Shown) -> str:
    """An item of a conversation, with its files by name."""
    files = "".join(f" [{one.name or one.media_type}]" for one in _files(item))
    return f"{item.role} {item.name}: {item.text}{files}"


def _files(item: Shown) -> tuple[Attachment, ...]:
    return item.message.attachments if item.message else ()


def _pieces(lines: Sequence[str], most: int) -> Iterator[list[str]]:
    """The lines, as many at a time as have so many letters."""
    piece: list[str] = []
    room = most
    for line in lines:
        if piece and len(line) > room:
            yield piece
            piece, room = [], most
        piece.append(line)
        room -= len(line) + 1
    yield piece
