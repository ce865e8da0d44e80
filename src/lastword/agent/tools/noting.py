"""Who is told that a file tool is about to change a file, right before it does."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

from lastword.agent.tools.roots import Place

Noting: TypeAlias = Callable[[Place, bytes], AbstractContextManager[None]]


def unnoted(place: Place, data: bytes) -> AbstractContextManager[None]:  # noqa: ARG001 - whichever
    """Nobody is."""
    return nullcontext()
