"""Rules: what is allowed, what has to be asked, what is forbidden, by tool and by pattern."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Any, Literal, TypeAlias
from urllib.parse import urljoin, urlsplit

from lastword.stores.aside import Breathe, at_once

Action: TypeAlias = Literal["allow", "ask", "deny"]
Subject: TypeAlias = Callable[[Mapping[str, Any]], str]
_ACTIONS: tuple[Action, ...] = ("allow", "ask", "deny")
_ANY = ("", "*")
# what may begin another command, write somewhere, or edit what a terminal has so far
_ANOTHER = re.compile(r"[;&|<>()`$\\\x00-\x08\x0a-\x1f\x7f-\x9f]")
# What is typed is read by a program that has keys of its own: a tab completes, a `!` or a `^`
# brings back another line, and a byte above 127 is a key with Meta where the terminal is not UTF-8.
_TYPED = re.compile(r"(?!\^)[ -~]*\n?")
_APART = re.compile(r"[;&|<>()`\n\r]+|(?<!\S)[{}](?!\S)")
_REDIRECTION = re.compile(r"(?<!\d)\d*(?:&>>?|>[>&|]?|<[>&]?)\s*[^\s;&|<>()]+")
_ASSIGNMENT = re.compile(r"\w+(\[[^]]*\])?\+?=")
_KEYWORDS = {"!", "coproc", "do", "elif", "else", "if", "then", "until", "while"}
_OF_SHELLS = {"bash", "builtin", "command", "dash", "eval", "exec", "sh", "time", "zsh"}
_PROGRAMS = {"doas", "env", "ionice", "nice", "nohup", "setsid", "stdbuf", "sudo", "timeout"}
_BEFORE = _OF_SHELLS | _PROGRAMS | {"xargs"}
_MOST_BEGINNINGS = 100  # of a command, in words of which a model may give any number
LONGEST = 10_000  # characters of what a call is about: of more, nobody can tell what it is
_LONGEST_RULE = 1_000
_MOST_WORK = 300_000_000  # characters that all rules together are held against
_MOST_TOOLS = 100  # whose rules are remembered
_AT_ONCE = (200, 1_000)  # as many rules, and characters, as are judged in no time
_A_STEP = 20  # rules that are judged between two breaths
_PORTS = {"http": 80, "https": 443}
_PLAIN = re.compile(r"%(2D|2E|5F|7E|3\d|[46][1-9A-F]|[57][0-9A])", re.IGNORECASE)  # unreserved
BACKGROUND = "shell_background"
TYPED = "shell_write"  # to a command that goes on
_AS_COMMANDS = (BACKGROUND, TYPED)


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds for a tool, or for those of its calls that match a pattern."""

    action: Action
    tool: str  # its name, or a glob
    pattern: str = ""  # a glob; none: every call
    exact: bool = False  # the pattern is no glob but the very text
    typed: bool = False  # for this time, and so more than what was set

    @classmethod
    def parse(cls, text: str) -> Rule:
        """From "allow shell git status": an action, a tool, and if you like a pattern."""
        action, tool, pattern = (*text.split(None, 2), "", "", "")[:3]
        if action not in _ACTIONS or not tool or len(text) > _LONGEST_RULE:
            raise ValueError(
                f"{text[:_LONGEST_RULE]!r} is not a rule: it takes one of {', '.join(_ACTIONS)}, "
                "a tool, and then a pattern or nothing, and no more than "
                f"{_LONGEST_RULE:,} characters"
            )
        return cls(action, tool, pattern.strip())

    def __str__(self) -> str:
        return " ".join(part for part in (self.action, self.tool, self.pattern) if part)

    @property
    def weight(self) -> int:
        """How much it says of a call: the one call, some calls, one tool, some tools."""
        if self.typed:
            return 4
        if self.exact:
            return 3
        return 2 if self.pattern not in _ANY else int(not re.search(r"[*?\[]", self.tool))

    @property
    def allows_all(self) -> bool:
        """Whether somebody has said, for this time, that nothing is to be asked."""
        return self.typed and self.action == "allow" and self.tool == "*" and self.pattern in _ANY

    def matches(self, tool: str, subject: str | None) -> bool:
        """Whether it says something of a call; of `subject` None, nobody knows what it is about."""
        return self.is_of(tool) and self.says(_Readings(tool, subject))

    def is_of(self, tool: str) -> bool:
        """Whether it says something of a tool."""
        return fnmatchcase(tool, self.tool) or self._means_commands(tool)

    def says(self, call: _Readings) -> bool:
        """Whether it says something of this call of its tool."""
        if call.subject is None:
            whole = self.pattern in _ANY and not self.exact
            return whole or self.action != "allow"  # it may be anything
        if self.exact:
            return call.subject == self.pattern
        if self.pattern in _ANY:
            return True
        if call.tool == "fetch":
            return _is_at(call.subject, self.pattern)
        return any(_is_like(text, self.pattern) for text in call.texts(self.action))

    def _means_commands(self, tool: str) -> bool:
        """What is forbidden or asked for is so in the background, and if it is typed; what is
        allowed is not."""
        as_commands = tool in _AS_COMMANDS and self.action != "allow"
        return as_commands and fnmatchcase("shell", self.tool)


