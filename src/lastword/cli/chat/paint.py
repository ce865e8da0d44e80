"""What is shown for good, with colours: the one place where a style becomes a terminal's code.

A text becomes harmless after it was laid out, not before: what writes `&#27;` in Markdown means
the character. Links are written out, because a link that says one thing and leads to another is
a way to control more than the terminal. And what was said is seen: a text that would lose a word
by being laid out is shown as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from io import StringIO
from itertools import dropwhile
from typing import ClassVar, Literal, TypeAlias

from markdown_it import MarkdownIt
from rich.console import Console, JustifyMethod, RenderableType
from rich.markdown import Heading, Markdown
from rich.segment import Segment, Segments
from rich.text import Text

from lastword.cli.chat.blocks import Block
from lastword.cli.chat.words import plain, wrapped

# nothing that would be read by a browser only, and not be seen here
_PARSER = MarkdownIt().enable(["strikethrough", "table"])
_PARSER.disable(["html_block", "html_inline", "reference"])
_NUMBERS = re.compile(r"^[\s>*+-]*\d+[.)]", re.MULTILINE)  # of a list, which is numbered anew

Style: TypeAlias = Literal["", "dim", "bold", "cyan", "yellow", "red", "green"]
_OF_A_CHANGE: dict[str, Style] = {"  + ": "green", "  - ": "red"}


def asked_style(line: str) -> Style:
    """Of a line of a question."""
    return _OF_A_CHANGE.get(line[:4], "yellow")


class _Heading(Heading):
    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}  # on the left, all of them


class _Markdown(Markdown):
    elements: ClassVar = {**Markdown.elements, "heading_open": _Heading}

    def __init__(self, text: str) -> None:
        super().__init__("", hyperlinks=False)
        self.parsed = _PARSER.parse(text)


class Paint:
    """Makes lines for a terminal of so many columns."""

    def __init__(self, columns: Callable[[], int]) -> None:
        self._columns = columns

    def line(self, text: str, style: Style = "") -> str:
        """One line or several, in rows that are cut between words."""
        return self._plainly(wrapped(plain(text).expandtabs(4), self._wide), style)

    def exact(self, text: str, style: Style = "") -> str:
        """One line or several, as they are; the terminal breaks them."""
        return self._plainly(plain(text), style)

    def asked(self, lines: Iterable[str]) -> str:
        """A question, word for word, with what comes and goes in it in its colour."""
        return "".join(self.exact(line, asked_style(line)) for line in lines)

    def _plainly(self, text: str, style: Style) -> str:
        console = self._console()
        with console.capture() as captured:
            console.print(Text(text, style), soft_wrap=True)
        return captured.get()

    def block(self, block: Block) -> str:
        """A finished piece of an answer."""
        before = "\n" if block.apart else ""
        if block.kind == "code":
            return before + self.exact(block.text.expandtabs(4), "cyan")
        lines = self._laid_out(_Markdown(block.text))
        if _characters(_NUMBERS.sub("", block.text)) <= _characters(_text(lines)):
            return before + self._painted(lines)
        return before + self.line(block.text.expandtabs(4))

    def _laid_out(self, what: RenderableType) -> list[list[Segment]]:
        lines = [_bare(line) for line in self._console().render_lines(what, pad=False)]
        while lines and not lines[-1]:
            lines.pop()
        return list(dropwhile(lambda line: not line, lines))

    def _painted(self, lines: list[list[Segment]]) -> str:
        console = self._console()
        ready = [segment for line in lines for segment in (*line, Segment.line())]
        with console.capture() as captured:
            console.print(Segments(ready), end="")
        return captured.get()

    @property
    def _wide(self) -> int:
        return max(self._columns(), 20)

    def _console(self) -> Console:
        return Console(
            file=StringIO(),
            force_terminal=True,
            width=self._wide,
            highlight=False,
            markup=False,
            emoji=False,
        )


def _text(lines: list[list[Segment]]) -> str:
    return "".join(segment.text for line in lines for segment in line)


def _characters(text: str) -> Counter[str]:
    """How often each letter and digit is in it, wherever a table or a margin has put it."""
    return Counter(character for character in text if character.isalnum())


def _bare(line: Iterable[Segment]) -> list[Segment]:
    """A line that can do nothing but be read, without the spaces at its end."""
    kept = [Segment(plain(s.text).replace("\n", " "), s.style) for s in line if not s.control]
    while kept and not kept[-1].text.strip():
        kept.pop()
    if kept:
        kept[-1] = Segment(kept[-1].text.rstrip(), kept[-1].style)
    return kept
