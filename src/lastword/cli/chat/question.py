"""How a question is answered at a terminal."""

from __future__ import annotations

from lastword.cli.chat.asking import keys_of
from lastword.core.question import Question


def answers_line(question: Question) -> str:
    """What can be typed, and what it means."""
    told = [
        f"{key}: {one.label[0].lower()}{one.label[1:]}" for key, one in keys_of(question).items()
    ]
    return f"Ctrl-Y: allow, Ctrl-N: deny; or {', '.join(told)}, and Enter"
