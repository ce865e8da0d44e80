"""Tools of all kinds side by side, each by a name of its own.

A server chooses what its tools are called, and what another's are called is none of its business:
so no clash of names is a run's failure, and the one that comes later gets a number. A name is given
for good. Whoever has said "always" to a tool has said it to that one, whatever is listed later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.toolsets import CombinedToolset
from pydantic_ai.toolsets.abstract import AbstractToolset, ToolsetTool

from lastword.runtime.run import Run

LONGEST_NAME = 64  # characters, for the strictest of providers
_NUMBER = 8  # of these for a number, at most
# What the rules mean by these is ours, also where we offer no such tool: some are allowed unasked.
OURS = frozenset(
    (
        "edit_file",
        "list_files",
        "read_file",
        "run_code",
        "search_files",
        "shell_background",
        "show_plan",
        "write_file",
    )
)


class Names:
    """Names that were given: each to one thing, for as long as the program runs."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._given: dict[Hashable, str] = {}
        self._taken = set(taken)
        self._last: dict[str, int] = {}  # number, by what stands before it

    def of(self, thing: Hashable, wanted: str) -> str:
        """The name of a thing: what was wanted, with a number if that is another's."""
        if (name := self._given.get(thing)) is None:
            name = self._given[thing] = self._free(wanted[:LONGEST_NAME])
            self._taken.add(name)
        return name

    def _free(self, wanted: str) -> str:
        name, base = wanted, wanted[: LONGEST_NAME - _NUMBER]
        while name in self._taken:
            self._last[base] = self._last.get(base, 1) + 1
            name = f"{base}_{self._last[base]}"
        return name


@dataclass(kw_only=True)
class _Named(ToolsetTool[Run]):
    """A tool by the name that it has here, and as it is where it comes from."""

    home: AbstractToolset[Run]
    original: ToolsetTool[Run]


@dataclass
class Distinct(CombinedToolset[Run]):
    """Toolsets side by side. A name is whose it was first; among newcomers, the order decides."""

    names: Names = field(default_factory=Names)

    async def get_tools(self, ctx: RunContext[Run]) -> dict[str, ToolsetTool[Run]]:
        found = await asyncio.gather(*(toolset.get_tools(ctx) for toolset in self.toolsets))
        tools: dict[str, ToolsetTool[Run]] = {}
        for number, (home, theirs) in enumerate(zip(self.toolsets, found, strict=True)):
            for own, tool in theirs.items():
                name = self.names.of((number, own), own)
                tools[name] = _Named(
                    toolset=tool.toolset,
                    tool_def=replace(tool.tool_def, name=name),
                    max_retries=tool.max_retries,
                    args_validator=tool.args_validator,
                    args_validator_func=tool.args_validator_func,
                    home=home,
                    original=tool,
                )
        return tools

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Run], tool: ToolsetTool[Run]
    ) -> object:
        if not isinstance(tool, _Named):
            raise TypeError(f"{name} is none of these tools")
        own = tool.original.tool_def.name
        return await tool.home.call_tool(own, tool_args, replace(ctx, tool_name=own), tool.original)
