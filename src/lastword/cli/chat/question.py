"""A question, as a terminal shows it."""

from __future__ import annotations

from lastword.cli.chat.asking import keys_of
from lastword.core.question import Question
from lastword.surfaces.marking import in_line
from lastword.surfaces.words import worded


def question_lines(question: Question) -> list[str]:
    """All of it, over the lines it has."""
    said = worded(question)
    summary = f" ({said.summary})" if said.summary else ""
    lines = [f"{mark if mark != '@' else '…'} {text}" for mark, text in said.lines]
    return [
        f"? {in_line(question.tool)} {said.asks}{summary}",
        *(f"  {line}" for line in lines),
        *(f"  ! {note}" for note in said.notes),
    ]


def answers_line(question: Question) -> str:
    """What can be typed, and what it means."""
    told = [
        f"{key}: {one.label[0].lower()}{one.label[1:]}" for key, one in keys_of(question).items()
    ]
    return f"{', '.join(told)}; then Enter"
