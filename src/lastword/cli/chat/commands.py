"""What can be typed that is not said to the agent: a slash and a word.

What does the same wherever a person talks is in `surfaces/commands`; here is what only a terminal
needs.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import datetime
from textwrap import fill
from typing import Protocol, TypeAlias

from lastword.cli.chat.choosing import chosen, listing
from lastword.cli.chat.words import short
from lastword.core.model import Policy
from lastword.errors import LastwordError
from lastword.runtime.runtime import Runtime
from lastword.surfaces import commands

_COMMAND = re.compile(r"/[a-z]+( .*)?", re.DOTALL)
_OWN_HELP = """\
Esc             stop; so do Ctrl-C, /stop, and plain words: stop, cancel, enough
Ctrl-C twice    leave, if nothing is going; so do Ctrl-D and /quit
/instead TEXT   while an answer is being made: say this instead, and leave
                the answer out of the conversation
/sessions       the sessions there are, the newest first; /session goes to one
                by its number or its name, or begins it; /new begins one
/model          which model answers here"""
_UNDER = " " * 16  # below what a command does
_LAST_HELP = "A \\ at the end of a line goes on in the next. A space before a / says it."


class TerminalTalk(commands.CommandHost, Protocol):
    """What a command may do at a terminal."""

    runtime: Runtime
    rollback: bool  # the next line leaves out the answer that is being made

    def say(self, text: str) -> None: ...
    def leave(self) -> None: ...
    @property
    def model(self) -> str: ...
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


async def _instead(talk: TerminalTalk, text: str) -> None:
    if talk.session.active is None:
        talk.say(
            "Nothing is going. /instead replaces an answer while it is being made; "
            "one that is complete stays in the conversation, and /again asks it anew."
        )
    elif text:
        await talk.send(text, "rollback")
    else:
        talk.rollback = True
        talk.say(
            "Your next line replaces the answer being made, and the model will not be shown it. "
            "It goes on until then; Esc stops it, and leaves it in the conversation."
        )


async def _sessions(talk: TerminalTalk, words: str) -> None:
    talk.say("\n".join(await listing(talk.runtime, talk.session.id, words)))


async def _session(talk: TerminalTalk, name: str) -> None:
    if not name:
        raise ValueError("/session takes a number or a name; /sessions lists them")
    await talk.go_to(await chosen(talk.runtime, name))


async def _new(talk: TerminalTalk, name: str) -> None:
    there = name or f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}"
    if await talk.runtime.overview(there):
        raise ValueError(f"there is a session {there} already; /session goes to it")
    await talk.go_to(there)


async def _model(talk: TerminalTalk, _: str) -> None:
    which = talk.model or "The agent does not say which model answers."
    talk.say(f"{short(which, 70)}. `lastword chat --model NAME` begins with another.")


_OWN: dict[str, Command] = {
    "help": _help,
    "quit": _quit,
    "instead": _instead,
    "sessions": _sessions,
    "session": _session,
    "new": _new,
    "model": _model,
}
