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
from lastword.cli.chat.picking import Choosable
from lastword.cli.chat.words import short
from lastword.core.model import Policy
from lastword.errors import LastwordError
from lastword.runtime.runtime import Runtime
from lastword.surfaces import commands

_COMMAND = re.compile(r"/[a-z]+( .*)?", re.DOTALL)
_OWN_HELP = """\
Esc             stop; so do Ctrl-C, /stop, and plain words: stop, cancel, enough
Ctrl-C twice    leave, if nothing is going; so do Ctrl-D and /quit
Ctrl-Y, Ctrl-N  allow, or refuse, what is asked
!COMMAND        run a command yourself: a stop ends it, like all else
@FILE           names a file; Tab completes it, and what is behind a slash
Ctrl-G          write the message in your editor ($VISUAL or $EDITOR)
/instead TEXT   while an answer is being made: say this instead, and leave
                the answer out of the conversation
/sessions       pick from the sessions there are, the newest first; /session
                goes to one by its number or name, or begins it; /new begins one
/model          which model answers here; /model NAME has another answer"""
_UNDER = " " * 16  # below what a command does
_LAST_HELP = "A \\ at the end of a line goes on in the next. A space before a / says it."


class PickingAids(Protocol):
    """What has one of several picked."""

    def pick(self, rows: list[Choosable]) -> None: ...


class TerminalTalk(commands.CommandHost, Protocol):
    """What a command may do at a terminal."""

    runtime: Runtime
    rollback: bool  # the next line leaves out the answer that is being made

    def say(self, text: str) -> None: ...
    def leave(self) -> None: ...
    async def use(self, model: str) -> None: ...
    @property
    def model(self) -> str: ...
    async def go_to(self, session: str) -> None: ...
    @property
    def aids(self) -> PickingAids: ...
    async def send(self, text: str, mode: Policy) -> None: ...


Command: TypeAlias = Callable[[TerminalTalk, str], Awaitable[None]]


def is_command(line: str) -> bool:
    """Whether a line is meant for us; a path that begins with a slash is not."""
    return _COMMAND.fullmatch(line.rstrip()) is not None and _word(line) not in commands.SAID


def names() -> list[str]:
    """All words that can be behind the slash."""
    return [*_OWN, *commands.COMMANDS, *commands.SAID]


def _word(line: str) -> str:
    return line.strip().partition(" ")[0].removeprefix("/")


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
    lines += [f"{f'/{name}':16}{about}" for name, about in commands.SAID.items()]
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
    if found := await listing(talk.runtime, talk.session.id, words):
        talk.aids.pick(found)
    else:
        talk.say("No title has these words.")


async def _session(talk: TerminalTalk, name: str) -> None:
    if not name:
        raise ValueError("/session takes a number or a name; /sessions lists them")
    await talk.go_to(await chosen(talk.runtime, name))


async def _new(talk: TerminalTalk, name: str) -> None:
    there = name or f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}"
    if await talk.runtime.overview(there):
        raise ValueError(f"there is a session {there} already; /session goes to it")
    await talk.go_to(there)


async def _model(talk: TerminalTalk, name: str) -> None:
    if name:
        await talk.use(name)
        talk.say(f"{short(name, 70)} answers from here on. What was always allowed is asked again.")
        return
    which = talk.model or "The agent does not say which model answers."
    talk.say(f"{short(which, 70)}. /model NAME has another answer from then on.")


_OWN: dict[str, Command] = {
    "help": _help,
    "quit": _quit,
    "instead": _instead,
    "sessions": _sessions,
    "session": _session,
    "new": _new,
    "model": _model,
}
