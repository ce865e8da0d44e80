"""In which form `lastword chat -p` writes an answer: its words, one object, or a line for an entry.

The object and the lines are ASCII, which no terminal can spoil. A line has what an export has, as
soon as it is in the log; the last one, of the kind `end`, is the object, without the words.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Literal, TypeAlias, cast, get_args

from lastword.core.entries import Entry, Used
from lastword.core.model import Outcome
from lastword.core.story import FeedEvent
from lastword.surfaces.records import line, usage

Output: TypeAlias = Literal["text", "json", "stream-json"]
OUTPUTS: tuple[Output, ...] = get_args(Output)
_ENTRIES = get_args(Entry)


class Form:
    """One answer, in one of them."""

    def __init__(self, output: Output, session: str, put: Callable[[str], None]) -> None:
        self.is_text = output == "text"
        self._output = output
        self._session = session
        self._put = put
        self._words: list[str] = []
        self._used: list[Used] = []

    def words(self, text: str) -> None:
        """Some of the answer."""
        if self.is_text:
            self._put(text)
        self._words.append(text)

    def happened(self, event: FeedEvent) -> None:
        """Something of it, or of its message."""
        if isinstance(event.fact, Used):
            self._used.append(event.fact)
        if self._output == "stream-json" and isinstance(event.fact, _ENTRIES):
            self._put(f"{line(cast('Entry', event.fact))}\n")

    def over(self, outcome: Outcome, error: str = "") -> None:
        """How it ended."""
        if self.is_text:
            return
        used = usage(self._used)
        tokens = {"requests": used.requests, "read": used.read, "written": used.written}
        told = {"session": self._session, "outcome": outcome.value, "error": error, "used": tokens}
        if self._output == "json":
            told["text"] = "".join(self._words)
        else:
            told = {"kind": "end", **told}
        self._put(f"{json.dumps(told)}\n")
