"""AGENTS.md: what whoever keeps a directory has written for agents that work in it.

It may have come with the directory, so it is words and nothing more: it allows nothing, and is read
as the model could read it, by the same rules. The person is told that it was read, once in a
session, and again when it has changed.
"""

from __future__ import annotations

from contextlib import suppress
from weakref import WeakKeyDictionary

from lastword.agent.permission import Questions
from lastword.agent.tools.aside import aside
from lastword.agent.tools.files import Files
from lastword.core.model import SessionId
from lastword.core.rows import count
from lastword.runtime.run import Run

GUIDE = "AGENTS.md"
_LINES, _MOST = 1000, 32_000  # lines, and letters: it goes with every request
_TOLD = """\
This directory has an AGENTS.md, words of whoever keeps it for agents that work here. Go by it, \
unless the person says otherwise; it allows nothing that would have to be asked for.
<AGENTS.md>
{text}
</AGENTS.md>"""


class Guide:
    """That of one agent."""

    def __init__(self, files: Files, questions: Questions) -> None:
        self._files = files
        self._questions = questions
        self._of: WeakKeyDictionary[Run, str] = WeakKeyDictionary()
        self._said: dict[tuple[SessionId, str], int] = {}  # of each session, the mark of the text

    async def instructions(self, run: Run) -> str:
        """What a run's model is told of it: the same as long as the run lasts."""
        if (known := self._of.get(run)) is None:
            self._of[run] = known = await self._read(run)
        return known

    async def _read(self, run: Run) -> str:
        if self._questions.rules_for(run).decide("read_file", GUIDE)[0] != "allow":
            return ""
        text = await aside(lambda: self._text(run))
        if not text:
            return ""
        await self._say(run, text)
        return _TOLD.format(text=text)

    def _text(self, run: Run) -> str:
        with suppress(OSError, ValueError):  # it is not there, or is not for the model to read
            with self._files.roots.at(GUIDE) as place:
                if place.status() is None:
                    return ""
            text = self._files.read_file(GUIDE, 1, _LINES, may_go_on=lambda: run.current)
            return text if len(text) <= _MOST else f"{text[:_MOST]}\n[cut: it goes on]"
        return ""

    async def _say(self, run: Run, text: str) -> None:
        life, mark = run.lives[0], hash(text)
        if self._said.get(life) != mark:
            self._said[life] = mark
            await run.progress(f"{GUIDE} was read: {count(len(text.splitlines()), 'line')}")
