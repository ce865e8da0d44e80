"""A search in a process of its own: an expression can take for ever, and is then ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lastword.agent.tools.files import Files, all_of
from lastword.runtime.run import Run


class Search:
    """Searches files for an agent, each time for so long at most."""

    def __init__(self, files: Files, *, seconds: float = 60.0) -> None:
        self._files = files
        self._seconds = seconds

    async def search(
        self,
        run: Run,
        pattern: str,
        path: str = ".",
        glob: str = "**",
        may_show: Callable[[str], bool] = all_of,
    ) -> str:
        """Search for a regular expression, line by line, in the files that match the glob."""
        try:
            async with asyncio.timeout(self._seconds):
                search = self._files.search_files
                return await run.isolate(search, pattern, path, glob, may_show=may_show)
        except TimeoutError as error:
            raise TimeoutError(
                f"the search took longer than {self._seconds:g} seconds and was ended, with no "
                "lines to give; search for something simpler, or in fewer files"
            ) from error
