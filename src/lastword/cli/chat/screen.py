"""The terminal: a line to type in at the bottom, and above it what was said, for good.

Whatever is shown for good is written once, above the part that is drawn again and again. That part
is small: the end of what is being said, a question, the input and one line about how it stands.
Drawing is done at most so often, however fast the text comes, and not again before the last drawing
has left; a key, or a signal, is never made to wait for a terminal that does not read.
"""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import TextIO, TypeAlias, cast

from prompt_toolkit.application import Application
from prompt_toolkit.application.current import set_app
from prompt_toolkit.application.run_in_terminal import in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.output.vt100 import Vt100_Output

from lastword.cli.chat.words import last_rows, plain, rows_of, wrapped
from lastword.cli.chat.writing import Writing
from lastword.runtime.threads import DaemonThreads

Live: TypeAlias = Sequence[tuple[str, str]]
"""What is drawn again and again: styles and lines."""

_PACE = 0.03  # seconds between two drawings
_ESCAPE = 0.03  # seconds after which an Esc is a key, and not the beginning of one
_INPUT_ROWS = 8
_MARGIN = 6  # rows that are left for everything else
_BACKLOG = 16_384  # characters that wait to be written: more is not taken
_HOME = 1.0  # seconds for the last that is written
_TOGETHER, _SHOW = "\x1b[?2026h", "\x1b[?2026l"  # terminals that know it show no state in between


