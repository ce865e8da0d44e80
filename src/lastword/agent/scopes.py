"""How far *always* reaches: what a person can allow for the rest of a session, the narrow first."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from lastword.agent.rules import BACKGROUND, LONGEST, TYPED, Action, Rule
from lastword.core.model import SessionId
from lastword.core.question import Scope, ScopeKind

_SESSIONS = 1000  # in which something was said for good, that are remembered
_CHANGES = ("write_file", "edit_file")
_READS = ("read_file", "list_files", "search_files")
_PLAIN = re.compile(r"[A-Za-z][\w.-]* [^;&|<>()`$\\\n\r\0*?\[]*")  # one program, and words for it
#: whose name says what is done, with whatever words: they write nothing and run nothing
_SAYS_WHAT_IT_DOES = frozenset(
    {"cat", "cmp", "df", "diff", "du", "echo", "grep", "head", "ls", "pwd", "stat", "tail", "wc"}
)
_GIT = frozenset({"describe", "ls-files", "rev-parse", "status"})  # not log and diff: --output


def rules_of(scope: Scope, action: Action) -> tuple[Rule, ...]:
    """The same as rules, which say no more than that."""
    tools = _CHANGES if scope.tool in _CHANGES else (scope.tool,)
    pattern = {
        "program": f"{scope.value} *",
        "folder": f"{scope.value}/*",
        "host": f"{scope.value}/*",
    }.get(scope.kind, scope.value)
    return tuple(Rule(action, tool, pattern, exact=scope.id == "this") for tool in tools)


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


def _both(
    tool: str, kind: ScopeKind, subject: str, wide: ScopeKind, wider: str
) -> tuple[Scope, ...]:
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


class Always:
    """What was allowed, or forbidden, for good: for the rest of a session, and of those below it.

    It ends with its session, also if another one gets its name: what a session is known by is its
    name and its epoch.
    """

    def __init__(self) -> None:
        self._of: dict[SessionId, tuple[str, tuple[Rule, ...]]] = {}

    def add(self, life: tuple[SessionId, str], rules: tuple[Rule, ...]) -> None:
        """From here on."""
        session, epoch = life
        if rules:
            before = self.holding((life,))
            self._of.pop(session, None)
            self._of[session] = epoch, (*before, *rules)
            for old in list(self._of)[:-_SESSIONS]:
                del self._of[old]  # where it is asked again

    def holding(self, lives: Iterable[tuple[SessionId, str]]) -> tuple[Rule, ...]:
        """What holds for a run of the first session, whose other ones are those above it."""
        known = [(epoch, *self._of.get(session, ("", ()))) for session, epoch in lives]
        return tuple(rule for epoch, said, rules in known if epoch == said for rule in rules)

    def of(self, session: SessionId) -> tuple[Rule, ...]:
        """What was said in the last session of that name."""
        return self._of.get(session, ("", ()))[1]
