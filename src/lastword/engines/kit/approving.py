"""A framework's own approvals: who is asked, and what the model is told of what may not be."""

from __future__ import annotations

from typing import Protocol

from lastword.runtime.run import Run

_NOT_ALLOWED = "the person did not allow it"
_NOBODY = "it needs to be allowed, and nobody can be asked here; it was not called"


class Approve(Protocol):
    """Asks the person whether a tool that wants approval may be called."""

    async def __call__(self, run: Run, tool: str, arguments: str, /) -> bool: ...


async def denied(approve: Approve | None, run: Run, tool: str, arguments: str) -> str:
    """Why it may not be called; nothing if it may."""
    if approve is None:
        return _NOBODY
    try:
        allowed = await approve(run, tool, arguments)
    except PermissionError as why:  # there was nobody to ask, say
        return f"it was not called: {why}"
    return "" if allowed else _NOT_ALLOWED
