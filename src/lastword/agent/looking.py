"""What a call would do to a file, as a person is shown it before they agree to it.

To look takes time, and is for a thread. What was agreed to is that change and no other: it is
looked at again before the call is made, and by what makes it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias, cast

from lastword.agent.about import About, agreed
from lastword.core.changes import Change
from lastword.core.question import Question
from lastword.runtime.run import Run
from lastword.runtime.threads import DaemonThreads

Preview: TypeAlias = "Callable[[str, Mapping[str, Any], Callable[[], bool]], Change | None]"
_threads = DaemonThreads()


class Looking:
    """Through one way to look, if there is one."""

    def __init__(self, preview: Preview | None) -> None:
        self._preview = preview

    def compares(self, about: About) -> bool:
        """Whether a call is one that changes a file."""
        return self._preview is not None and about.tool in ("write_file", "edit_file")

    async def changes(self, run: Run | None, about: About) -> Change | None:
        """What it would do, if that can be told."""
        if self._preview is None or not self.compares(about):
            return None
        try:
            arguments = cast("object", json.loads(about.text))
        except ValueError:  # cut
            return None
        if not isinstance(arguments, dict):
            return None
        known = cast("dict[str, Any]", arguments)
        loop = asyncio.get_running_loop()
        look = partial(self._preview, about.tool, known, lambda: run is None or run.current)
        return await loop.run_in_executor(_threads, look)

    async def is_as_shown(self, run: Run, about: About, shown: Change | None) -> bool:
        """Whether what would be changed is what a person was shown; what changes it looks too."""
        if not self.compares(about):
            return True
        if _mark(await self.changes(run, about)) != _mark(shown):
            return False
        agreed.set(_mark(shown))
        return True

    async def still_holds(self, run: Run, shown: Question | None, now: About) -> bool:
        """Whether a call that was allowed before is what was shown, as far as is known here."""
        if shown is None:
            return not self.compares(now)
        same = (shown.tool, shown.text, shown.subject) == (now.tool, now.text, now.told)
        return same and await self.is_as_shown(run, now, shown.change)


def _mark(change: Change | None) -> str:
    return change.against if change else ""
