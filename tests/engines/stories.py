"""What the stories of every engine share: the run that a tool is called in, and what was heard."""

from __future__ import annotations

from typing import cast

from lastword import FeedEvent, Run
from lastword.runtime.framework import run_inside

STOPPED = "The person stopped this answer here. Do not resume it unless they ask."


def run_here() -> Run:
    """The run whose tool this is, wherever its framework calls it."""
    run = run_inside()
    assert run is not None
    return cast("Run", run)


def said(heard: list[FeedEvent]) -> str:
    """What a person was told."""
    return "".join(event.text for event in heard if event.kind == "text")
