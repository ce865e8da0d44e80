"""Whether a request failed for what was in it, so that less is to be asked the next time.

A provider's status decides, and the type and the code of its error. Its message may quote what it
was sent, so of that only the beginning counts, where it speaks for itself. In doubt it was what
was in it: then less is tried, and what does not help is not left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lastword.core.entries import LeftOut
from lastword.core.repair import without
from lastword.core.shown import Shown
from lastword.runtime.run import Run

UNSENT = 400  # as if a provider had said so: what cannot even be put into a request
_FOR_WHAT_IS_IN_IT = (400, 413, 422)
_ANOTHER_KIND = re.compile(
    r"context|quota|billing|credit|balance|api_?key|authenti|unauthori|permission|rate_?limit|"
    r"overload|server_error|timeout|not_found",
    re.IGNORECASE,
)
_OF_CONTENT = re.compile(  # inside a stream, where there is no status
    r"invalid|content|prompt|image|policy|safety|moderation|unprocessable|too_large|too_long",
    re.IGNORECASE,
)
_ANOTHER_REASON = re.compile(  # said by those who have no code for it
    r"(this model's )?maximum context length|prompt is too long|too many tokens|max_\w*tokens|"
    r"input length and `?max_tokens|(your |the )?(input|request|prompt)( token count)?[ \d(),]*"
    r"exceeds? the (context|maximum|available)|please reduce the length|"
    r"(your )?credit balance|api key|you exceeded your current quota",
    re.IGNORECASE,
)


def declined(status: int, kinds: Iterable[str], message: str) -> int:
    """The status with which a provider did not take what was in a request; 0 if it is not that.

    It is not that a key is wrong, the account has run out or the conversation is too long. `kinds`
    are the type and the code of its error; a status below 400 is that of a stream in which it came.
    """
    named = list(kinds)
    if any(map(_ANOTHER_KIND.search, named)) or _ANOTHER_REASON.match(message.strip()):
        return 0
    if status >= 400:
        return status if status in _FOR_WHAT_IS_IN_IT else 0
    return UNSENT if any(map(_OF_CONTENT.search, named)) else 0


class ShownHistory:
    """What one run shows its model of the session: less of it, if that was refused before.

    What a provider then takes is what is shown from now on; what was left out in vain is not.
    """

    def __init__(self, run: Run, history: Sequence[Shown]) -> None:
        self.history = history
        self.answered = False  # whether a request of the run was taken
        self._left: list[LeftOut] = []
        self._run = run

    def less(self, status: int) -> bool:
        """A request was declined with this; whether there is less to show now."""
        if not status:
            return False
        before = bool(self._left) or self._run.declined(status)
        less = self._run.less(self.history) if before and not self.answered else ()
        self.history = without(self.history, less) if less else self.history
        self._left += less
        return bool(less)

    async def taken(self) -> None:
        """The provider took what it was asked; what was left out of that is left out for good.

        It is known when all of an answer has come: some refuse after they have begun to speak.
        """
        if not self.answered:
            self.answered = True
            self._run.leave_out(*self._left)
            for one in self._left:
                await self._run.progress(one.text)
