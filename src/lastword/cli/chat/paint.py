"""What is shown for good, with colours: the one place where a style becomes a terminal's code.

A text becomes harmless after it was laid out, not before: what writes `&#27;` in Markdown means
the character. Links are written out, because a link that says one thing and leads to another is
a way to control more than the terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from io import StringIO
from itertools import dropwhile
from typing import ClassVar, Literal, TypeAlias

from rich.console import Console, JustifyMethod, RenderableType
from rich.markdown import Heading, Markdown
from rich.segment import Segment, Segments
from rich.text import Text

from lastword.cli.chat.blocks import Block
from lastword.cli.chat.words import plain

Style: TypeAlias = Literal["", "dim", "bold", "cyan", "yellow", "red"]


class _Heading(Heading):
    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}  # on the left, all of them


class _Markdown(Markdown):
    elements: ClassVar = {**Markdown.elements, "heading_open": _Heading}


class Paint:
    """Makes lines for a terminal of so many columns."""

    def __init__(self, columns: Callable[[], int]) -> None:
        self._columns = columns

    def line(self, text: str, style: Style = "") -> str:
        """One line or several, as they are; the terminal breaks them."""
        console = self._console()
        with console.capture() as captured:
            console.print(Text(plain(text), style), soft_wrap=True)
        return captured.get()

    def block(self, block: Block) -> str:
        """A finished piece of an answer."""
        before = "\n" if block.apart else ""
        if block.kind == "code":
            return before + self.line(block.text.expandtabs(4), "cyan")
        return before + self._laid_out(_Markdown(block.text, hyperlinks=False))

    def _laid_out(self, what: RenderableType) -> str:
        console = self._console()
        lines = [_bare(line) for line in console.render_lines(what, pad=False)]
        while lines and not lines[-1]:
            lines.pop()
        lines = list(dropwhile(lambda line: not line, lines))
        ready = [segment for line in lines for segment in (*line, Segment.line())]
        with console.capture() as captured:
            console.print(Segments(ready), end="")
        return captured.get()

    def _console(self) -> Console:
        return Console(
            file=StringIO(),
            force_terminal=True,
            width=max(self._columns(), 20),
            highlight=False,
            markup=False,
            emoji=False,
        )


def _bare(line: Iterable[Segment]) -> list[Segment]:
    """A line that can do nothing but be read, without the spaces at its end."""
    kept = [Segment(plain(s.text).replace("\n", " "), s.style) for s in line if not s.control]
    while kept and not kept[-1].text.strip():
        kept.pop()
    if kept:
        kept[-1] = Segment(kept[-1].text.rstrip(), kept[-1].style)
    return kept
