"""What may still leave after a fence: the one place that says so, for whatever tells of a session.

A run's event is let through and then told, to watchers that read slowly, over wires that are full.
If its run was stopped or replaced meanwhile, what it does by that event must not be told as if it
were happening. What the session itself tells (what was accepted, began, ended, was stopped; how a
call ended) may be told at any time.
"""

from __future__ import annotations

from lastword.core.model import Status
from lastword.core.receipt import ProcessNews, ToolReport


def is_effect(kind: str, data: object) -> bool:
    """Whether a run does something by it, rather than the session telling what became of it."""
    match kind, data:
        case (("text" | "thinking" | "progress" | "usage"), _):
            return True
        case "typing", on:
            return bool(on)
        case "call", ToolReport(status=status):
            return status in {Status.INTENDED, Status.BEGUN}
        case "process", ProcessNews(state=state):
            return state == "starting"
        case "question", _:
            return getattr(data, "news", "opened") == "opened"  # as the floor of permissions has it
        case _:
            return False


def may_leave(kind: str, data: object, generation: int, fenced: int) -> bool:
    """Whether what was let through at a generation may be told now, `fenced` being where the last
    stop or takeover of its session has moved that to."""
    return generation >= fenced or not is_effect(kind, data)