class Screen:
    """One terminal."""

    def __init__(
        self, keys: KeyBindings, *, live: Callable[[], Live], status: Callable[[], str]
    ) -> None:
        self.buffer = Buffer(multiline=True, history=InMemoryHistory())
        self.lost = False  # nobody is there any more
        self._live = live
        self._status = status
        self._writing = Writing(sys.stdout, self._rests)
        self._output = Vt100_Output.from_pty(cast("TextIO", _Out(sys.stdout, self._writing)))
        self._output.enable_cpr = False  # not to be waited for, nor left to the shell's line
        self._written: list[str] = []
        self._room = asyncio.Event()  # it takes more
        self._room.set()
        self._timer: asyncio.TimerHandle | None = None
        self._drawn = 0.0
        self._late = False  # something is to be shown, and the terminal is not ready
        self._code: int | None = None
        self._lent = False  # the terminal is another program's
        self.app: Application[int] = Application(
            layout=self._layout(),
            key_bindings=keys,
            output=self._output,
            erase_when_done=True,
        )
        self.app.ttimeoutlen = _ESCAPE
        self.app.timeoutlen = _ESCAPE

    def _layout(self) -> Layout:
        field = Window(
            BufferControl(self.buffer, input_processors=[BeforeInput("> ", "bold")]),
            height=lambda: Dimension(min=1, max=_INPUT_ROWS),
            wrap_lines=True,
            dont_extend_height=True,
        )
        live = Window(
            FormattedTextControl(self._fragments), wrap_lines=True, dont_extend_height=True
        )
        status = Window(
            FormattedTextControl(lambda: [("class:status", self._status())]),
            height=1,
            style="fg:ansibrightblack",
        )
        anything = Condition(lambda: bool(self._live()))
        return Layout(HSplit([ConditionalContainer(live, anything), field, status]), field)

    def _fragments(self) -> StyleAndTextTuples:
        room = max(self.rows - _MARGIN, 3)
        found: StyleAndTextTuples = []
        for style, text in reversed(self._live()):
            shown = last_rows(wrapped(text, self.columns), self.columns, room)
            room -= rows_of(shown, self.columns)
            found.insert(0, (style, shown if not found else f"{shown}\n"))
            if room <= 0:
                break
        return found

    @property
    def columns(self) -> int:
        return self._output.get_size().columns

    @property
    def rows(self) -> int:
        return self._output.get_size().rows

    async def run(self, begin: Callable[[], None]) -> int:
        """Until somebody leaves; the terminal is then as it was."""
        stray = cast("TextIO", _Stray(self.write, asyncio.get_running_loop()))

        def first() -> None:
            begin()
            if self._code is not None:  # somebody was quicker
                self.leave(self._code)

        try:
            with redirect_stdout(stray), redirect_stderr(stray):
                return await self.app.run_async(pre_run=first, set_exception_handler=False)
        except (EOFError, OSError):  # the terminal has gone
            self.lost = True
            return 129
        finally:
            self._show()

    async def lend(self, use: Callable[[], object]) -> None:
        """Have another program use the terminal, in a thread; what is said meanwhile is shown when
        it gives the terminal back."""
        with set_app(self.app):
            async with in_terminal():
                self._lent = True
                try:
                    await self._writing.rest(_HOME)
                    await asyncio.get_running_loop().run_in_executor(DaemonThreads(), use)
                finally:
                    self._lent = False
        self.draw()

    def leave(self, code: int) -> None:
        """End it, now or as soon as it has begun."""
        self._code = code
        if self.app.is_running and not self.app.is_done:
            self.app.exit(result=code)

    def write(self, text: str) -> None:
        """Above the input line, for good."""
        self._written.append(text)
        if sum(map(len, self._written)) <= _BACKLOG:
            self.draw_soon()
            return
        self._room.clear()
        self.draw()

    @property
    def clogged(self) -> bool:
        """Whether the terminal has fallen behind."""
        return not self._room.is_set()

    async def room(self) -> None:
        """Wait until it has caught up."""
        await self._room.wait()

    def draw_soon(self) -> None:
        """Something is to be shown, together with whatever comes until it is."""
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(self._drawn + _PACE, loop.time()), self.draw)

    async def close(self) -> None:
        """Show the last of it, and wait for that, but not for ever."""
        self._show()
        await self._writing.rest(_HOME)

    def draw(self) -> None:
        """Show it now, or as soon as the terminal has taken the last of it."""
        if self._timer:
            self._timer.cancel()
        self._timer = None
        if self._writing.idle:
            self._show()
        else:
            self._late = True

    def _rests(self, error: BaseException | None) -> None:
        if error:
            self._lose()
        elif self._late:
            self.draw()

    def _lose(self) -> None:
        self.lost = True
        self._room.set()
        self.leave(129)

    def _show(self) -> None:
        if self._lent and self.app.is_running and not self.app.is_done:
            return
        self._late = False
        self._room.set()
        self._drawn = asyncio.get_running_loop().time()
        text, self._written = "".join(self._written), []
        if self.lost:
            return
        try:
            self._draw(text)
        except OSError:
            self._lose()

    def _draw(self, text: str) -> None:
        drawn = self.app.is_running and not self.app.is_done
        if text:
            self._output.write_raw(_TOGETHER)
            if drawn:
                self.app.renderer.erase()
            self._output.write_raw(text.replace("\n", "\r\n"))
        if drawn:
            self.app.render_counter += 1  # or what was drawn before is drawn again
            with set_app(self.app):
                self.app.renderer.render(self.app, self.app.layout)
        if text:
            self._output.write_raw(_SHOW)
            self._output.flush()


class _Out:
    """The terminal, as whoever draws sees it: one that takes everything at once."""

    def __init__(self, terminal: TextIO, writing: Writing) -> None:
        self.encoding = terminal.encoding
        self.fileno = terminal.fileno
        self.isatty = terminal.isatty
        self._writing = writing

    def write(self, text: str, /) -> int:
        self._writing.put(text)
        return len(text)

    def flush(self) -> None:
        """There is nothing to wait for."""


class _Stray(io.TextIOBase):
    """Where a tool or a library in this process finds itself that writes to the terminal."""

    def __init__(self, show: Callable[[str], None], loop: asyncio.AbstractEventLoop) -> None:
        self._show = show
        self._loop = loop
        self._line = ""

    def write(self, text: str, /) -> int:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._loop.call_soon_threadsafe(self._show, f"{plain(line)}\n")
        return len(text)

    def flush(self) -> None:
        if self._line:
            self.write("\n")
