"""What helps a person at the line: words completed, one of a list picked, an editor of their own.

None of it is in the way of a stop: Esc stops what is going, whatever is shown here.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from lastword.cli.chat import commands
from lastword.cli.chat.coming import ComingAgent
from lastword.cli.chat.completing import completed
from lastword.cli.chat.picking import Choosable, Picker
from lastword.cli.chat.screen import Live, Screen
from lastword.cli.chat.words import plain, short

_OPTIONS = 40  # that are shown
_EDITORS = ("nano", "vim", "vi")  # if the person has not said which


class Aids:
    """Those of one line."""

    def __init__(self, screen: Screen, agent: object, say: Callable[[str], None]) -> None:
        self._screen = screen
        self._folder = Path(agent.folder if isinstance(agent, ComingAgent) else ".")
        self._say = say
        self._options: tuple[str, ...] = ()  # that fit what was typed
        self._picker: Picker | None = None
        self._editing = False

    @property
    def live(self) -> Live:
        """It, below what is said."""
        if self._picker:
            return self._picker.lines()
        shown = [plain(one.strip()) for one in self._options[:_OPTIONS]]
        more = ["…"] if len(self._options) > _OPTIONS else []
        return [("fg:ansibrightblack", "  ".join([*shown, *more]))] if shown else []

    def typed(self) -> None:
        """The line is another one."""
        self._options = ()
        if self._picker:
            self._picker.filter(self._screen.buffer.text)

    def complete(self) -> None:
        """Go on with the word before the cursor, as far as that is certain."""
        buffer = self._screen.buffer
        before = buffer.document.text_before_cursor
        found = completed(before, commands.names(), self._folder)
        buffer.insert_text(found.more)
        self._options = found.options
        self._screen.draw()

    @property
    def picks(self) -> bool:
        """Whether there is a list to pick from."""
        return self._picker is not None

    def pick(self, rows: Sequence[Choosable]) -> None:
        """Show this list."""
        self._picker = Picker(rows)
        self._picker.filter(self._screen.buffer.text)
        self._screen.draw()

    def move(self, by: int) -> None:
        """Up or down in it."""
        if self._picker:
            self._picker.move(by)
            self._screen.draw()

    def close(self) -> str | None:
        """Show it no longer; what was picked in it."""
        picker, self._picker = self._picker, None
        self._screen.draw()
        return picker.picked if picker else None

    async def edit(self) -> None:
        """Have the person's own editor write the line. It is not sent yet."""
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
        words = shlex.split(editor) or [one for one in _EDITORS if shutil.which(one)][:1]
        if not words or shutil.which(words[0]) is None:
            self._say("There is no editor: VISUAL or EDITOR has to say which. Nothing was started.")
        elif not self._editing:
            self._editing = True
            try:
                await self._edited(words)
            finally:
                self._editing = False

    async def _edited(self, words: list[str]) -> None:
        buffer = self._screen.buffer
        with tempfile.TemporaryDirectory(prefix="lastword-") as folder:
            path = Path(folder) / "message.md"
            path.write_text(buffer.text, encoding="utf-8")
            try:
                command = [*words, str(path)]
                await self._screen.lend(lambda: subprocess.run(command, check=True))  # noqa: S603 - theirs
                text = path.read_text(encoding="utf-8")
            except (OSError, ValueError, subprocess.CalledProcessError) as error:
                self._say(f"{short(words[0])} did not end well, so the line is as it was: {error}")
                return
        buffer.text = text.rstrip("\n")
        buffer.cursor_position = len(buffer.text)