class _Readings:
    """What a call is about, taken apart once for however many rules."""

    def __init__(self, tool: str, subject: str | None) -> None:
        self.tool = tool
        self.subject = subject

    def texts(self, action: Action) -> tuple[str, ...]:
        """The texts of which one has to match."""
        if self.subject is None:
            return ()
        if self.tool not in ("shell", *_AS_COMMANDS):
            return (self.subject,)
        return self._alone if action == "allow" else self._commands

    @cached_property
    def _alone(self) -> tuple[str, ...]:
        line = self.subject or ""
        if self.tool == TYPED and ("!" in line or not _TYPED.fullmatch(line)):
            return ()
        line = line.strip(" \t\n")
        return () if _ANOTHER.search(line) else (line,)

    @cached_property
    def _commands(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(_commands(self.subject or "")))


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of which the order does not matter.

    Of the rules that match a call, any `deny` wins. Otherwise the one that says most of the call:
    one with a pattern over one for the tool, that over one for several tools (`*`). Where two say
    as much, `ask` wins over `allow`. What no rule matches is asked. A rule that was typed for this
    time wins over all that were set, but for a `deny`.

    A command that is to go on in the background, where a stop does not end it, is a call of
    `shell_background`, and what is typed to one that goes on a call of `shell_write`: an `allow
    shell` allows neither, and a `deny` or `ask` of `shell` holds. One in another directory than
    the agent's, given as `workdir`, is about `cd WORKDIR && COMMAND`.

    A pattern is a glob over what the call is about: a command line, a path, an address, or the
    arguments as JSON. Of an address, host and path are matched each by itself: no `*` in the host
    of `https://*.python.org/*` reaches beyond it, and a pattern without a path means all of a host.

    An `allow` with a pattern never matches a command line that could hold a second command, a
    redirection or an expansion, quoted or not; `git status; rm -rf /` is asked. Nor does it match
    control characters: at a terminal they undo what was typed before them. What is typed has to be
    one line of printable ASCII without a `!`, with or without its newline. An `ask` or `deny`
    is looked for in every part of the line, and behind what commonly stands before a command, as
    `sudo -u x`. It is a help and no wall: a shell knows a thousand ways to say the same. What must
    not happen is kept out by not allowing it.

    Judging takes time that grows with the length of what is judged, and has an end: of more than
    10,000 characters nobody knows what they are about, so no pattern allows them.
    """

    rules: tuple[Rule, ...] = ()
    _of: dict[str, tuple[Rule, ...]] = field(
        default_factory=dict[str, tuple[Rule, ...]], compare=False, repr=False
    )  # those of a tool, once they were looked for

    @classmethod
    def parse(cls, lines: Iterable[str | Rule]) -> Rules:
        """From lines such as "ask shell"; a rule is taken as it is."""
        return cls(tuple(Rule.parse(one) if isinstance(one, str) else one for one in lines))

    def also(self, *rules: Rule) -> Rules:
        """These, and some more."""
        return Rules((*self.rules, *rules)) if rules else self

    def takes_a_while(self, subject: str | None) -> bool:
        """Whether to judge a call is for a thread, and not for who has to answer others."""
        most, longest = _AT_ONCE
        return len(self.rules) > most or len(subject or "") > longest

    def decide(
        self, tool: str, subject: str | None, breathe: Breathe = at_once
    ) -> tuple[Action, Rule | None]:
        """What is to be done about a call, and by which rule; None if there is none."""
        known = subject if subject is None or len(subject) <= LONGEST else None
        rules, call = self._rules_of(tool, breathe), _Readings(tool, known)
        work = sum(len(text) + 1 for text in call.texts("deny")) * len(rules)
        if work > _MOST_WORK:
            call = _Readings(tool, None)
        found = [rule for rule in _each(rules, breathe) if rule.says(call)]
        if not found:
            return "ask", None
        strictest = max(
            found, key=lambda r: (r.action == "deny", r.weight, _ACTIONS.index(r.action))
        )
        return strictest.action, strictest

    def _rules_of(self, tool: str, breathe: Breathe) -> tuple[Rule, ...]:
        if tool not in self._of:
            if len(self._of) > _MOST_TOOLS:
                self._of.clear()  # a model may make up any number of names
            self._of[tool] = tuple(rule for rule in _each(self.rules, breathe) if rule.is_of(tool))
        return self._of[tool]


def _each(rules: tuple[Rule, ...], breathe: Breathe) -> Iterator[Rule]:
    for number, rule in enumerate(rules, 1):
        yield rule
        if number % _A_STEP == 0:
            breathe()


@dataclass(frozen=True, slots=True)
class MayShow:
    """Which files a call that was allowed may show; it can be handed to another process.

    What the rules say of the call itself has been decided with it. A file that a rule of its own
    speaks of has not been.
    """

    rules: Rules
    tool: str
    subject: str  # of the call
    also: tuple[str, ...] = ()  # the tools that would show the same

    def __call__(self, path: str) -> bool:
        """Whether this file may be shown."""
        if any(self.rules.decide(tool, path)[0] != "allow" for tool in self.also):
            return False
        action, rule = self.rules.decide(self.tool, path)
        if action == "ask":
            return rule is None or rule.matches(self.tool, self.subject)
        return action == "allow"


def _commands(line: str) -> Iterator[str]:
    """The commands that a line may hold, each also without quotes and what stands before it."""
    yield " ".join(line.split())
    whole = line.replace("\\\n", "")
    for text in dict.fromkeys((line, whole, _REDIRECTION.sub(" ", whole))):
        for part in _APART.split(text):
            said = re.sub(r"[\"'\\]", "", part).split()
            for words in islice(_beginnings(said), _MOST_BEGINNINGS):
                yield " ".join(words)
                yield " ".join([posixpath.basename(words[0]), *words[1:]])


def _beginnings(words: list[str]) -> Iterator[list[str]]:
    """From where on words may be a command: after `sudo -u`, it is the next or the one behind."""
    if words:
        yield words
    wrapped = after_option = False
    for at, word in enumerate(words):
        if posixpath.basename(word) in _BEFORE:
            wrapped, after_option = True, False
        elif wrapped and word.startswith("-"):
            after_option = True
        elif not (word in _KEYWORDS or _ASSIGNMENT.match(word) or (wrapped and word[0].isdigit())):
            yield words[at:]
            if not after_option:
                return
            after_option = False


def _is_like(text: str, pattern: str) -> bool:
    """A glob. One with stars alone needs no regular expression, of which thousands cost seconds."""
    if "?" in pattern or "[" in pattern:
        return fnmatchcase(text, pattern)
    first, *more = pattern.split("*")
    if not more:
        return text == first
    last, at = more.pop(), len(first)
    if not (text.startswith(first) and text.endswith(last) and len(text) >= at + len(last)):
        return False
    end = len(text) - len(last)
    for part in more:
        if (found := text.find(part, at, end)) < 0:
            return False
        at = found + len(part)
    return True


def _is_at(address: str, pattern: str) -> bool:
    """Whether an address is one of those that a pattern means."""
    scheme, apart, rest = pattern.partition("://")
    if not apart or "/" in scheme:
        return fnmatchcase(address, pattern)
    host, slash, path = rest.partition("/")
    with suppress(UnicodeError):
        host = host.encode("idna").decode()
    host = host.lower().removesuffix(f":{_PORTS.get(scheme.lower())}").rstrip(".")
    real = urlsplit(address)
    return (
        fnmatchcase(real.scheme, scheme.lower())
        and fnmatchcase(real.netloc, host)
        and fnmatchcase(address.partition("://")[2].removeprefix(real.netloc), slash + path or "*")
    )


def argument(name: str) -> Subject:
    """What a call is about, if one argument says it."""
    return lambda arguments: str(arguments[name])


def address(arguments: Mapping[str, Any]) -> str:
    """The address that a call is about, in the one way to write it."""
    parts = urlsplit(str(arguments["url"]))
    host = (parts.hostname or "").encode("idna").decode().lower().rstrip(".")
    if not host or parts.scheme not in _PORTS or parts.username is not None:
        raise ValueError("not an address that can be fetched")
    host = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, _PORTS[parts.scheme]) else f":{parts.port}"
    start = f"{parts.scheme}://{host}{port}/"
    path = _PLAIN.sub(lambda found: chr(int(found[1], 16)), parts.path)
    where = urljoin(start, "/" + path.lstrip("/"))
    return f"{where}?{parts.query}" if parts.query else where


def command(arguments: Mapping[str, Any]) -> str:
    """The command line that a call is about, with where it begins."""
    line, workdir = str(arguments["command"]), str(arguments.get("workdir") or "")
    return f"cd {shlex.quote(workdir)} && {line}" if workdir else line


def path(arguments: Mapping[str, Any]) -> str:
    """The path that a call is about, by its shortest spelling."""
    return posixpath.normpath(str(arguments.get("path", ".")))


def called(tool: str, arguments: Mapping[str, Any]) -> str:
    """What rules call a tool that is called so."""
    in_background = tool == "shell" and arguments.get("background", False) is not False
    return BACKGROUND if in_background else tool


SUBJECTS: Mapping[str, Subject] = MappingProxyType(
    {"shell": command, TYPED: argument("text"), "fetch": address}
    | dict.fromkeys(("read_file", "write_file", "edit_file", "list_files", "search_files"), path)
)
