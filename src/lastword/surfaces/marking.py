"""Characters that a person cannot see, or that change how others are seen, made visible.

A text that comes from a model, a tool or a repository may hold anything, and a person decides by
what they see of it. So what has no picture of its own (controls, zero width, tags, fillers, spaces
that are not the space) and what turns the reading direction is shown by its number. What only
looks like such a number has the bracket before it shown by its own.
"""

from __future__ import annotations

import re
import unicodedata

_UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"}
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # letters and marks without a picture
_SELECTORS = (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0000, 0xE1000))


def is_unseen(character: str) -> bool:
    """Whether a person cannot see that it is there, or it changes how they see the rest."""
    if character == " ":
        return False
    unseen = unicodedata.category(character) in _UNSEEN or character in _BLANK
    return unseen or any(ord(character) in some for some in _SELECTORS)


class _Marks(dict[int, str]):
    """For `str.translate`: looks a character up once, and remembers."""

    def __init__(self, kept: str) -> None:
        super().__init__({ord(one): one for one in kept})

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = shown = f"⟨U+{code:04X}⟩" if is_unseen(character) else character
        return shown


_LIKE_A_MARK, _BRACKET = re.compile(r"⟨(?=U\+)"), "⟨U+27E8⟩"  # it stands there as it is
_IN_LINES, _IN_A_LINE = _Marks("\n\t"), _Marks("")


def marked(text: str) -> str:
    """A text of several lines, with everything in it to be seen."""
    if text.isascii() and text.isprintable():
        return text
    return _LIKE_A_MARK.sub(_BRACKET, text).translate(_IN_LINES)


def in_short(text: str, longest: int = 70) -> str:
    """The same where it is only mentioned: its words in one line, cut if they are many."""
    line = in_line(" ".join(text.split()))
    return line if len(line) <= longest else f"{line[:longest]}…"


def in_line(text: str) -> str:
    """The same in one line: a name, a title."""
    if text.isascii() and text.isprintable():
        return text
    return _LIKE_A_MARK.sub(_BRACKET, text).translate(_IN_A_LINE)
