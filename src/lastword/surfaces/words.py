"""How a question and its answers are worded: once, for page, terminal and editor.

A person allows what they have read, so what they read is all of it, as it is: a command over the
lines it has, a write as what it changes, with nothing in either that cannot be seen. What *always*
means is said in words, and the narrow meaning comes first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, cast

from lastword.agent.question import Question
from lastword.agent.rules import BACKGROUND
from lastword.agent.scopes import Scope
from lastword.core.changes import Line
from lastword.core.value import value
from lastword.surfaces.marking import in_line, is_unseen, marked

_MOST = 20_000  # characters that are shown
_NAMED = 5  # as many marks are named as a person takes in
_ONCE, _NOT = "Allow", "Deny"
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
    kind: Literal["command", "diff", "text"]
    summary: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...]
    choices: tuple[Choice, ...]


def worded(question: Question) -> Worded:
    """All of it."""
    shown, kind = _shown(question)
    whole = "\n".join(text for _, text in shown)
    notes = tuple(_notes(question, whole))
    seen = tuple(_marked(line) for line in _as_many_as_fit(shown))
    return Worded(_asks(question), kind, _summary(question), seen, notes, choices(question))


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


def scope_words(scope: Scope) -> str:
    """How far *always* reaches."""
    return in_line(scope.words)


def _short(text: str, longest: int = 80) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"


def _asks(question: Question) -> str:
    about = in_line(_short(question.subject))
    match question.tool:
        case "shell":
            return "wants to run a command"
        case "shell_background":
            return "wants to run a command in the background, which a stop does not end"
        case "write_file":
            return f"wants to write {about}"
        case "edit_file":
            return f"wants to change {about}"
        case "fetch":
            return "wants to fetch a page"
        case _:
            return "asks for your permission"


def _shown(question: Question) -> tuple[list[Line], Literal["command", "diff", "text"]]:
    arguments = _arguments(question.text)
    kind = _KINDS.get(question.tool)
    if kind == "command" and isinstance(command := arguments.get("command"), str):
        others = {name: value for name, value in arguments.items() if name != "command"}
        return [*_lines(command), *_named(others)], "command"
    if kind == "diff" and question.change is not None:
        return list(question.change.lines), "diff"
    if not arguments:
        return _lines(question.text), "text"
    return _named(arguments), "text"


def _arguments(text: str) -> dict[str, Any]:
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
        first, *more = _lines(text)
        lines.append((" ", f"{name}: {first[1]}"))
        lines.extend((mark, f"  {line}") for mark, line in more)
    return lines


def _marked(line: Line) -> Line:
    return line[0], marked(line[1])


def _lines(text: str) -> list[Line]:
    return [(" ", line) for line in text.replace("\r\n", "\n").split("\n")]


def _as_many_as_fit(lines: list[Line]) -> Iterator[Line]:
    left = _MOST
    for number, (mark, text) in enumerate(lines):
        if len(text) > left:
            yield mark, text[:left]
            more = len(text) - left + sum(len(other) for _, other in lines[number + 1 :])
            yield "@", f"{more:,} more characters, which are not shown"
            return
        left -= len(text) + 1
        yield mark, text


def _summary(question: Question) -> str:
    change = question.change
    if change is None:
        return ""
    if change.new:
        return f"a new file of {_count(change.come)}"
    if change.gone and change.come:
        return f"replaces {_count(change.gone)} with {change.come:,}"
    if change.gone:
        return f"takes away {_count(change.gone)}"
    return f"adds {_count(change.come)}" if change.come else "changes nothing"


def _count(number: int) -> str:
    return "1 line" if number == 1 else f"{number:,} lines"


def _notes(question: Question, whole: str) -> Iterator[str]:
    if question.why:
        yield in_line(question.why)
    unseen = [one for one in whole[:_MOST] if one not in "\n\t" and is_unseen(one)]
    if unseen:
        kinds = list(dict.fromkeys(unseen))
        named = ", ".join(in_line(one) for one in kinds[:_NAMED])
        more = ", …" if len(kinds) > _NAMED else ""
        what = "1 character that cannot be seen is" if len(unseen) == 1 else (
            f"{len(unseen):,} characters that cannot be seen are"
        )  # fmt: skip
        yield f"{what} marked: {named}{more}"
    if len(whole) > _MOST:
        yield f"only the first {_MOST:,} of {len(whole):,} characters are shown"
    if question.tool in ("write_file", "edit_file") and question.change is None:
        yield "what is there now could not be compared with it"
