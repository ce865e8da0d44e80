"""How far *always* reaches: what a person can allow for the rest of a session, the narrow first."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from lastword.agent.rules import BACKGROUND, LONGEST, TYPED, Action, Rule
from lastword.core.brief import without_middle

Kind: TypeAlias = Literal[
    "command", "program", "file", "folder", "reading", "address", "host", "call"
]
_CHANGES = ("write_file", "edit_file")
_READS = ("read_file", "list_files", "search_files")
_PLAIN = re.compile(r"[A-Za-z][\w.-]* [^;&|<>()`$\\\n\r\0*?\[]*")  # one program, and words for it
#: whose name says what is done, with whatever words: they write nothing and run nothing
_SAYS_WHAT_IT_DOES = frozenset(
    {"cat", "cmp", "df", "diff", "du", "echo", "grep", "head", "ls", "pwd", "stat", "tail", "wc"}
)
_GIT = frozenset({"describe", "ls-files", "rev-parse", "status"})  # not log and diff: --output
_WORDS: dict[Kind, str] = {
    "command": "this exact command",
    "program": "`{0} *`",
    "file": "any change of {0}",
    "folder": "any change below {0}/",
    "reading": "{1} of {0}",
    "address": "this exact address",
    "host": "any address at {0}",
    "call": "this exact call",
}


@dataclass(frozen=True, slots=True)
class Scope:
    """One way to mean *always*."""

    id: Literal["this", "wider"]
    kind: Kind
    tool: str
    value: str  # the command, the path, the directory, the host

    @property
    def words(self) -> str:
        """The same for people."""
        return _WORDS[self.kind].format(without_middle(self.value), self.tool)

    def rules(self, action: Action) -> tuple[Rule, ...]:
        """The same as rules, which say no more than that."""
        tools = _CHANGES if self.tool in _CHANGES else (self.tool,)
        pattern = {
            "program": f"{self.value} *",
            "folder": f"{self.value}/*",
            "host": f"{self.value}/*",
        }.get(self.kind, self.value)
        return tuple(Rule(action, tool, pattern, exact=self.id == "this") for tool in tools)


def scopes_of(tool: str, subject: str | None) -> tuple[Scope, ...]:
    """What can be said once for all calls like this one; nothing, if nobody knows what it is."""
    if subject is None or len(subject) > LONGEST or tool == TYPED:
        return ()  # what is typed means something else to another program
    if tool in ("shell", BACKGROUND):
        return _both(tool, "command", subject, "program", _program(subject))
    if tool in _CHANGES:
        return _both(tool, "file", subject, "folder", _folder(subject))
    if tool in _READS:
        return _both(tool, "reading", subject, "folder", "")
    if tool == "fetch":
        parts = urlsplit(subject)
        return _both(tool, "address", subject, "host", f"{parts.scheme}://{parts.netloc}")
    return _both(tool, "call", subject, "call", "")


def _both(tool: str, kind: Kind, subject: str, wide: Kind, wider: str) -> tuple[Scope, ...]:
    this = Scope("this", kind, tool, subject)
    return (this, Scope("wider", wide, tool, wider)) if wider else (this,)


def _program(line: str) -> str:
    """The program of a plain command, if its name says what is done; git by what it is to do."""
    if not _PLAIN.fullmatch(line):
        return ""
    program, _, rest = line.partition(" ")
    if program == "git":
        command, more, _ = rest.partition(" ")
        return f"git {command}" if more and command in _GIT else ""
    return program if program in _SAYS_WHAT_IT_DOES else ""


def _folder(path: str) -> str:
    folder = posixpath.dirname(path)
    return "" if re.search(r"[*?\[]", folder) else folder
