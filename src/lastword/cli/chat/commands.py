"""What can be typed that is not said to the agent: a slash and a word.

What does the same wherever a person talks is in `surfaces/commands`; here is what only a terminal
needs.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from textwrap import fill
from typing import Protocol, TypeAlias

from lastword.cli.chat.words import short
from lastword.core.model import Policy
from lastword.errors import LastwordError
from lastword.runtime.runtime import Runtime
from lastword.surfaces import commands

_COMMAND = re.compile(r"/[a-z]+( .*)?", re.DOTALL)
_OWN_HELP = """\
Esc             stop; so do Ctrl-C, /stop, and plain words: stop, cancel, enough
Ctrl-C twice    leave, if nothing is going; so do Ctrl-D and /quit
/undo TEXT      while an answer is being made: say this instead, and leave
                the answer out of the conversation
/sessions       the sessions there are; /session ID goes to one, or begins it"""
_UNDER = " " * 16  # below what a command does
_LAST_HELP = "A \\ at the end of a line goes on in the next. A space before a / says it."


class TerminalTalk(commands.CommandHost, Protocol):
    """What a command may do at a terminal."""

    runtime: Runtime
    rollback: bool  # the next line leaves out the answer that is being made

    def say(self, text: str) -> None: ...
    def leave(self) -> None: ...
    async def go_to(self, session: str) -> None: ...
    async def send(self, text: str, mode: Policy) -> None: ...


Command: TypeAlias = Callable[[TerminalTalk, str], Awaitable[None]]


def is_command(line: str) -> bool:
    """Whether a line is meant for us; a path that begins with a slash is not."""
    return _COMMAND.fullmatch(line.rstrip()) is not None


async def do(talk: TerminalTalk, line: str) -> None:
    """Do what was typed, and say what came of it, or why it cannot be done."""
    word, _, rest = line.strip().partition(" ")
    name = word.removeprefix("/")
    if name in commands.COMMANDS:
        if words := (await commands.do(talk, name, rest)).words:
            talk.say(words)
    elif own := _OWN.get(name):
        try:
            await own(talk, rest.strip())
        except (LastwordError, ValueError) as error:
            talk.say(short(str(error), 500))
    else:
        talk.say(
            f"There is no {word}; /help lists what there is. With a space before it, it is said."
        )


def help_text() -> str:
    """All that can be typed."""
    lines = [_OWN_HELP]
    for name, command in commands.COMMANDS.items():
        lines.append(f"{f'/{name}':16}{command.about}")
        if command.usage:
            lines.append(fill(command.usage, 80, initial_indent=_UNDER, subsequent_indent=_UNDER))
    return "\n".join([*lines, _LAST_HELP])


async def _help(talk: TerminalTalk, _: str) -> None:
    talk.say(help_text())


async def _quit(talk: TerminalTalk, _: str) -> None:
    talk.leave()


async def _undo(talk: TerminalTalk, text: str) -> None:
    if talk.session.active is None:
        talk.say(
            "Nothing is going. /undo replaces an answer while it is being made; "
            "one that is complete stays in the conversation."
        )
    elif text:
        await talk.send(text, "rollback")
    else:
        talk.rollback = True
        talk.say(
            "Your next line replaces the answer being made, and the model will not be shown it. "
            "It goes on until then; Esc stops it, and leaves it in the conversation."
        )


async def _sessions(talk: TerminalTalk, _: str) -> None:
    names = dict.fromkeys((*await talk.runtime.sessions(), talk.session.id))
    talk.say("\n".join(f"{'*' if n == talk.session.id else ' '} {short(n, 70)}" for n in names))


async def _session(talk: TerminalTalk, name: str) -> None:
    if not name:
        raise ValueError("/session takes the name of one; /sessions lists them")
    await talk.go_to(name)


_OWN: dict[str, Command] = {
    "help": _help,
    "quit": _quit,
    "undo": _undo,
    "sessions": _sessions,
    "session": _session,
}
