"""Rules: what is allowed, what has to be asked, what is forbidden, by tool and by pattern."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

Action: TypeAlias = Literal["allow", "ask", "deny"]
Subject: TypeAlias = Callable[[Mapping[str, Any]], str]
_ACTIONS: tuple[Action, ...] = ("allow", "ask", "deny")
_ANY = ("", "*")
_ANOTHER = re.compile(r"[;&|<>()`$\\\n\r\0]")  # may begin another command, or write somewhere
_APART = re.compile(r"[;&|<>(){}`$\n\r]+")
_KEYWORDS = {"!", "do", "else", "if", "then", "until", "while"}
_BEFORE = _KEYWORDS | {"command", "env", "eval", "exec", "nice", "nohup", "sudo", "time", "xargs"}


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds for a tool, or for those of its calls that match a pattern."""

    action: Action
    tool: str  # its name, or a glob
    pattern: str = ""  # a glob; none: every call
    exact: bool = False  # the pattern is no glob but the very text

    @classmethod
    def parse(cls, text: str) -> Rule:
        """From "allow shell git status*": an action, a tool, and if you like a pattern."""
        action, tool, pattern = (*text.split(None, 2), "", "", "")[:3]
        if action not in _ACTIONS or not tool:
            raise ValueError(
                f"{text!r} is not a rule: it takes one of {', '.join(_ACTIONS)}, a tool, and then "
                "a pattern or nothing"
            )
        return cls(action, tool, pattern.strip())

    def __str__(self) -> str:
        return " ".join(part for part in (self.action, self.tool, self.pattern) if part)

    @property
    def weight(self) -> int:
        """How much it says of a call: the one call, some calls, one tool, some tools."""
        if self.exact:
            return 3
        return 2 if self.pattern not in _ANY else int(not re.search(r"[*?\[]", self.tool))

    def matches(self, tool: str, subject: str | None, *, is_command: bool) -> bool:
        """Whether it says something of a call; of `subject` None, nobody knows what it is about."""
        if not fnmatchcase(tool, self.tool):
            return False
        if subject is None:
            whole = self.pattern in _ANY and not self.exact
            return whole or self.action != "allow"  # it may be anything
        if self.exact:
            return subject == self.pattern
        return self.pattern in _ANY or any(
            fnmatchcase(text, self.pattern) for text in self._readings(subject, is_command)
        )

    def _readings(self, subject: str, is_command: bool) -> Iterable[str]:
        """The texts of which one has to match."""
        if not is_command:
            return [subject]
        if self.action == "allow":
            return [] if _ANOTHER.search(subject.strip()) else [subject.strip()]
        return _commands(subject)


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of which the order does not matter.

    Of the rules that match a call, any `deny` wins. Otherwise the one that says most of the call:
    one with a pattern over one for the tool, that over one for several tools (`*`). Where two say
    as much, `ask` wins over `allow`. What no rule matches is asked.

    A pattern is a glob over what the call is about: a command line, a path, an address, or the
    arguments as JSON. An `allow` with a pattern never matches a command line that could hold a
    second command, a redirection or an expansion, quoted or not; `git status; rm -rf /` is asked.
    An `ask` or `deny` is looked for in every part of the line. It is a help and no wall: a shell
    knows a thousand ways to say the same. What must not happen is kept out by not allowing it.
    """

    rules: tuple[Rule, ...] = ()
    commands: frozenset[str] = frozenset({"shell"})  # the tools that are given command lines

    @classmethod
    def parse(cls, lines: Iterable[str]) -> Rules:
        """From lines such as "ask shell"."""
        return cls(tuple(Rule.parse(line) for line in lines))

    def also(self, *rules: Rule) -> Rules:
        """These, and some more."""
        return replace(self, rules=(*self.rules, *rules))

    def decide(self, tool: str, subject: str | None) -> tuple[Action, Rule | None]:
        """What is to be done about a call, and by which rule; None if there is none."""
        is_command = tool in self.commands
        found = [r for r in self.rules if r.matches(tool, subject, is_command=is_command)]
        if not found:
            return "ask", None
        strictest = max(
            found, key=lambda r: (r.action == "deny", r.weight, _ACTIONS.index(r.action))
        )
        return strictest.action, strictest


def _commands(line: str) -> Iterable[str]:
    """The commands that a line may hold, each also without quotes and what stands before it."""
    yield " ".join(line.split())
    for part in _APART.split(line):
        words = re.sub(r"[\"'\\]", "", part).split()
        while words and (words[0] in _BEFORE or re.match(r"\w+=", words[0])):
            del words[0]
        if words:
            yield " ".join(words)
            yield " ".join([posixpath.basename(words[0]), *words[1:]])


def argument(name: str) -> Subject:
    """What a call is about, if one argument says it."""
    return lambda arguments: str(arguments[name])


def path(arguments: Mapping[str, Any]) -> str:
    """The path that a call is about, by its shortest spelling."""
    return posixpath.normpath(str(arguments.get("path", ".")))


SUBJECTS: Mapping[str, Subject] = MappingProxyType(
    {"shell": argument("command"), "fetch": argument("url")}
    | dict.fromkeys(("read_file", "write_file", "edit_file", "list_files", "search_files"), path)
)
