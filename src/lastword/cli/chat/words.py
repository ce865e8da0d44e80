"""What a person is shown, in words: nothing here acts, and nothing here trusts a text.

A text that comes from a model or a tool may hold anything. What could move a cursor, change a
colour, set a title or turn the reading direction is shown as a mark in its place, so that a
person also sees that somebody tried. It needs no memory: a sequence that comes in two pieces is
as harmless as one that comes whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from lastword.core.model import Status
from lastword.core.receipt import Receipt
from lastword.core.rows import in_brief

_TURNS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_PICTURES = 0x2400  # where the pictures of the control characters begin
_MARK = "\ufffd"
_WORDS = re.compile(r"\s*\S+\s*")  # each with what is around it
_LONGEST = 48  # characters of a name, a command line or a message, where it is only mentioned


class _Marks(dict[int, str | None]):
    """For `str.translate`: looks a character up once, and remembers."""

    def __missing__(self, code: int) -> str:
        self[code] = shown = _shown(chr(code))
        return shown


def _shown(character: str) -> str:
    code = ord(character)
    if character in "\n\t":
        return character
    if code < 0x20:
        return chr(_PICTURES + code)
    if code == 0x7F:
        return "\u2421"
    if character in "\u2028\u2029":
        return "\n"
    hidden = unicodedata.category(character) in {"Cc", "Cs"} or character in _TURNS
    return _MARK if hidden else character


_MARKS = _Marks()


def plain(text: str) -> str:
    """A text that can do nothing to a terminal; its lines and tabs are kept."""
    if text.isascii() and text.isprintable():
        return text
    return text.replace("\r\n", "\n").removesuffix("\r").translate(_MARKS)


def short(text: str, longest: int = _LONGEST) -> str:
    """A text in one line, cut if it is long."""
    line = " ".join(plain(text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def count(number: int, what: str) -> str:
    """So many of it."""
    many = f"{what}es" if what.endswith("s") else f"{what}s"
    return f"1 {what}" if number == 1 else f"{number} {many}"


def call_line(name: str, status: Status, seconds: float | None = None, said: str = "") -> str:
    """One call of a tool: that it is being made, or how it ended."""
    called = f"{short(name)}: {said}" if said else short(name)
    match status:
        case Status.INTENDED | Status.BEGUN:
            return f"· {called} …"
        case Status.COMPLETED:
            return f"· {called}" if seconds is None else f"· {called} ({seconds:.1f} s)"
        case _:
            return f"· {called} ({status})"


def receipt_lines(receipt: Receipt, more: str = "/receipt shows all.") -> list[str]:
    """A receipt in at most two lines: what has ended, and what a person should know of."""
    first, *doubts = map(plain, in_brief(receipt.rows(ids=False)))
    return [first, *(f"{line} {more}".rstrip() for line in doubts)]


def last_rows(text: str, columns: int, rows: int) -> str:
    """As much of the end of a text as fits, so that what comes next is seen coming."""
    kept: list[str] = []
    room = rows
    for line in reversed(text[-rows * columns :].split("\n")):
        room -= rows_of(line, columns)
        if room < 0:
            return "\n".join(reversed(kept)) if kept else line[-rows * columns // 2 :]
        kept.append(line)
    return "\n".join(reversed(kept))


def wrapped(text: str, columns: int) -> str:
    """A text in lines that fit, cut between words; a longer word is cut by whoever draws it."""
    return "\n".join(row for line in text.split("\n") for row in _rows(line, columns))


def _rows(line: str, columns: int) -> Iterator[str]:
    if width(line) <= columns:
        yield line
        return
    row = ""
    for word in _WORDS.findall(line):
        if row.strip() and width(row + word.rstrip()) > columns:
            yield row.rstrip()
            row = ""
        row += word
    yield row


def rows_of(text: str, columns: int) -> int:
    """The rows that a text takes, or a few more."""
    return sum(max(1, -(-width(line) // columns)) for line in text.split("\n"))


def width(text: str) -> int:
    """The columns that a line takes, or a little more."""
    if text.isascii():
        return len(text) + 7 * text.count("\t")
    return sum(2 if unicodedata.east_asian_width(c) in "WFA" else 1 for c in text)
