"""How a question and its answers are worded: once, for page, terminal and editor.

A person allows what they have read, so what they read is all of it, as it is: a command over the
lines it has, a write as what it changes, with nothing in either that cannot be seen. What *always*
means is said in words, and the narrow meaning comes first.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias, cast

from lastword.agent.rules import BACKGROUND
from lastword.core.brief import without_middle
from lastword.core.changes import Line
from lastword.core.question import Question, Scope
from lastword.core.value import value
from lastword.surfaces.cutting import Cut, cut_lines, cut_text
from lastword.surfaces.marking import in_line, is_unseen, marked

SETTLES = 0.5  # seconds that a question has been seen before it can be answered
_TAKEN_APART = 200_000  # characters of arguments; what is longer is shown as it was given
_GAPS = ("\n\n\n", " " * 40, "\t" * 10)  # what moves the rest of a command out of sight
_AT_ONCE = 10  # lines of a command that a person sees without scrolling
_NAMED = 5  # as many marks are named as a person takes in
_ONCE, _NOT = "Allow", "Deny"
Kind: TypeAlias = Literal["command", "diff", "text"]
_KINDS = {"shell": "command", BACKGROUND: "command", "write_file": "diff", "edit_file": "diff"}


@value
class Choice:
    """One way to answer."""

    label: str
    allow: bool
    always: bool = False
    scope: str = ""


@value
class Worded:
    """A question, as a person reads it."""

    asks: str  # what follows the name of the tool
    kind: Kind
    summary: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...]
    choices: tuple[Choice, ...]


def worded(question: Question) -> Worded:
    """All of it."""
    shown, kind = _shown(question)
    said = _summary(question), tuple(_notes(question, shown)), choices(question)
    summary, notes, answers = said
    return Worded(_asks(question), kind, summary, tuple(map(_marked, shown.lines)), notes, answers)


def question_lines(question: Question) -> list[str]:
    """All of it as text, over the lines it has."""
    said = worded(question)
    summary = f" ({said.summary})" if said.summary else ""
    lines = [f"{mark if mark != '@' else '…'} {text}" for mark, text in said.lines]
    return [
        f"? {in_line(question.tool)} {said.asks}{summary}",
        *(f"  {line}" for line in lines),
        *(f"  ! {note}" for note in said.notes),
    ]


def choices(question: Question) -> tuple[Choice, ...]:
    """The answers there are, in the order in which they are offered."""
    always = [
        Choice(f"Always allow {scope_words(scope)}", True, True, scope.id)
        for scope in question.scopes
    ]
    never = [
        Choice(f"Always deny {scope_words(scope)}", False, True, scope.id)
        for scope in question.scopes[:1]
    ]
    return (Choice(_ONCE, True), *always, Choice(_NOT, False), *never)


_ASKS = {
    "shell": "wants to run a command",
    "shell_background": "wants to run a command in the background, which a stop does not end",
    "shell_write": "wants to type into a command that goes on",
    "write_file": "wants to write {0}",
    "edit_file": "wants to change {0}",
    "fetch": "wants to fetch a page",
}


def scope_words(scope: Scope) -> str:
    """How far *always* reaches."""
    return in_line(scope.words)


def _asks(question: Question) -> str:
    asks = _ASKS.get(question.tool, "asks for your permission")
    return asks.format(in_line(without_middle(_path(question))))


def _path(question: Question) -> str:
    """The file, as the rules name it; or, if they cannot, as the call does."""
    told = _arguments(question.text).get("path") if question.subject == question.text else None
    return told if isinstance(told, str) else question.subject


def _shown(question: Question) -> tuple[Cut, Kind]:
    arguments = _arguments(question.text)
    kind = _KINDS.get(question.tool)
    if kind == "command" and isinstance(command := arguments.get("command"), str):
        others = {name: value for name, value in arguments.items() if name != "command"}
        shown, more = cut_text(command), cut_lines(_named(others))
        both = (*shown.lines, *more.lines)
        return Cut(both, shown.size + more.size, shown.given + more.given), "command"
    if kind == "diff" and question.change is not None:
        return cut_lines(question.change.lines), "diff"
    if not arguments:
        return cut_text(question.text), "text"
    return cut_lines(_named(arguments)), "text"


def _arguments(text: str) -> dict[str, Any]:
    if len(text) > _TAKEN_APART:
        return {}
    try:
        read = cast("object", json.loads(text))
    except (ValueError, RecursionError):  # cut, or no JSON
        return {}
    return cast("dict[str, Any]", read) if isinstance(read, dict) else {}


def _named(arguments: dict[str, Any]) -> list[Line]:
    """Arguments by name, each over the lines it has."""
    lines: list[Line] = []
    for name, given in arguments.items():
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        first, *more = cut_text(text).lines
        lines.append((" ", f"{name}: {first[1]}"))
        lines.extend((mark, f"  {line}") for mark, line in more)
    return lines


def _marked(line: Line) -> Line:
    """With the space or tab seen that a line ends with."""
    mark, text = line
    if mark != "@" and text.endswith((" ", "\t")):
        return mark, f"{marked(text[:-1])}⟨U+{ord(text[-1]):04X}⟩"
    return mark, marked(text)


def _summary(question: Question) -> str:
    change = question.change
    if change is None:
        lines = question.subject.count("\n") + 1
        return _count(lines) if _KINDS.get(question.tool) == "command" and lines > 1 else ""
    if change.hidden:
        verb = "replaces" if question.tool == "write_file" else "changes"
        return f"{verb} {change.hidden}"
    if change.new:
        return f"a new file of {_count(change.come)}"
    if change.gone and change.come:
        return f"replaces {_count(change.gone)} with {change.come:,}"
    if change.gone:
        return f"takes away {_count(change.gone)}"
    return f"adds {_count(change.come)}" if change.come else "changes nothing"


def _count(number: int) -> str:
    return "1 line" if number == 1 else f"{number:,} lines"


def _notes(question: Question, shown: Cut) -> Iterator[str]:
    if question.why:
        yield in_line(question.why)
    change = question.change
    if change and change.left_out:
        yield f"{change.left_out:,} of the changed lines are not shown"
    if shown.given < shown.size:
        yield f"only {shown.given:,} of {shown.size:,} characters are shown, the first and the last"
    if _KINDS.get(question.tool) == "command":
        yield from _end_of(question.subject)
    counted = Counter("".join(text for _, text in shown.lines))
    if kinds := [one for one in counted if one != "\t" and is_unseen(one)]:
        many = sum(counted[one] for one in kinds)
        named = ", ".join(in_line(one) for one in kinds[:_NAMED])
        more = ", …" if len(kinds) > _NAMED else ""
        what = "1 character that cannot be seen is" if many == 1 else (
            f"{many:,} characters that cannot be seen are"
        )  # fmt: skip
        yield f"{what} marked: {named}{more}"
    if change and change.hidden:
        yield "what is there now is not compared with it"
    elif question.tool in ("write_file", "edit_file") and change is None:
        yield "what is there now could not be compared with it"


def _end_of(command: str) -> Iterator[str]:
    """Of a command that may not be seen whole at once, what it ends with."""
    lines = command.count("\n") + 1
    if lines > _AT_ONCE or any(gap in command for gap in _GAPS):
        last = command.rstrip().rpartition("\n")[2]
        yield f"{_count(lines)}; the last that is not empty is: {in_line(without_middle(last))}"
