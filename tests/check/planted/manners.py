"""How words are passed on: no fault, and each agent has its own way.

A word may come alone, letter by letter, or with all that came in the meantime; and some say that
a message waits for its turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

MANNERS = ("joins-words", "splits-words", "says-that-it-waits")
_WINDOW = 0.4  # seconds


class Passed:
    """What an agent does with the words of its model, before a person has them."""

    def __init__(self, hear: Callable[[str], None], manner: str) -> None:
        self._hear, self._manner = hear, manner
        self._kept = ""
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self, text: str) -> None:
        if self._manner == "splits-words":
            for letter in text:
                self._hear(letter)
        elif self._manner == "joins-words":
            self._join(text)
        else:
            self._hear(text)

    def _join(self, text: str) -> None:
        """The first at once; what comes within the window after it, together."""
        if self._timer is None:
            self._hear(text)
            self._timer = asyncio.get_running_loop().call_later(_WINDOW, self.flush)
        else:
            self._kept += text

    def flush(self) -> None:
        """Keep nothing back: the window is over, or the answer is."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._kept:
            self._hear(self._kept)
            self._kept = ""
