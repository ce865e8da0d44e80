"""Text as it comes, cut where a piece of it is finished.

A finished piece goes above the input line, once and for good; the rest is shown as it stands and
drawn again as it grows. A paragraph, a list, a table is finished by an empty line, a line of code
by its end, and what grows too long where it happens to be: a person who reads along must not wait.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

_LONGEST = 4000  # characters of a piece that is not finished
_FENCE = re.compile(r"\s*(`{3,}(?!.*`)|~{3,})(.*)")  # with backticks behind it, it is a sentence


@dataclass(frozen=True, slots=True)
class Block:
    """A finished piece; `apart` from the one before it by an empty line, or not."""

    text: str
    kind: Literal["prose", "code"]
    apart: bool


class Blocks:
    """One answer's."""

    def __init__(self) -> None:
        self._lines: list[str] = []  # of a piece that goes on
        self._line = ""  # of which the end has not come
        self._size = 0
        self._fence = ""
        self._apart = False
        self._code_apart = False  # the code begins

    @property
    def tail(self) -> str:
        """What is not finished."""
        return "\n".join([*self._lines, self._line]) if self._lines else self._line

    def feed(self, text: str) -> list[Block]:
        """More of it; what that finishes."""
        *lines, self._line = (self._line + text).split("\n")
        done = [block for line in lines for block in self._take(line)]
        if len(self._line) + self._size > _LONGEST:
            done += self._break_off()
        return done

    def rest(self) -> list[Block]:
        """All that is left: nothing more will come."""
        line, self._line = self._line, ""
        done = self._take(line) if line.strip() else []
        done += self._flush()
        self._fence, self._apart = "", False
        return done

    def _take(self, line: str) -> list[Block]:
        if self._fence:
            return self._take_code(line)
        if opened := _FENCE.fullmatch(line):
            done = self._flush()
            self._fence, self._code_apart = opened[1], self._apart
            more = len(opened[2].split()) > 1  # than the language's name
            return [*done, *(self._take_code(opened[2].strip()) if more else ())]
        if not line.strip():
            return self._flush()
        done: list[Block] = []
        for at in range(0, len(line), _LONGEST):  # to lay out much at once takes its time
            self._lines.append(line[at : at + _LONGEST])
            self._size += len(self._lines[-1])
            done += self._flush(apart=False) if self._size > _LONGEST else []
        return done

    def _take_code(self, line: str) -> list[Block]:
        closed = _FENCE.fullmatch(line)
        if closed and closed[1].startswith(self._fence) and not closed[2].strip():
            self._fence = ""
            return []
        apart, self._code_apart, self._apart = self._code_apart, False, True
        return [Block(line, "code", apart)]

    def _flush(self, *, apart: bool = True) -> list[Block]:
        text, self._lines, self._size = "\n".join(self._lines), [], 0
        if not text:
            return []
        done = [Block(text, "prose", self._apart)]
        self._apart = apart
        return done

    def _break_off(self) -> list[Block]:
        """What there is of it so far, up to a space if there is one."""
        at = self._line.rfind(" ") + 1 or len(self._line)
        head, self._line = self._line[:at].rstrip(), self._line[at:]
        if self._fence:
            return self._take_code(head) if head else []
        self._lines += [head] if head else []
        return self._flush(apart=False)
